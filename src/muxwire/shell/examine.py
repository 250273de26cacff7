"""Finds out whether what runs in a pane waits for input, with the proof that such a claim needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeVar

from muxwire.errors import ConnectionClosed
from muxwire.shell import nesting
from muxwire.shell.listener import SILENT_SECONDS
from muxwire.shell.port import caught_up, until
from muxwire.shell.tab_state import takes_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.shell.execution import Execution
    from muxwire.shell.look import PaneLook, Waiting
    from muxwire.shell.port import Pane, Port

Found = TypeVar("Found")

# The kernel passes on to tmux what is written to a terminal, in a worker thread. On a busy machine (a load of 15 on two
# processors) the end mark came after two answers of tmux, and a shell at its prompt seemed to read for its command.
END_MARK_SECONDS: Final = 0.3
# How often a proof is tried in a row while the program writes. After that it is tried at the usual intervals.
PROOFS: Final = 3
# The states in which more input is waited for.
_WAITING: Final = ("prompt", "interactive", "incomplete")
# What a program that waits is waiting for; anything else reads single keys.
_WAITED_FOR: Final = {
    "password": "a password (echo is off)",
    "line": "a line of input",
    "editor": "input (its shell reads)",
}
# What a shell waits for that was started in the tab's own.
_COMMAND: Final = "a command (what is run in this tab now runs in that shell)"


def waited_words(waiting: Waiting) -> str:
    """What is waited for, in words."""
    return _WAITED_FOR.get(waiting, "keys")


async def proved(
    port: Port, holds: Callable[[PaneLook | None], Found], look: PaneLook | None
) -> Found | Literal[False]:
    """What `holds` returns of that look, once it is proved: tmux, after it, had nothing more of the pane to send.

    A tmux that is silent or stopped proves nothing: what the program wrote meanwhile may lie in the terminal. Nor do
    its answers if the tab's own shell reads while a command runs: the end mark may have been written just before.
    What had something more to send is looked at again: a program that draws its screen anew every 1.5 s (htop) and
    a proof that takes as long, as on a busy machine, would miss each other for ever.
    """
    try:
        for number in range(PROOFS):
            if number:
                if not port.pane.terminal.quiet():
                    break
                look = await port.look()
            if not (found := holds(look)):
                return found
            if await _all_here(port):
                return holds(look) if port.pane.reachable else False
    except ConnectionClosed:
        pass
    return False


async def _all_here(port: Port) -> bool:
    """Whether all is here that was written before, and nothing was written meanwhile."""
    if port.pane.session.running is not None and port.pane.terminal.shell_in_front():
        end = port.pane.stream.end
        if await until(port, lambda: port.pane.stream.end != end, END_MARK_SECONDS):
            return False
    return await caught_up(port)


async def continued(port: Port) -> None:
    """Let the tab's own shell continue if it is stopped."""
    if port.pane.terminal.shell_stopped():
        await port.resume()


def begins_to_wait(pane: Pane, execution: Execution) -> bool:
    """Whether a command that has written nothing new waits all the same, by a look that costs little."""
    end = pane.stream.shown_end
    if not execution.started or execution.waits_at(end):
        return False
    if not execution.silent_since(end) and pane.terminal.quiet(SILENT_SECONDS):
        return pane.terminal.may_ask()
    return bool(pane.terminal.waits_near())


async def for_result(port: Port, execution: Execution) -> None:
    """Examine a command for a result of it, if anything may have changed."""
    pane = port.pane
    if not (execution.running and execution.started and pane.terminal.quiet()):
        return
    end = pane.stream.shown_end
    if not (execution.waits_at(end) or execution.silent_since(end)):
        await port.within(pane.answer_seconds, examined(port, execution))


async def examined(port: Port, execution: Execution) -> Literal["interactive", "silent", ""]:
    """What is new of a command that runs. A nested shell that gave it up is asked for its status instead."""
    pane = port.pane
    look = await port.look()
    await continued(port)
    await nesting.settle_end(port, execution)
    end = pane.stream.shown_end
    if execution.cut >= 0 or not execution.running or execution.waits_at(end):
        return ""
    if waiting := await proved(port, lambda look: pane.awaited(execution, look), look):
        nested = not pane.terminal.shell_in_front() and (
            waiting == "editor" or takes_line(pane.terminal.replacing_shell(), waiting)
        )
        execution.asks(pane.stream.shown_end, _COMMAND if nested else waited_words(waiting))
        return "interactive"
    if not execution.silent_since(end) and await proved(port, pane.terminal.falls_silent, look):
        execution.fell_silent(pane.stream.shown_end)
        return "silent"
    return ""


async def awaits_input(port: Port) -> Literal["met", "silent", ""]:
    """Whether what runs in the pane waits for more input; `silent` where that cannot be seen."""
    pane = port.pane
    look = await port.look()
    if await proved(port, lambda look: pane.tab_state(look) in _WAITING, look):
        return "met"
    if await proved(port, pane.terminal.hidden_waiting, look):
        return "met"
    return "silent" if (await proved(port, pane.terminal.falls_silent, look)) else ""
