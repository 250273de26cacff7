"""A process that may open few files, or no more: room is made, and the truth is said."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from pathlib import Path

import pytest

from muxwire.library.opening import own_terminals
from muxwire.mcp.registry import explained
from muxwire.mcp.tools import TOOLS
from tests.processes import limited

# What `ulimit -n 64` leaves beside a program's own files.
FEW = 48


def in_use() -> int:
    return len(list(Path("/dev/fd").iterdir()))


# Our own limit is tmux's too, which needs two descriptors for a tab that outlives us: its terminal and its pipe.
@pytest.mark.parametrize(("name", "many"), [(None, 30), ("few", 20)])
async def test_more_tabs_than_descriptors(environ: dict[str, str], name: str | None, many: int) -> None:
    bash = shutil.which("bash")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(number for one in Path("/dev/fd").iterdir() if (number := int(one.name)) < soft // 2)
    with limited(resource.RLIMIT_NOFILE, highest + FEW):
        async with own_terminals(name, environ=environ) as terminals:
            tabs = []
            for number in range(many):
                tabs.append(await terminals.create_tab(shell=bash))
                assert (await tabs[-1].execute(f"echo {number}")).output == f"{number}\n"
            for number, tab in enumerate(tabs):
                assert (await tab.execute(f"echo again {number}")).output == f"again {number}\n"
            for number, tab in enumerate(tabs):
                assert await tab.pane.stream.log.flushed()
                assert f"again {number}" in tab.log_path.read_text(errors="replace")
                await tab.close(force=True)


async def test_no_descriptor_is_kept_behind_an_instance(environ: dict[str, str]) -> None:
    async with own_terminals(environ=environ):
        pass
    before = in_use()
    async with own_terminals(environ=environ) as terminals:
        tab = await terminals.create_tab(shell=shutil.which("bash"))
        await tab.execute("true")
    assert in_use() <= before  # what an earlier test left may have been closed since


@pytest.mark.parametrize(("error", "cause", "remedy"), [
    (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/run/x"), "/run/x: No space left on device", "df -i"),
    (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "Too many open files", "ulimit -n"),
    (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), "/run/x"), "quota", "remove files"),
    (MemoryError(), "out of memory", "ulimit -v"),
    (RuntimeError("can't start new thread"), "can't start new thread", "ulimit -u"),
])  # fmt: skip
def test_what_has_run_out_is_no_defect(error: Exception, cause: str, remedy: str) -> None:
    text = explained(TOOLS[0], ExceptionGroup("", [error])).text
    assert "defect" not in text
    assert cause in text
    assert remedy in text
