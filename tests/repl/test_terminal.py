"""The REPL as a person has it: in a pane of a real tmux, driven by keys, read from the screen."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

import muxwire

SECONDS = 40


class Person:
    """Types into the REPL and looks at the screen, where long lines are wrapped."""

    def __init__(self, tab: muxwire.Tab) -> None:
        self.tab = tab

    async def type(self, *keys: str, paste: bool = False) -> None:
        await self.tab.send_keys(keys, paste=paste)

    async def screen(self) -> str:
        return "\n".join((await self.tab.snapshot(unwrap=True)).lines)

    async def sees(self, pattern: str) -> str:
        """Return the screen as soon as it matches."""
        shown = ""
        try:
            with anyio.fail_after(SECONDS):
                while True:
                    before = self.tab.next_byte
                    shown = await self.screen()
                    if re.search(pattern, shown, re.MULTILINE):
                        return shown
                    while self.tab.next_byte == before:
                        await self.tab.pane.stream.changed()
        except TimeoutError:
            raise AssertionError(f"{pattern!r} is not on the screen:\n{shown}") from None


@pytest.fixture
async def person(environ: dict[str, str], home: Path) -> AsyncIterator[Person]:
    async with muxwire.open_terminals(state_dir=home / "state", environ=environ) as terminals:
        argv = [sys.executable, "-m", "muxwire", "repl", "--ephemeral"]
        tab = await terminals.create_tab(command=argv, size=(200, 40), cwd=home, env={"NO_COLOR": "1"})
        person = Person(tab)
        await person.sees(r"^tmux>\s*$")
        yield person


async def test_an_answer_and_what_happens_meanwhile(person: Person) -> None:
    await person.type("display-message -p 'an answer'", "Enter")
    await person.sees(r"^tmux> display-message -p 'an answer'\nan answer\n-- block \d+, flags 1, %end\ntmux>$")
    await person.type("new-window -d 'sleep 0.2; echo late; exec sleep 1000'", "Enter")
    await person.sees(r"^\+.*%window-add @1$")
    await person.type("half a li")
    await person.sees(r"%output %1 .*late.*(\n.*)*\ntmux> half a li$")  # above the line that is being typed


async def test_keys_do_what_people_expect(person: Person) -> None:
    await person.type("never sent", "C-c")
    await person.sees(r"^tmux> never sent\ntmux>$")
    await person.type("display-message -p sent", "Enter")
    await person.sees(r"^sent\n-- block")
    await person.type("Up")
    await person.sees(r"^tmux> display-message -p sent$")
    await person.type("C-c", "C-d")
    with anyio.fail_after(SECONDS):
        while not person.tab.pane.session.dead:
            await person.tab.pane.stream.changed()
    assert person.tab.pane.session.exit_status == 0


async def test_a_paste_of_lines_runs_line_by_line(person: Person) -> None:
    await person.type("display-message -p one\n:filter -output\ndisplay-message -p two", paste=True)
    await person.sees(r"^tmux> display-message -p one\n  \.\.\. :filter -output\n")
    assert "-- block" not in re.sub(r"-- block \d+, flags 0.*", "", await person.screen()), "nothing ran before Enter"
    await person.type("Enter")
    await person.sees(r"^one\n-- block (.*\n)shown: everything; hidden: block output\ntwo\n-- block .*\ntmux>$")


@pytest.fixture
async def named(environ: dict[str, str], home: Path) -> AsyncIterator[Person]:
    """Somebody whose REPL is at an instance with a name."""
    async with muxwire.open_terminals(state_dir=home / "state", environ=environ) as terminals:
        argv = [sys.executable, "-m", "muxwire"]
        made = await terminals.create_tab(command=[*argv, "new", "--name", "dbg"], cwd=home)
        await made.wait_for(exit=True, timeout=SECONDS)
        tab = await terminals.create_tab(command=[*argv, "repl", "--name", "dbg"], size=(200, 40), cwd=home)
        person = Person(tab)
        await person.sees(r"^tmux>\s*$")
        yield person


async def test_the_end_of_a_named_instance_is_asked_for(named: Person) -> None:
    await named.type("display-message -p x ; kill-ser", "Enter")
    await named.sees(r"^end the server at \S+/dbg.sock, and every tab in it\? \[y/N\]$")
    await named.type("n", "Enter")
    await named.sees(r"^nothing was sent\ntmux>$")
    await named.type("kill-server", "Enter")
    await named.sees(r"^tmux> kill-server\nend the server at \S+/dbg.sock, and every tab in it\? \[y/N\]$")
    await named.type("y", "Enter")
    await named.sees(r"%lost|%exit")
    await named.type("C-d")


async def test_what_the_owner_of_a_named_instance_says_and_that_it_has_ended(
    named: Person, environ: dict[str, str]
) -> None:
    await named.type(":filter all", "Enter")
    async with muxwire.open_terminals("dbg", environ=environ) as terminals:
        await (await terminals.tab()).execute("echo said")
        await named.sees(r"%output %1 .*said")
        await named.sees(r"^-- block \d+, flags 1, %end, set-buffer ")
    await named.type("display-message -p '#{client_pid}' ; display-message -p after", "Enter")
    pid = re.search(r"^(\d+)\n-- block (.*\n)+after$", await named.sees(r"^after\n-- block"), re.MULTILINE)
    assert pid is not None
    owner = int(Path(f"/proc/{pid[1]}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(owner, signal.SIGKILL)
    await named.sees(
        r"^! the tmux connection ended: the process .* has ended\n  the next command goes over a new connection$"
    )
    await named.type("display-message -p again", "Enter")
    await named.sees(r"^instance dbg, tmux (.*\n)+again\n-- block")
