"""Whether the shell is at a prompt again after a person's line, where no mark announces that prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from muxwire.shell.listener import PROMPT_REACH, is_prompt_again
from muxwire.shell.session_table import ShellState
from muxwire.shell.tab_state import takes_line

if TYPE_CHECKING:
    from muxwire.host.host import Host
    from muxwire.pane.stream import PaneStream
    from muxwire.shell.look import Foreground, Waiting
    from muxwire.shell.redraw import PromptColumns
    from muxwire.shell.session import ShellSession
    from muxwire.shell.shell import Shell


class Pane(Protocol):
    """What is asked of the pane (`PaneState`)."""

    host: Host
    session: ShellSession
    stream: PaneStream
    prompts: PromptColumns
    logged: tuple[int, bytes]

    @property
    def now(self) -> float: ...

    def front(self) -> Foreground | None: ...

    def replacing_shell(self) -> Shell | None: ...

    def waits_for_input(self) -> Waiting: ...

    def reads(self) -> bool: ...


def settle_line(pane: Pane) -> None:
    """Move the session on if the line took the hook of the shell's prompt away, or runs another shell in its place.

    Such a shell is known by its environment: only the tab's own shell was started with the nonce, which it does not
    export. The prompt is known by its text; a `read` of the shell that asks with the same text is taken for it.
    """
    session = pane.session
    if session.state is not ShellState.ACCEPTED or session.running is not None or session.runs_others:
        return
    front, again = pane.front(), session.lines_taken > 1
    if front is None or front.pgrp != session.shell_pid:
        return
    waiting = pane.waits_for_input()
    if not waiting:
        return
    ours = pane.host.began_with(front.pgrp, "MUXWIRE_NONCE", session.nonce)
    if ours is False:
        shell = pane.replacing_shell()
        if shell is not None and takes_line(shell, waiting):
            session.became(shell)
    elif (ours or again) and waiting == "editor" and pane.reads():
        _settle_prompt(pane, again=again)


def _settle_prompt(pane: Pane, *, again: bool) -> None:
    session, end, (until, logged) = pane.session, pane.stream.end, pane.logged
    from_log = until - len(logged) <= session.prompt_end < until
    if not pane.stream.holds(until if from_log else session.prompt_end):  # some output since that prompt is not known
        return
    taken = session.preexec_offset
    row = _written(pane, max(taken, end - PROMPT_REACH), end).rpartition(b"\n")[2]
    accepted = _written(pane, max(session.prompt_end, taken - PROMPT_REACH), taken)
    if is_prompt_again(row, accepted, pane.prompts, again=again):
        session.prompt_seen(end - len(row), pane.now)
        pane.stream.wake()


def _written(pane: Pane, begin: int, end: int) -> bytes:
    until, logged = pane.logged
    first, ring = until - len(logged), pane.stream.ring
    if begin >= until:
        return ring.read(begin, end)
    return logged[begin - first : end - first] + (ring.read(until, end) if end > until else b"")
