"""One living pane: facts of its shell's session, and what it is refused with."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import TabUnavailable
from muxwire.host.environment import COLUMNS_MIN
from muxwire.host.host import answer_seconds, round_trip
from muxwire.pane.terminal import Terminal
from muxwire.shell.listener import (
    DRAWN,
    PROMPT_GRACE,
    PROMPT_REACH,
    InFront,
    find_listener,
    on_its_way,
    prompt_at_end,
    refusal,
)
from muxwire.shell.look import StopTarget, reads_as_prompt
from muxwire.shell.marks import ID_RANDOM, own_id
from muxwire.shell.redraw import SCREEN_BACK, readable, shown_again
from muxwire.shell.session import ShellSession
from muxwire.shell.session_table import CommandEnded, Fact, ShellGone, ShellState
from muxwire.shell.tab_state import idle_since, listens, not_begun, tab_state, takes_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from muxwire.errors import State
    from muxwire.host.host import Host
    from muxwire.pane.stream import PaneStream
    from muxwire.shell import Shell
    from muxwire.shell.execution import Execution
    from muxwire.shell.listener import ForegroundShell
    from muxwire.shell.look import PaneLook, Waiting


# Since when a pane is unused. Each use sets a number and a time, and wakes no task.


@final
class Use:
    """The calls that use a pane, as a context manager for each. When it last wrote something, `PaneStream` knows."""

    __slots__ = ("_calls", "_last", "woken")

    def __init__(self) -> None:
        self._calls = 0
        self._last = time.monotonic()
        self.woken: anyio.Event | None = None  # wakes the task that waits until the pane is unused for long enough

    def __enter__(self) -> None:
        self._calls += 1

    def __exit__(self, *_: object) -> None:
        self._calls -= 1
        self._last = time.monotonic()

    def note(self) -> None:
        """It was used just now: by a short call, by a person, by what runs in it."""
        self._last = time.monotonic()

    @property
    def last(self) -> float:
        """When it was used last, on the monotonic clock; infinity while a call uses it."""
        return math.inf if self._calls else self._last

    def over(self) -> None:
        """The pane is gone: end the wait for it to be unused."""
        if self.woken is not None:
            self.woken.set()


# Lines that must be typed into a shell that our hooks do not reach: neither the screen nor a reader shows them.
#
# Before such a line the readable command and the mark B are written to the pane's own terminal, as a program there
# would, and the alternate screen is switched on: there the line is echoed, in however many rows and by whatever editor.
# What the line runs first switches it off again, which brings back the screen and the cursor, and prints T. If no shell
# runs the line, muxwire writes the same.

# DECSET 1049, the alternate screen with the cursor saved (xterm's control sequences).
_OTHER_SCREEN = b"\x1b[?1049h"


@final
class HiddenLines:
    """The lines of one pane that are being typed out of sight."""

    def __init__(self, host: Host, tty: str, leader: int, session: ShellSession) -> None:
        self._host, self._tty, self._leader, self._session = host, tty, leader, session

    def hide(self, hidden_id: str, end: int, shown: bytes = b"") -> bool:
        """From here on, `end` in the stream, typed lines are ours, until T with this id; `shown` is seen before.

        False if the terminal does not take it at once: then all is seen.
        """
        before = shown_again(self._session.hidden_id) if self._session.hidden_id else b""
        if shown:
            modes = self._host.tty_modes(self._tty)
            before += readable(shown).replace(b"\n", b"\n" if modes is None or modes.opost else b"\r\n")
        before += b"\x1b]7770;B;%s;1\x07" % hidden_id.encode() + _OTHER_SCREEN
        if not self._host.write_tty(self._tty, before, self._leader):
            return False
        self._session.hide(hidden_id, end)
        return True

    def give_up(self, *, seen: bool = False) -> None:
        """What is hidden, if anything, was not taken by a shell; with `seen` a reader is to know of it."""
        if hidden_id := self._session.hidden_id:
            end = SCREEN_BACK + b"\x1b]7770;B;%s;0\x07" % hidden_id.encode() if seen else shown_again(hidden_id)
            # If it is not reported, the terminal is gone.
            self._session.unhide(reported=self._host.write_tty(self._tty, end, self._leader))

    def ended(self, hidden_id: str) -> None:
        """The command of this id has ended: if its line is hidden still, it was lost."""
        if self._session.hidden_id == hidden_id:
            self.give_up()


def end_of(execution: Execution) -> anyio.Event:
    """A new event, which will be set at the command's end."""
    event = anyio.Event()
    execution.ends_with(event.set)
    return event


@final
class PaneState:
    def __init__(
        self,
        *,
        host: Host,
        pane_id: str,
        nonce: str,
        shell: Shell | None,
        leader_pid: int,
        tty: str,
        cwd: str,
        started_at: float = float("-inf"),
    ) -> None:
        self.host = host
        self.pane_id = pane_id
        self.session = ShellSession(nonce=nonce, shell=shell, cwd=cwd, read=self._read, tell=self._on_fact)
        self.leader_pid, self.began = leader_pid, host.started(leader_pid)
        self.tty = tty
        self.stream: PaneStream  # set by the tab as soon as both exist
        self.supervised = True  # its first process is our supervisor
        self.started_at = started_at  # when tmux said that it had started it for us, on the monotonic clock
        self.asked_at = 0.0  # when the newest answer of another machine about it was asked for, on the monotonic clock
        self.pressed_at = float("-inf")  # when we last typed something, on the monotonic clock
        self.first_pressed_at = float("-inf")  # the first such time since the prompt before it
        self.interrupted_at = float("-inf")  # when we last typed a C-c, and nothing after it in the same write
        self.apart: dict[
            int, str
        ] = {}  # what has a session of its own of what was to be ended last, and when it started
        self.hidden = HiddenLines(host, tty, leader_pid, self.session)
        self.terminal = Terminal(self)
        self.use = Use()
        self.on_exit: Callable[[], None] | None = None

    @property
    def now(self) -> float:
        return time.monotonic()

    @property
    def machine(self) -> str:
        """The name of its machine, "" for this one."""
        return self.host.prefix.removesuffix("/")

    @property
    def round_trip(self) -> float:
        return round_trip(self.host)

    @property
    def answer_seconds(self) -> float:
        return answer_seconds(self.host)

    def new_id(self) -> str:
        """A new id of a mark of this pane."""
        return own_id(os.urandom(ID_RANDOM), self.session.nonce)

    @property
    def shell(self) -> Shell | None:
        """The kind of the tab's own shell, if we know it."""
        return self.session.shell

    @property
    def runs_program(self) -> bool:
        """Whether it was made for a program of its own, in place of a shell that we know."""
        return self.shell is None and self.supervised

    def stop_target(self, spared: int = 0) -> StopTarget:
        """Which of its process groups is what, for ending one; `spared` is one that gets C-c as a key only."""
        return StopTarget(self.leader_pid, self.session.shell_pid, spared, self.runs_program)

    @property
    def listens(self) -> bool:
        """Whether the shell waits at its prompt; where it does not say that a line was accepted, the kernel does."""
        return listens(self.session, self.terminal, self._judged_at)

    @property
    def takes_next(self) -> bool:
        """Whether the shell waits for the next command: it listens, and no line of ours is on its way to it."""
        return self.listens and not_begun(self.session) is None

    @property
    def is_back(self) -> bool:
        """Whether the shell is at its prompt again, or has ended: nothing that was typed into it runs."""
        return self.session.dead or self.listens

    @property
    def reachable(self) -> bool:
        link = self.host.link
        return link is None or (link.up and link.answers)

    def _read(self, begin: int, end: int) -> bytes:
        return self.stream.ring.read(begin, end)

    def _on_fact(self, fact: Fact) -> None:
        if isinstance(fact, CommandEnded):
            fact.execution.tell_end()
        elif isinstance(fact, ShellGone) and self.on_exit is not None:
            self.on_exit()
        self.stream.tell(fact)

    def prompt_found(self, note: str, before: int) -> None:
        """The shell waits at its prompt, and the marks that said so were lost before that offset."""
        self.session.prompt_found(note, before, time.monotonic(), end=self.stream.end)
        self.stream.wake()

    def close(self, reason: str) -> None:
        self.session.close(reason, time.monotonic(), end=self.stream.end)
        self.stream.wake()
        self.use.over()

    def adopt(self, shell: Shell | None) -> None:
        """The pane was not started by us; its first process is this shell, or a program that is none."""
        self.supervised = False
        if shell is not None:
            self.session.adopt(self.leader_pid)

    def tab_state(self, look: PaneLook | None = None) -> State:
        """The state now; asks the kernel where the marks alone cannot tell."""
        waits = None if look is None else lambda: self.terminal.judgement(look).waiting
        return tab_state(self.session, self.terminal, self._judged_at, waits=waits)

    @property
    def _judged_at(self) -> float:
        """When what the kernel has said was true, on the monotonic clock: now, or when another machine was last asked.

        An answer from before the newest prompt says nothing of the shell at that prompt: then, too, it is now.
        """
        if self.host.is_local or self.asked_at < self.session.prompt_time:
            return time.monotonic()
        return self.asked_at

    def known_state(self) -> State:
        """The state for a caller that only reads it, and does not wait for an answer of tmux as a proof.

        A command of ours whose line seems unfinished, or whose shell seems to read, is `running` all the same where a
        start mark or an end mark may still be on its way. After one that has just ended it is `prompt`, as the result
        has said, though the shell may not have drawn that yet.
        """
        running = self.session.running
        ended = running is None and self.session.state is ShellState.FINISHED
        if ended and self.now - idle_since(self.session) < PROMPT_GRACE:
            return "prompt"
        state = tab_state(self.session, self.terminal, self._judged_at, waits=self.terminal.waits_lately)
        if running is None or state not in ("interactive", "incomplete"):
            return state
        if state == "incomplete":
            return "running" if not running.started else state
        proved = running.waits_at(self.stream.shown_end)
        return state if proved or not self.terminal.shell_in_front() else "running"

    def state_after(self, execution: Execution) -> State:
        """The state for a result of `execution`: as that has left it, whatever another call may run by now.

        After its end the prompt may be some microseconds away.
        """
        if not execution.ending:
            if self.session.dead or execution.waits_at(self.stream.shown_end):
                return "dead" if self.session.dead else "interactive"
            state = self.tab_state()  # without a proof nothing waits (`Runner.examine`)
            return "running" if state == "interactive" or execution.level > 1 else state
        running = self.session.running
        if self.session.dead:
            return "dead"
        within = running is not None and running.typed_at < execution.typed_at  # the nested shell in which it ran
        return "interactive" if within else "prompt"

    def find_shell(self, waited: float, look: PaneLook | None, folder: Path) -> ForegroundShell | None:
        """The listener where the shell is at no prompt of ours; None if nobody is known to listen.

        `folder` is the tab's own: what can read in it gets long commands as a file.
        """
        if (other := self.terminal.replaced_by()) is not None and takes_line(other, self.terminal.waits_for_input()):
            self.session.became(other)
        front, found = self.terminal.front(), self.terminal.judgement(look)
        # What is judged must be what is in front: between the two a command may begin or end.
        if front is None or not (found.waiting or found.hidden) or self.terminal.front() != front:
            return None
        host, now = self.host, time.monotonic()
        own = self.shell if front.pgrp == self.session.shell_pid else None
        modes, shell = self.terminal.tty_modes(), own or host.shell_for(front.program)
        inner, begun = self._inner_shell(self.session.running) if shell is None else (0, False)
        seen = InFront(
            front,
            found,
            shell,
            raw=modes is not None and not modes.icanon,
            script=own is None and host.runs_script(front.pgrp),
            reads=host.shares_folder(front.pgrp, folder),
            secret=self.terminal.asks_secret(),
            inner=inner,
            begun=begun,
            prompted=reads_as_prompt(self.terminal.open_line()),
            editor=self.terminal.announces_editor(),
            silent=self.terminal.silent_for(now),
            waited=waited,
        )
        return find_listener(self.session, seen, now)

    def _inner_shell(self, running: Execution | None) -> tuple[int, bool]:
        """The shell that waits for a line over a relay, 0 if none is seen to; and whether the command that runs, in
        another shell there, has begun it.
        """
        look = self.terminal.seen().innermost()
        inner = look.process(look.foreground) if look is not None else None
        if look is None or inner is None or self.host.runs_script(inner.pid):
            return 0, False
        waiting = look.judge(0, self.terminal.shown(look)).waiting
        if not takes_line(self.host.shell_for(inner.program), waiting):
            return 0, False
        own = running.shell_inner if running is not None and running.started else 0
        return inner.pid, own not in (0, inner.pid) and look.descends(inner.pid, own)

    def on_its_way(self) -> bool:
        """Whether the tab's shell is sure to come to its prompt by itself."""
        drawn = max(self.session.prompt_end, self.session.drawn_at)
        return on_its_way(self.session, self.stream.written(drawn))

    def awaited(self, execution: Execution, look: PaneLook | None = None) -> Waiting:
        """What a command that runs waits for, as far as that is visible; "" for nothing."""
        found = self.terminal.judgement(look)  # once: each look costs, and all of this is said of one moment
        if hidden := self.terminal.hidden_waiting(found=found):
            return hidden
        if execution.level > 1:  # the tab's own rules know nothing of a foreign shell
            return found.waiting
        # `editor`: a `read` of the tab's own shell, or the shell itself at a prompt whose mark is not here yet.
        state = tab_state(self.session, self.terminal, self._judged_at, waits=lambda: found.waiting)
        return found.waiting if state == "interactive" else ""

    def prompt_again(self, execution: Execution) -> int:
        """Where the next prompt of a nested shell begins that silently gave `execution` up; -1 if it did not."""
        if execution.level == 1 or not execution.started or not self.terminal.quiet(DRAWN):
            return -1
        front = self.host.foreground(self.leader_pid)
        if front is None or front.pgrp != execution.shell_pgrp or not self.terminal.may_wait():
            return -1
        begun = execution.shell_inner and self._inner_shell(execution)[1]
        return -1 if begun else self.prompt_after(execution, max(execution.begin, self.session.ended_at))

    def prompt_after(self, execution: Execution, begin: int) -> int:
        """Where the prompt begins at which the output from `begin` on ends; -1 if it ends with none."""
        end = self.stream.written_end
        tail = self.stream.ring.read(max(begin, end - PROMPT_REACH), end)
        drawn = prompt_at_end(execution, tail, silent=self.terminal.quiet())
        return -1 if drawn is None else end - len(drawn)

    def check_width(self, columns: int) -> None:
        """Refuse to type into a pane that is so narrow that its shell could die of it: TabUnavailable."""
        if columns < COLUMNS_MIN:
            raise TabUnavailable(
                f"the pane is {columns} columns wide, and shells crash when a line is typed into fewer than "
                f"{COLUMNS_MIN}",
                state=self.tab_state(),
                remedy="make it wider: close a pane next to it, or resize_pane",
            )

    def refusal(self) -> TabUnavailable:
        """Why the pane takes no command now."""
        state, front = self.tab_state(), self.terminal.front()
        heard = self.session.preexec_offset > self.stream.live_from  # else it was read later, and has no time
        return refusal(
            self.session,
            state,
            time.monotonic(),
            program=front.program if front is not None else "",
            heard=heard,
            machine="" if self.reachable else self.machine,
            asks=state == "starting" and self.terminal.waits_for_input() in ("line", "password"),
            edits=state == "busy" and self.terminal.waits_for_input() == "editor",
        )
