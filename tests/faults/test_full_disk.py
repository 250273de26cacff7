"""The machine under us: a disk that is full for a while, a kill in the middle of a write, logs that are removed."""

from __future__ import annotations

import logging
import resource
import shutil

import pytest

import muxwire
from muxwire.logs.read import read_raw
from tests.library.opened import drawn
from tests.processes import limited

DEADLINE = 50


async def test_on_a_full_disk_logs_stop_and_execution_goes_on(
    alone: muxwire.Terminals, caplog: pytest.LogCaptureFixture
) -> None:
    size = 100_000
    tab, other = await alone.create_tab(shell="bash"), await alone.create_tab(shell="bash")
    with caplog.at_level(logging.WARNING, "muxwire"):
        with limited(resource.RLIMIT_FSIZE, size):  # as a full disk, for us alone
            expected = "".join(f"{number}\n" for number in range(1, 100_001))
            # The results come from memory; the second is larger than the file may grow, and the third is after it.
            for command, output in (("seq 1 10", None), ("seq 1 100000", expected), ("echo on", "on\n")):
                result = await tab.execute(command, timeout=DEADLINE)
                assert (result.exit_code, result.output) == (0, output or result.output)
            assert (await other.execute("echo $((6 * 7))")).output == "42\n"
            assert not await tab.pane.stream.log.flushed()
            assert tab.log_path.stat().st_size == size
            assert (await other.execute("cd /tmp; pwd")).output == "/tmp\n"
        assert await tab.pane.stream.log.flushed()
    said = [record.getMessage() for record in caplog.records if "cannot write the log" in record.getMessage()]
    assert len(said) == 1
    assert str(tab.log_path) in said[0]
    assert expected.replace("\n", "\r\n").encode() in read_raw(tab.log_path, 0, tab.next_byte)
    assert not tab.log_path.with_suffix(".gaps").exists()


@pytest.mark.parametrize("how", ["removed", "renamed"])
async def test_logs_that_were_removed_go_on_and_say_so(alone: muxwire.Terminals, how: str) -> None:
    tab = await alone.create_tab()
    await tab.execute("echo before")
    await drawn(tab)  # what is written after the removal is not lost
    assert await tab.pane.stream.log.flushed()
    begins = tab.next_byte
    if how == "removed":
        shutil.rmtree(alone.folders.state)
    else:
        tab.log_path.rename(tab.log_path.with_suffix(".old"))
    for after in ("", "echo after"):
        if after:
            await tab.execute(after)
        for strip in (False, True):
            tail = await alone.read_logs(tab.window_id, strip_ansi=strip)
            chunk = await alone.stream_logs(tab.window_id, strip_ansi=strip)
            assert f"removed while it was written: what came before byte {begins} is not in it" in tail.note
            assert f"before byte {begins} is not in it" in chunk.note
            assert (chunk.dropped, tail.first_byte) == (begins, begins)
            assert ("after\n" in tail.content) == bool(after)
            assert "before\n" not in tail.content
    other = await alone.create_tab()
    await other.execute("echo other")
    told = await alone.read_logs(other.window_id, grep="^other")
    assert (told.content, told.note) == ("other\n", "")
