"""Finds out which shell would read a line that is typed into a pane now, and waits until one would.

`shell/listener.py` judges by what is known; here is what has to be asked, in which order, and for how long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, final

from muxwire.errors import ConnectionClosed, TmuxSilent
from muxwire.shell import nesting, prompt_line
from muxwire.shell.examine import continued, proved
from muxwire.shell.execution import INTERRUPTED, shell_status
from muxwire.shell.keys import CTRL_C
from muxwire.shell.listener import (
    DRAWN,
    PROMPT_GRACE,
    QUIET,
    ForegroundShell,
    ready_deadline,
    unanswered,
)
from muxwire.shell.port import LOOK_SECONDS, caught_up, reads_on, until
from muxwire.shell.prompt_line import EDITOR_GRACE, LATE_GRACE
from muxwire.shell.tab_state import line_lost, not_begun, starting

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.shell.execution import Execution
    from muxwire.shell.look import PaneLook
    from muxwire.shell.port import Port

# Seconds that a shell may take to handle a C-c on a busy machine. With its line it throws away the keys it has read.
INTERRUPT_SECONDS = 2.0
# Seconds in which a shell that was just started is not examined: nearly always its first prompt comes before that, and
# a look, and the questions to tmux that follow, take processor time that the shell needs (7 of 36 ms).
UNEXAMINED_SECONDS = 0.15
# Seconds from a prompt without a start mark to typing a line again: the mark would have come before the prompt.
RETYPE_AFTER = 0.4
# C-c throws an unfinished line away, unrun; zsh without its editor notices that only when it reads on.
_THROW_AWAY = (CTRL_C, b"\r")


@final
class Ready:
    """The listeners of one pane.

    `find_shell` judges who listens where the shell is at no prompt of ours, after a call has waited for so many
    seconds, by that look. `heard`: whether all is here that was written since a command was typed.
    """

    def __init__(
        self,
        port: Port,
        find_shell: Callable[[float, PaneLook | None], ForegroundShell | None],
        heard: Callable[[], bool],
    ) -> None:
        self._port, self._pane = port, port.pane
        self._find_shell = find_shell
        self._heard = heard
        self._unsticking = False

    async def reached(self, deadline: float) -> ForegroundShell:
        """The shell that listens; a tmux that does not answer, or a lost connection, is waited for until the deadline.

        Raises: TabUnavailable if none listens in time.
        """
        pane = self._pane
        while True:
            try:
                if not pane.round_trip:  # what it does has limits of its own, and one more is felt at every command
                    return await self._ready(deadline)
                left = ready_deadline(pane.session, pane.now, deadline) - pane.now
                found = await self._port.within(left + PROMPT_GRACE, self._rejoined(deadline))
                if found is not None:
                    return found
            except TmuxSilent:  # it may answer the next time
                if pane.now >= deadline:
                    raise
            if pane.now >= deadline:
                raise unanswered(pane.machine, pane.tab_state())

    async def _rejoined(self, deadline: float) -> ForegroundShell:
        while self._pane.stream.rejoining:
            await self._port.wait(QUIET)
        return await self._ready(deadline)

    async def _ready(self, deadline: float) -> ForegroundShell:
        """Wait until a shell listens, and return which; TabUnavailable if none will in time."""
        pane = self._pane
        begun, looked_again = pane.now, False
        if starting(pane.session):
            deadline = ready_deadline(pane.session, begun, deadline)
            await self._first_mark(deadline)
        if pane.interrupted_at > -math.inf:
            await self.interrupt_taken()
        before = pane.session.current
        if before is not None and before.ending == "completed" and before.level == 1:  # others show no prompt of ours
            await prompt_line.soon(self._port)
        while True:
            await prompt_line.leave_unfinished(self._port)
            heard, waited = pane.stream.end, pane.now - begun
            typed, at_prompt = pane.session.running, pane.takes_next
            # The clock is read before the look: after that a prompt that was just drawn would be an old one.
            drawn = at_prompt or pane.terminal.quiet(DRAWN)
            found = await (prompt_line.listener(self._port) if at_prompt else self._other_shell(waited))
            if found is not None and (
                found.level == 1 or (found := await nesting.reach(self._port, found)) is not None
            ):
                return found
            # Another machine has reported the prompt only now. Or the line that an earlier process typed was found
            # never to have run.
            if (not at_prompt and pane.takes_next) or (typed is not None and not typed.running):
                continue
            if pane.session.dead or waited >= deadline - begun or await self._in_vain(waited):
                if pane.session.dead or looked_again:
                    raise pane.refusal()
                looked_again = True  # this process may have been stopped: output that waits in the pipe counts
                await self._port.take_received()
            elif pane.stream.end == heard:  # else what was waited for may have come meanwhile
                again = prompt_line.look_again(pane) if at_prompt else QUIET if drawn else DRAWN
                await self._port.wait(min(again, deadline - begun - waited))

    async def _first_mark(self, deadline: float) -> None:
        """Wait for the first mark of a shell that was just started."""
        pane, session = self._pane, self._pane.session
        left = min(pane.started_at + UNEXAMINED_SECONDS, deadline) - pane.now
        await until(self._port, lambda: session.dead or not starting(session), left)

    async def _other_shell(self, waited: float) -> ForegroundShell | None:
        """Who listens while no prompt of ours says so."""
        pane = self._pane
        typed = not_begun(pane.session)
        if typed is not None:
            await self.unstick(typed)
            if not typed.running:
                return None
        look = await self._port.look()
        if pane.takes_next:
            return None  # it came to its prompt meanwhile
        await continued(self._port)
        if (running := pane.session.running) is not None:
            await nesting.settle_end(self._port, running)
        found = None if pane.session.dead else self._find_shell(waited, look)
        if found is not None and (found.pgrp == pane.session.shell_pid or starting(pane.session)):
            # It may have said that it is at its prompt.
            return found if await caught_up(self._port) and not pane.takes_next else None
        return found

    async def _in_vain(self, waited: float) -> bool:
        """Whether to wait longer is useless: no muxwire process started what runs, or it waits for input."""
        pane = self._pane
        if pane.session.running is None:
            no_use = await prompt_line.in_vain(self._port, waited)
        else:
            no_use = (
                waited >= QUIET
                and pane.terminal.quiet()
                and await proved(self._port, lambda look: pane.tab_state(look) == "interactive", None)
            )
        # Where the helper of another machine has not answered, what is known of the pane is old: the call waits.
        return no_use and pane.reachable

    async def interrupt_taken(self) -> None:
        """Let the shell deal with a C-c of ours first: with its line it throws away keys that come before it does.

        A prompt with another status than C-c's may be an older one that comes late: then, after some time, the kernel
        is asked whether the shell waits for keys. At once that proves nothing: a busy kernel passes the C-c on after
        tmux has answered twice, and meanwhile the shell sleeps at the older prompt. Where no prompt comes, it sleeps as
        before, too: then the kernel's word counts only of a shell that does not say when it reads, and of fish, which
        draws nothing at a C-c without a line. ConnectionClosed.

        A C-c that comes when the prompt is drawn and the keys are not read yet is kept by bash, which shows it, and by
        zsh, which shows nothing: they draw no prompt, and the next line loses its first letter (the rest runs), or is
        thrown away. One that comes in a hook of zsh's prompt takes its mark away. At a second C-c they draw a prompt
        that has one, and have dealt with both.
        """
        pane = self._pane
        if (left := pane.interrupted_at + INTERRUPT_SECONDS - pane.now) > 0:
            await self._port.within(left, self._interrupt_taken())
        pane.interrupted_at = -math.inf

    async def _interrupt_taken(self) -> None:
        pane, session, shell = self._pane, self._pane.session, self._pane.shell
        draws = session.says_reads and shell is not None and shell.anew_keys == CTRL_C
        late = pane.interrupted_at + PROMPT_GRACE
        await until(self._port, lambda: session.dead or session.prompt_time > pane.interrupted_at, late - pane.now)
        while not (session.dead or (pane.now >= late and not pane.terminal.shell_in_front())):
            newer = session.prompt_time > pane.interrupted_at
            # The mark of that prompt comes before the editor is up, and a signal may throw away the editor's first key.
            up = session.reads != "" or not session.says_reads
            if newer and up and shell_status(session.prompt_status) == INTERRUPTED:
                return
            silent = pane.terminal.quiet(pane.now - pane.interrupted_at)
            kept = session.running is None and (silent or pane.stream.ring.find(b"^C", session.prompt_end) >= 0)
            if (not draws or (pane.now >= late and (newer or kept))) and await reads_on(self._port):
                if draws and kept:
                    await self._port.press(CTRL_C)
                    await until(
                        self._port,
                        lambda: session.dead or (session.prompt_time > pane.interrupted_at and session.reads != ""),
                        INTERRUPT_SECONDS,
                    )
                return
            await self._port.wait(LOOK_SECONDS)

    async def lines_read(self) -> Literal["read", "unseen", ""]:
        """Whether the tab's own shell, at its prompt, has read all lines that were typed ahead, and runs none of them.

        It reads them after the mark of its prompt, so that mark proves nothing. `unseen`: it is not seen to wait for
        keys for so long that this may not be visible.

        Raises: TmuxSilent, ConnectionClosed.
        """
        pane, session = self._pane, self._pane.session
        end = pane.now + EDITOR_GRACE

        def at_prompt(seq: int) -> bool:
            return session.at_prompt and session.prompt_seq == seq

        while at_prompt(seq := session.prompt_seq) and pane.now < end:
            if not await reads_on(self._port):
                await self._port.wait(prompt_line.look_again(pane))
            elif at_prompt(seq):
                return "read"
        late = session.at_prompt and pane.now - session.prompt_time >= LATE_GRACE
        return "unseen" if late and pane.terminal.shell_in_front() else ""

    async def unstick(self, execution: Execution) -> None:
        """The line was typed, and no start mark came: type it once more if its body provably never ran."""
        if self._unsticking:  # another call is at it: a second C-c would hit the line that was typed again
            return
        self._unsticking = True
        try:
            await self._retry(execution)
        except ConnectionClosed:  # between two connections: at the next look
            pass
        finally:
            self._unsticking = False

    async def _retry(self, execution: Execution) -> None:
        """Type a line once more that provably never ran: with keys that an unfinished command took for more of it, or
        with a line editor that threw it away. A line that was typed again before is given up.

        It is proved by a later prompt (rule 12 of `session_table.py`), or by a shell that reads on though nothing has
        begun; what took our line is then thrown away first.
        """
        pane, session = self._pane, self._pane.session

        def over() -> bool:
            return execution.started  # which is so of one that has ended, too

        lost = line_lost(session, execution) and pane.now - session.prompt_time >= RETYPE_AFTER
        stuck = pane.terminal.quiet() and pane.now - execution.typed_time >= RETYPE_AFTER
        # In output that is not here it may have begun, and ended.
        if over() or not self._heard() or not (lost or stuck):
            return
        await caught_up(self._port)  # tmux has typed it
        await until(self._port, over, RETYPE_AFTER)
        await caught_up(self._port)  # and said what came of it
        if over() or pane.stream.rejoining:
            return
        if not lost:
            if not await reads_on(self._port):
                return
            for key in _THROW_AWAY:
                if over() or session.at_prompt:
                    break
                await self._port.type(key)
                await until(self._port, lambda: over() or session.at_prompt, RETYPE_AFTER)
        if not over():
            await self._port.type_again(execution)
