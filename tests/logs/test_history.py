"""The journal of commands: what is in it and what is not, and that nothing that goes wrong with it fails a command."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest.mock import Mock

import anyio
import anyio.to_thread
import pytest

import muxwire
from muxwire.library.opening import own_terminals
from muxwire.logs import history
from muxwire.logs.history import HISTORY_FILE, History, JournalEntry, read_history
from muxwire.logs.limits import LogLimits, keep_within
from tests.deadline import DEADLINE
from tests.processes import appeared


async def test_what_a_journal_says(tmp_path: Path, environ: dict[str, str]) -> None:
    async with muxwire.open_terminals(state_dir=tmp_path / "said", environ=environ) as terminals:
        tab = await terminals.create_tab(name="build")
        other = await terminals.create_tab()
        await tab.execute("cd /")
        done = await tab.execute("echo shown; (exit 3)")
        await other.execute("true")
        since = terminals.events.end
        await tab.send_keys(["echo 'by k''eys'", "Enter"])
        await terminals.watch_events([tab.key], kinds=["command_finished"], since=since, timeout=DEADLINE)
        everything = await terminals.history()
        assert [command.by for command in everything] == ["execute", "execute", "execute", "keys"]
        _, mine, keys = of_tab = await terminals.history(["build"])
        assert {(one.window_id, one.generation, one.name) for one in of_tab} == {(tab.key, 1, "build")}
        assert (mine.command_id, mine.command) == (done.command_id, "echo shown; (exit 3)")
        assert (mine.cwd, mine.exit_code, mine.from_byte, mine.next_byte) == ("/", 3, done.from_byte, done.next_byte)
        assert mine.duration_ms == pytest.approx(done.duration_ms, abs=0.1)
        assert everything[0].time <= mine.time <= keys.time
        assert (keys.command, keys.exit_code, keys.cwd) == ("", 0, "/")
        assert (await terminals.stream_logs(tab.key, from_byte=keys.from_byte)).chunk.startswith("by keys\r\n")
        assert await terminals.history(limit=1) == everything[-1:]
        with pytest.raises(muxwire.NoSuchTarget):
            await terminals.history(["nosuch"])
        path = terminals.folders.state / terminals.folders.instance / HISTORY_FILE
    text = path.read_text()  # what the instance's end finds is written too
    assert len([json.loads(line) for line in text.splitlines()]) == len(everything)
    assert "shown\n" not in text
    assert "by k" not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_command_that_was_left_running_has_its_true_end(tmp_path: Path, environ: dict[str, str]) -> None:
    """Not the time at which it was left, nor that at which a later process came to know."""
    gate, left = tmp_path / "gate", tmp_path / "left"
    command = f"until [ -e {gate} ]; do sleep 0.02; done; touch {left}; (exit 5)"
    async with own_terminals("left", state_dir=tmp_path / "runs", environ=environ) as terminals:
        tab = await terminals.create_tab(shell="bash")
        begun = await tab.execute(command, timeout=0.5, on_timeout="leave")
        assert begun.running
        assert await terminals.history() == ()
    async with own_terminals("left", state_dir=tmp_path / "runs", environ=environ) as terminals:
        assert await terminals.history() == ()
    gate.touch()
    await appeared(left)
    await anyio.to_thread.run_sync(
        _spooled, tmp_path / "runs", re.compile(rb"\x1b\]7770;[EQ];")
    )  # its end mark: nobody is there to read it
    before = time.time()
    async with own_terminals("left", state_dir=tmp_path / "runs", environ=environ) as terminals:
        [record] = await terminals.history()
        assert (record.command_id, record.exit_code) == (begun.command_id, 5)
        assert record.next_byte > record.from_byte - 1
        assert record.duration_ms is not None
        assert record.time + record.duration_ms / 1000 < before
        assert record.duration_ms >= 500
        await (await terminals.tab(tab.window_id)).close(force=True)


async def test_a_line_that_was_taken_while_no_process_was_there(tmp_path: Path, environ: dict[str, str]) -> None:
    """It is in the log, and no line of the history: when it began is not known."""
    state = tmp_path / "nobody"
    async with own_terminals("nobody", state_dir=state, environ=environ) as terminals:
        tab = await terminals.create_tab(shell="bash")
        await tab.execute("true")
    keys = ["tmux", "-S", str(terminals.folders.socket_path), "send-keys", "-t", tab.pane_id, "(exit 6)", "Enter"]
    await anyio.to_thread.run_sync(lambda: subprocess.run(keys, check=True))
    await anyio.to_thread.run_sync(_spooled, state, re.compile(rb"exit 6.*\x1b\]7770;P;", re.DOTALL))
    async with own_terminals("nobody", state_dir=state, environ=environ) as terminals:
        assert terminals.events.end == 1  # the tab: what happened before is no event
        (line,) = await terminals.history()
        assert line.command == "true"
        assert "(exit 6)" in (await terminals.stream_logs(tab.key, from_byte=0, strip_ansi=True)).chunk
        await (await terminals.tab(tab.key)).close(force=True)


def _spooled(state: Path, text: re.Pattern[bytes]) -> None:
    """Return when a spool holds that."""
    while not any(
        text.search(path.read_bytes()) for path in state.rglob("*") if path.is_file() and path.suffix != ".log"
    ):
        time.sleep(0.01)


async def test_no_journal_for_who_wants_none(tmp_path: Path, environ: dict[str, str]) -> None:
    environ = environ | {"MUXWIRE_HISTORY": "off"}
    async with muxwire.open_terminals(state_dir=tmp_path / "off", environ=environ) as terminals:
        tab = await terminals.create_tab()
        await tab.execute("true")
        assert await terminals.history() == ()
    assert not list((tmp_path / "off").rglob("history*"))


def journal(home: Path) -> tuple[History, list[Callable[[], Awaitable[object]]]]:
    started: list[Callable[[], Awaitable[object]]] = []
    return History(home, started.append), started


def note(journal: History, command: str, window: str = "@1") -> None:
    journal.note(JournalEntry(1.0, 2.0, window, 1, "n", "execute", "/", 0, 0, 1, command, command.encode()))


async def test_a_batch_is_one_task_and_one_write(tmp_path: Path) -> None:
    written, started = journal(tmp_path)
    note(written, "a")
    note(written, "b")
    assert len(started) == 1
    assert not list(tmp_path.iterdir())  # nobody waits for it
    await started[0]()
    assert [one.command for one in read_history(tmp_path, (), 9)] == ["a", "b"]
    note(written, "c", "@2")
    assert len(started) == 2
    await written.flush()
    assert [one.command for one in read_history(tmp_path, [(1, "@1")], 9)] == ["a", "b"]
    assert [one.command for one in read_history(tmp_path, (), 2)] == ["b", "c"]


async def test_a_full_disk_costs_lines_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, _ = journal(tmp_path)
    note(written, "a")
    await written.flush()
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(
            "muxwire.logs.segments.os.write", lambda descriptor, data: write(descriptor, data[: len(data) // 2])
        )
        note(written, "torn")
        await written.flush()
        patch.setattr("muxwire.logs.segments.os.write", Mock(side_effect=OSError(28, "No space left on device")))
        note(written, "lost")
        await written.flush()
    note(written, "b")
    await written.flush()
    assert [one.command for one in read_history(tmp_path, (), 9)] == ["a", "b"]


async def test_a_journal_is_rotated_and_kept_as_logs_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "FILE_BYTES", 500)
    written, _ = journal(tmp_path)
    for number in range(20):
        note(written, f"{number}")
        await written.flush()
    assert len(list(tmp_path.iterdir())) > 3
    assert [one.command for one in read_history(tmp_path, (), 99)] == [f"{number}" for number in range(20)]
    keep_within(tmp_path, LogLimits(instance_bytes=1), ())
    assert read_history(tmp_path, (), 99) == []
    note(written, "after")
    await written.flush()
    assert [one.command for one in read_history(tmp_path, (), 99)] == ["after"]


async def test_lines_that_wait_for_a_disk_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "WAITING_MAX", 3)
    written, _ = journal(tmp_path)
    for number in range(9):
        note(written, f"{number}")
    await written.flush()
    assert len(read_history(tmp_path, (), 99)) == 3
