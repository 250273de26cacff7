"""Which commands are sent again after a lost connection, and what the others are told."""

from __future__ import annotations

from collections import deque

import pytest

from muxwire.client.client import Patience, Pending
from muxwire.errors import ConnectionClosed
from muxwire.far.resending import Resending
from muxwire.protocol.commands import Command, command, command_list


def sent(resending: Resending, *commands: Command) -> list[Pending]:
    return [Pending(one, Patience()) for one in resending.numbered(commands)]


def number(line: Command) -> bytes:
    """What tmux keeps once it has run a line: the process, and a number."""
    before, _, found = line.line.rpartition(b" ; set-option -s @muxwire-seq ")
    assert before
    return found


def again_of_a_window(lost: Command) -> Command | None:
    return command("list-panes", "-a") if lost.name == "new-window" else None


def test_what_was_run_is_not_sent_again() -> None:
    resending = Resending(again_of_a_window)
    texts = [command("set-buffer", "--", text) for text in ("one", "two", "three")]
    lines = sent(resending, texts[0], command("list-panes"), texts[1], texts[2])
    second = number(lines[2].command)
    assert resending.left(lines, [second]) == [lines[1], lines[3]]
    assert ([line.done for line in lines], lines[0].result()) == ([True, False, True, False], ())


def test_before_the_first_number_all_is_sent() -> None:
    resending = Resending(again_of_a_window)
    lines = sent(resending, command("kill-pane"))
    assert resending.left(lines, [b""]) == lines


def test_the_number_of_an_earlier_process_says_nothing() -> None:
    earlier = sent(Resending(again_of_a_window), *[command("kill-pane")] * 3)
    resending = Resending(again_of_a_window)
    lines = sent(resending, command("kill-pane"))
    assert resending.left(lines, [number(earlier[-1].command)]) == lines


def test_an_answer_that_was_lost_is_asked_for_or_known_to_be_lost() -> None:
    resending = Resending(again_of_a_window)
    window, session = sent(resending, command("new-window", "-P"), command("new-session", "-P"))
    assert resending.left([window, session], [number(session.command)]) == [window]
    assert window.command == command("list-panes", "-a")
    with pytest.raises(ConnectionClosed, match="new-session was done"):
        session.result()


def test_only_what_was_never_sent_can_be_withdrawn() -> None:
    resending = Resending(again_of_a_window)
    first, *rest = sent(resending, *[command("kill-pane")] * 3)
    pending = deque([first, *rest])
    resending.unsent.update(rest)
    assert not resending.withdraw([first, rest[0]], pending)
    assert resending.withdraw(rest, pending)
    assert list(pending) == [first]
    assert not resending.withdraw([], pending)


def test_a_pane_is_moved_again_only_if_that_was_never_sent() -> None:
    resending = Resending(again_of_a_window)
    move = command("if-shell", "-F", "#{window_panes}", "display-message -p x", "break-pane -d")
    was_sent, unsent, looks = sent(resending, move, move, command("if-shell", "-F", "1", "select-window"))
    resending.unsent.add(unsent)
    assert resending.left([was_sent, looks, unsent], [b""]) == [looks, unsent]
    with pytest.raises(ConnectionClosed, match="whether it moved"):
        was_sent.result()


SCREEN = ["capture-pane", "-b", "muxwire-screen%1"], ["show-buffer", "-b", "muxwire-screen%1"], ["delete-buffer"]


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        (command("list-panes"), False),
        (command("set-buffer", "--", "x"), True),
        (command_list(["display-message"], ["kill-pane"]), True),
        (command_list(["display-message", "-p"], ["list-panes"]), False),
        (command_list(["display-message", "-p"], *SCREEN), False),
        (command_list(*SCREEN), False),
        (command_list(["display-message", "-p"], *SCREEN[1:]), True),
    ],
)
def test_only_what_changes_something_has_a_number(line: Command, changes: bool) -> None:
    (numbered,) = Resending(again_of_a_window).numbered([line])
    assert (numbered == line, numbered.blocks) == (not changes, line.blocks + changes)
    assert not changes or number(numbered).endswith(b".1")
