"""The REPL on an instance with a name: it finds what was there, stands beside an owner, and leaves all as it is."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

import muxwire
from tests.forked import run_muxwire

Script = Callable[..., subprocess.CompletedProcess[str]]

NAME = ("--name", "dbg")
DEADLINE_S = 50


@pytest.fixture(autouse=True)
def _end_server(home: Path) -> Iterator[None]:
    yield
    socket = home / "run" / "muxwire" / "dbg.sock"
    subprocess.run(["tmux", "-N", "-S", socket, "kill-server"], capture_output=True, check=False)


def test_what_one_leaves_the_next_finds(script: Script, environ: dict[str, str], home: Path) -> None:
    absent = script(arguments=NAME)
    assert (absent.returncode, "there is no instance dbg" in absent.stderr) == (1, True)
    assert run_muxwire(["new", *NAME], environ, DEADLINE_S, cwd=home).returncode == 0
    first = script(":tab kept", ":exec -t kept X=here", arguments=NAME)
    assert re.search(r"^instance dbg \(owner\), tmux ", first.stdout, re.MULTILINE)
    second = script(":panes", ":exec -t kept echo $X", ":log -t kept 3", arguments=NAME)
    assert re.search(r"^%2 .* kept +prompt +\d+$", second.stdout, re.MULTILINE)
    assert "\nhere\n-- exit code 0" in second.stdout
    assert (first.returncode, second.returncode) == (0, 0)


@pytest.mark.anyio
async def test_a_follower_stands_beside_the_owner(script: Script, environ: dict[str, str], home: Path) -> None:
    with anyio.fail_after(DEADLINE_S):
        async with muxwire.open_terminals("dbg", state_dir=home / "state", environ=environ) as terminals:
            tab = await terminals.create_tab(name="shared")

            def beside() -> subprocess.CompletedProcess[str]:
                return script(":exec -t shared X=from-the-follower", ":snap -t shared", "list-clients", arguments=NAME)

            done = await anyio.to_thread.run_sync(beside)
            assert re.search(r"^instance dbg \(follower\), tmux ", done.stdout, re.MULTILINE)
            assert done.stdout.count("control-mode") == 2
            assert (await tab.execute("echo $X")).output == "from-the-follower\n"
            assert terminals.role == "owner"
    assert done.returncode == 0
