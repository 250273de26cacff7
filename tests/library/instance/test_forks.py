"""Nothing forks for a command: counted by strace over our process, tmux and the shell."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.users import needs

COMMANDS = 50
DRIVER = f"""
import os, sys, anyio, muxwire

async def main(state):
    async with muxwire.open_terminals(state_dir=state) as terminals:
        tab = await terminals.create_tab(shell="bash")
        await tab.execute("true")
        os.access("/count-from-here", os.F_OK)
        for _ in range({COMMANDS}):
            assert (await tab.execute("true")).exit_code == 0
        os.access("/count-to-here", os.F_OK)
        await tab.execute("/bin/true")
        os.access("/count-no-more", os.F_OK)

anyio.run(main, sys.argv[1])
"""
CALLS = "trace=fork,vfork,clone,clone3,access,faccessat,faccessat2"
# A thread is a clone too, and no fork. To execute is none: on a busy machine, what was forked for the window that keeps
# the session comes to it only now.
FORK = re.compile(r"(?:fork|vfork|clone3?)\((?!.*CLONE_THREAD)")


def forks(trace: str, begin: str, end: str) -> list[str]:
    lines = trace.splitlines()
    first, last = (next(at for at, line in enumerate(lines) if mark in line) for mark in (begin, end))
    return [line for line in lines[first:last] if FORK.search(line)]


@pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux")
@pytest.mark.timeout(180)
async def test_fifty_commands_fork_nothing(folder: Path, environ: dict[str, str], tmp_path: Path) -> None:
    needs("strace")
    trace = tmp_path / "trace"
    argv = [
        *("strace", "-f", "-qq", "-o", str(trace), "-e", CALLS),
        *(sys.executable, "-c", DRIVER, str(folder / "state")),
    ]  # fmt: skip
    done = await anyio.run_process(argv, env=environ, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout.decode()
    text = trace.read_text(errors="replace")
    assert forks(text, "/count-from-here", "/count-to-here") == []
    # The counter sees a fork where there is one.
    assert forks(text, "/count-to-here", "/count-no-more")
