"""Waits at the edge of what they look at: before a command begins, without any time, between two kinds of looks."""

from __future__ import annotations

import pytest

from muxwire import Tab
from muxwire.library.terminals import Terminals
from muxwire.tabs.searches import SLICE
from tests.deadline import DEADLINE
from tests.library.opened import closed, known_prompt
from tests.processes import stopped


async def test_the_echo_of_keys_that_came_before_their_command_began_is_no_answer(
    terminals: Terminals, tab: Tab
) -> None:
    await known_prompt(tab)
    with stopped(tab.pane.session.shell_pid):
        running = await tab.execute("echo begun; read -r go", async_=True)
        sent = await tab.send_keys(["up", "Enter"])
        assert running.command_id is not None
        tab.pane.stream.feed(b"\x1b]7770;T;%s\x07echo begun; read -r go\r\nup\r\n" % running.command_id.encode())
        for text in ("up", "begun"):
            nothing = await terminals.wait_for([tab.window_id], until=text, from_byte=sent.next_byte, timeout=0.0)
            assert nothing.outcome == "timed_out", nothing
    met = await terminals.wait_for([tab.window_id], until="begun", from_byte=sent.next_byte, timeout=DEADLINE)
    assert met.outcome == "met"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash", "busybox", "ksh"])
async def test_what_begins_with_a_line_end_is_found_in_the_first_line(
    terminals: Terminals, tab: Tab, shell: str
) -> None:
    """The line end is that of the line that was typed; alone it is no answer."""
    await known_prompt(tab) if shell != "fish" else await tab.execute("true")
    await tab.send_keys(["echo needle; cat", "Enter"])
    assert (await terminals.wait_for([tab.key], until="\nneedle", timeout=DEADLINE)).match == "\nneedle"
    await tab.send_keys(["thread", "Enter"])  # to a program that reads lines: the echo, and the line again
    assert (await terminals.wait_for([tab.key], until="\nthread", timeout=DEADLINE)).match == "\nthread"
    sent = await tab.send_keys(["C-c"])
    await terminals.wait_for([tab.key], prompt=True, from_byte=sent.next_byte, timeout=DEADLINE)
    await tab.execute("cat >/dev/null", async_=True)
    await tab.send_keys(["quiet", "Enter"])
    assert (await terminals.wait_for([tab.key], until="\n", timeout=0.5)).outcome == "timed_out"


async def test_no_time_at_all_is_enough_to_look_once(terminals: Terminals) -> None:
    tab = await terminals.create_tab(command=["sh", "-c", f"echo needle; seq {SLICE}; exit 3"])
    await closed(tab)
    gone = await terminals.wait_for([tab.window_id], exit=True, timeout=0)
    assert (gone.outcome, gone.match) == ("met", "exit 3")
    assert (await terminals.wait_for([tab.window_id], until=f"{SLICE}\n", from_byte=0, timeout=0)).outcome == "met"
    assert (await terminals.wait_for([tab.window_id], until="thread", from_byte=0, timeout=0)).outcome == "closed"


async def test_the_tail_holds_the_match_and_what_is_around_it(terminals: Terminals, tab: Tab) -> None:
    await tab.execute("echo before; echo NEEDLE; echo after; seq 5000", timeout=DEADLINE)
    met = await terminals.wait_for([tab.window_id], until="NEEDLE", timeout=DEADLINE)
    assert "before\nNEEDLE\nafter\n1\n2\n" in met.tail
    assert len(met.tail) <= 600
