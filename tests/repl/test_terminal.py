"""The REPL as a person has it: in a pane of a real tmux, driven by keys, read from the screen."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire import Tab, Terminals

SECONDS = 40
MUXWIRE = (sys.executable, "-m", "muxwire")


async def sees(tab: Tab, pattern: str) -> str:
    """Return the screen as soon as it matches; long lines are wrapped there."""
    shown = ""
    with anyio.move_on_after(SECONDS):
        while True:
            before = tab.next_byte
            shown = "\n".join((await tab.snapshot(unwrap=True)).lines)
            if re.search(pattern, shown, re.MULTILINE):
                return shown
            while tab.next_byte == before:
                await tab.pane.stream.changed()
    raise AssertionError(f"{pattern!r} is not on the screen:\n{shown}")


@pytest.fixture
async def terminals(environ: dict[str, str], home: Path) -> AsyncIterator[Terminals]:
    async with muxwire.open_terminals(state_dir=home / "state", environ=environ) as terminals:
        yield terminals


async def started(terminals: Terminals, home: Path, *which: str) -> Tab:
    """A tab in which somebody types into the REPL."""
    tab = await terminals.create_tab(
        command=[*MUXWIRE, "repl", *which], size=(200, 40), cwd=home, env={"NO_COLOR": "1"}
    )
    await sees(tab, r"^tmux>\s*$")
    return tab


@pytest.fixture
async def person(terminals: Terminals, home: Path) -> Tab:
    return await started(terminals, home, "--ephemeral")


@pytest.fixture
async def named(terminals: Terminals, home: Path) -> Tab:
    """Somebody whose REPL is at an instance with a name."""
    made = await terminals.create_tab(command=[*MUXWIRE, "new", "--name", "dbg"], cwd=home)
    await made.wait_for(exit=True, timeout=SECONDS)
    return await started(terminals, home, "--name", "dbg")


async def test_an_answer_and_what_happens_meanwhile(person: Tab) -> None:
    await person.send_keys(["display-message -p 'an answer'", "Enter"])
    await sees(person, r"^tmux> display-message -p 'an answer'\nan answer\n-- block \d+, flags 1, %end\ntmux>$")
    await person.send_keys(["new-window -d 'sleep 0.2; echo late; exec sleep 1000'", "Enter"])
    await sees(person, r"^\+.*%window-add @1$")
    await person.send_keys(["half a li"])
    await sees(person, r"%output %1 .*late.*(\n.*)*\ntmux> half a li$")  # above the line that is being typed


async def test_keys_do_what_people_expect(terminals: Terminals, home: Path) -> None:
    tab = await terminals.create_tab(shell="bash", size=(200, 40), cwd=home, env={"NO_COLOR": "1"})
    await tab.start_process(shlex.join([*MUXWIRE, "repl", "--ephemeral"]), ready="tmux> ", ready_timeout=SECONDS)
    await tab.send_keys(["never sent", "C-c"])
    await sees(tab, r"^tmux> never sent\ntmux>$")
    await tab.send_keys(["display-message -p sent", "Enter"])
    await sees(tab, r"^sent\n-- block .*\ntmux>$")  # while tmux is asked, C-c ends the REPL
    await tab.send_keys(["Up"])
    await sees(tab, r"^sent\n-- block .*\ntmux> display-message -p sent$")
    await tab.send_keys(["C-c", "C-z"])
    await sees(tab, r"Stopped")
    await tab.send_keys(["fg", "Enter"])
    await sees(tab, r"Stopped.*\n.* fg\n.*repl --ephemeral\ntmux>$")
    await tab.send_keys(["C-d"], wait=SECONDS)
    assert (await tab.execute("echo $?")).output == "0\n"


async def test_a_paste_of_lines_runs_line_by_line(person: Tab) -> None:
    await person.send_keys(["display-message -p one\n:filter -output\ndisplay-message -p two"], paste=True)
    await sees(person, r"^tmux> display-message -p one\n  \.\.\. :filter -output\n")
    assert "-- block" not in re.sub(r"-- block \d+, flags 0.*", "", await sees(person, "")), "nothing ran before Enter"
    await person.send_keys(["Enter"])
    await sees(person, r"^one\n-- block (.*\n)shown: everything; hidden: block output\ntwo\n-- block .*\ntmux>$")


async def test_the_end_of_a_named_instance_is_asked_for(named: Tab) -> None:
    await named.send_keys(["display-message -p x ; kill-ser", "Enter"])
    await sees(named, r"^end the server at \S+/dbg.sock, and every tab in it\? \[y/N\]$")
    await named.send_keys(["n", "Enter"])
    await sees(named, r"^nothing was sent\ntmux>$")
    await named.send_keys(["kill-server", "Enter"])
    await sees(named, r"^tmux> kill-server\nend the server at \S+/dbg.sock, and every tab in it\? \[y/N\]$")
    await named.send_keys(["y", "Enter"])
    await sees(named, r"%lost|%exit")


async def test_what_the_owner_of_a_named_instance_says_and_that_it_has_ended(
    named: Tab, environ: dict[str, str]
) -> None:
    await named.send_keys([":filter all", "Enter"])
    async with muxwire.open_terminals("dbg", environ=environ) as terminals:
        await (await terminals.tab()).execute("echo said")
        await sees(named, r"%output %1 .*said")
        await sees(named, r"^-- block \d+, flags 1, %end, set-buffer ")
    await named.send_keys(["display-message -p '#{client_pid}' ; display-message -p after", "Enter"])
    pid = re.search(r"^(\d+)\n-- block (.*\n)+after$", await sees(named, r"^after\n-- block"), re.MULTILINE)
    assert pid is not None
    owner = int(Path(f"/proc/{pid[1]}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(owner, signal.SIGKILL)
    await sees(
        named, r"^! the tmux connection ended: the process .* has ended\n  the next command goes over a new connection$"
    )
    await named.send_keys(["display-message -p again", "Enter"])
    await sees(named, r"^instance dbg, tmux (.*\n)+again\n-- block")
