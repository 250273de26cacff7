"""One living pane: its shell's session, its stream and its terminal, and what the kernel says of them."""

from __future__ import annotations

import math
import os
import signal
import time
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import TabUnavailable
from muxwire.host.descriptors import lacking
from muxwire.host.environment import COLUMNS_MIN
from muxwire.host.host import answer_seconds, round_trip
from muxwire.shell.listener import (
    DRAWN,
    PROMPT_REACH,
    QUIET,
    SILENT_SECONDS,
    InFront,
    Refused,
    find_listener,
    hidden_waiting,
    on_its_way,
    prompt_after,
    refusal,
)
from muxwire.shell.look import (
    RELAYS,
    STILL_SECONDS,
    Front,
    Judgement,
    PaneLook,
    Rest,
    Shown,
    asks,
    asks_secret,
    descends,
    innermost,
    judge,
    may_read,
    reads,
    reads_as_prompt,
)
from muxwire.shell.marks import ID_RANDOM, own_id
from muxwire.shell.redraw import SCREEN_BACK, readable, shown_again
from muxwire.shell.session import ShellSession
from muxwire.shell.session_table import CommandEnded, Fact, ShellGone, ShellState
from muxwire.shell.stop import StopTarget
from muxwire.shell.tab_state import listens, not_begun, tab_state, takes_line
from muxwire.vt.screens import on_alternate
from muxwire.vt.text import strip_ansi

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from muxwire.errors import State
    from muxwire.host.host import Host
    from muxwire.pane.stream import PaneStream
    from muxwire.shell import Shell
    from muxwire.shell.execution import Execution
    from muxwire.shell.listener import ForegroundShell
    from muxwire.shell.look import Foreground, TtyModes, Waiting


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

    def __init__(self, host: Host, tty: str, session: ShellSession) -> None:
        self._host = host
        self._tty = tty
        self._session = session

    def hide(self, hidden_id: str, end: int, shown: bytes = b"") -> bool:
        """From here on, `end` in the stream, typed lines are ours, until T with this id; `shown` is seen before.

        False if the terminal does not take it at once: then all is seen.
        """
        before = shown_again(self._session.hidden_id) if self._session.hidden_id else b""
        if shown:
            modes = self._host.tty_modes(self._tty)
            before += readable(shown).replace(b"\n", b"\n" if modes is None or modes.opost else b"\r\n")
        if not self._host.write_tty(self._tty, before + b"\x1b]7770;B;%s;1\x07" % hidden_id.encode() + _OTHER_SCREEN):
            return False
        self._session.hide(hidden_id, end)
        return True

    def give_up(self, *, seen: bool = False) -> None:
        """What is hidden, if anything, was not taken by a shell; with `seen` a reader is to know of it."""
        if hidden_id := self._session.hidden_id:
            end = SCREEN_BACK + b"\x1b]7770;B;%s;0\x07" % hidden_id.encode() if seen else shown_again(hidden_id)
            self._session.unhide(reported=self._host.write_tty(self._tty, end))  # else the terminal is gone

    def ended(self, hidden_id: str) -> None:
        """The command of this id has ended: if its line is hidden still, it was lost."""
        if self._session.hidden_id == hidden_id:
            self.give_up()


# A look that was taken no longer ago is not taken again, nor is an answer of another machine asked for again unless
# something was typed since: several judgements are made of one moment.
NEW_SECONDS = 0.01
# How old a look at all processes may be that showed that nothing waits, where a caller only reads the state and nothing
# was written or typed since: list_tabs is called again and again, and such a look takes some ms.
RECENT_SECONDS = 1.0
# DECSET and DECRST of the cursor (terminfo: cnorm, civis).
_CURSOR_ON, _CURSOR_OFF = b"\x1b[?25h", b"\x1b[?25l"
# DECSET 2004, bracketed paste: readline asks for it when it has taken the tty (`rl_prep_terminal` in rltty.c), zsh
# when it has drawn the prompt too (`zleread` in zle_main.c).
EDITOR_SIGN, EDITOR_LEFT = b"\x1b[?2004h", b"\x1b[?2004l"


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
        self.leader_pid = leader_pid
        self.tty = tty
        self.stream: PaneStream  # set by the tab as soon as both exist
        self.supervised = True  # its first process is our supervisor
        self.started_at = started_at  # when tmux said that it had started it for us, on the monotonic clock
        self.asked_at = 0.0  # when the newest answer of another machine about it was asked for, on the monotonic clock
        self._answered_at, self._answer_end = 0.0, -1  # when that answer came, and where the stream ended as it began
        self.pressed_at = float("-inf")  # when we last typed something, on the monotonic clock
        self.first_pressed_at = float("-inf")  # the first such time since the prompt before it
        self.interrupted_at = float("-inf")  # when we last typed a C-c, and nothing after it in the same write
        self.apart: dict[
            int, str
        ] = {}  # what has a session of its own of what was to be ended last, and when it started
        self.hidden = HiddenLines(host, tty, self.session)
        self.use = Use()
        self._look, self._looked_at = PaneLook(leader_pid, None, 0), float("-inf")  # the newest of all processes
        self._rest = Rest()
        self._only_wide = -1  # the stream's end when only a look at all processes of another machine showed a wait
        self._near_failed = False  # whether the last look at another machine showed no wait
        self.on_exit: Callable[[], None] | None = None

    @property
    def now(self) -> float:
        return time.monotonic()

    @property
    def is_remote(self) -> bool:
        return self.host.link is not None

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

    @property
    def tells_sleeps(self) -> bool:
        """Whether the kernel of its machine says where processes sleep."""
        return self.host.sees_waits

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

    def is_program(self, group: int | None) -> bool:
        """Whether that foreground group is a program's, and no shell's of ours."""
        return self.stop_target().is_program(group)

    @property
    def listens(self) -> bool:
        """Whether the shell waits at its prompt; where it does not say that a line was accepted, the kernel does."""
        return listens(self.session, self, self._judged_at)

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

    def heard_since(self, execution: Execution) -> bool:
        """Whether all is here that was written since the command was typed, whatever connection it came by."""
        return not self.stream.rejoining and execution.typed_at >= self.stream.whole_from

    def _read(self, begin: int, end: int) -> bytes:
        return self.stream.ring.read(begin, end)

    def _on_fact(self, fact: Fact) -> None:
        if isinstance(fact, CommandEnded):
            execution = fact.execution
            if execution.exit_code and execution.level == 1 and execution.ending in ("completed", "aborted"):
                execution.explain(self.short_of_files())  # the code may be that of muxwire's own hook, which failed
            execution.tell_end()
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

    def tab_state(self) -> State:
        """The state now; asks the kernel where the marks alone cannot tell."""
        return tab_state(self.session, self, self._judged_at)

    @property
    def _judged_at(self) -> float:
        """When what the kernel has said was true, on the monotonic clock: now, or when another machine was last asked.

        An answer from before the newest prompt says nothing of the shell at that prompt: then, too, it is now.
        """
        if self.host.answers_now or self.asked_at < self.session.prompt_time:
            return time.monotonic()
        return self.asked_at

    def known_state(self) -> State:
        """The state for a caller that only reads it, and does not wait for an answer of tmux as a proof.

        A command of ours whose line seems unfinished, or whose shell seems to read, is `running` all the same where a
        start mark or an end mark may still be on its way.
        """
        running = self.session.running
        state = tab_state(self.session, self, self._judged_at, waits=self._waits_lately)
        if running is None or state not in ("interactive", "incomplete"):
            return state
        if state == "incomplete":
            return "running" if not running.started else state
        proved = running.waits_at(self.stream.shown_end)
        return state if proved or not self.shell_in_front() else "running"

    def state_after(self, execution: Execution) -> State:
        """The state for a result of `execution`. After its end the prompt may be some microseconds away."""
        if not execution.ending:
            if self.session.dead or execution.waits_at(self.stream.shown_end):
                return "dead" if self.session.dead else "interactive"
            state = self.tab_state()  # without a proof nothing waits (`Runner.examine`)
            return "running" if state == "interactive" or execution.level > 1 else state
        running = self.session.running
        if self.session.dead:
            return "dead"
        if running is None:
            return "prompt"
        return "interactive" if running.typed_at < execution.typed_at else "running"

    def short_of_files(self) -> str:
        """Say so if the shell may not open the files that our marks take; "" if it may, or if that is not known."""
        needed = self.shell.files_needed if self.shell is not None and self.session.shell_pid else 0
        limit = self.host.files_limit(self.session.shell_pid) if needed else needed
        if limit >= needed:
            return ""
        needs = f"muxwire needs {needed} to run a command and report its end"
        return f"its shell may open only {limit} files (ulimit -n), and {needs}"

    async def refresh(self) -> None:
        """Bring what is known of its processes and its terminal up to date, before something is decided by it."""
        if self.asked_at <= self.pressed_at or time.monotonic() - self._answered_at >= NEW_SECONDS:
            await self._ask(wide=self._needs_wide())

    async def _ask(self, *, wide: bool) -> None:
        """Have the machine answer for this pane; `Host.refresh`."""
        asked_at, begun = time.monotonic(), -1

        def begins() -> None:
            nonlocal begun
            begun = self.stream.end

        if await self.host.refresh(self.leader_pid, self.tty, self.pane_id, begins, wide=wide):
            self.asked_at, self._answer_end, self._answered_at = asked_at, begun, time.monotonic()

    async def look(self, *, wide: bool = False) -> None:
        """As `refresh`, and take a look at all processes, which takes some ms with many of them.

        Not if the leaders alone show what is waited for, unless it is to be `wide`. Another machine is asked of all at
        once if its last look showed no wait: one more question would cost one more round trip.
        """
        if self.host.answers_now:
            if wide or not self._decided(self.seen(near=True)):
                self._look = await self.host.look_all(self.leader_pid, self.tty)
                self._looked_at = time.monotonic()
            return
        questions = (True,) if wide or self._near_failed or self._needs_wide() else (False, True)
        for of_all in questions:
            await self._ask(wide=of_all)
            if decided := self._decided(self.seen()):
                break
        if not wide:
            self._only_wide = self.stream.end if decided and of_all else -1
        self._near_failed = not decided

    def _needs_wide(self) -> bool:
        """Whether nothing was written since only a look at all processes of another machine showed what is waited for.

        An answer about those in front would take its place, and say that nothing waits.
        """
        return self._only_wide == self.stream.end

    def _decided(self, look: PaneLook) -> bool:
        """Whether that look shows what is waited for."""
        return bool(judge(look, self.session.shell_pid, self.shown(look)).waiting)

    @property
    def answered_whole(self) -> bool:
        """Whether another machine's newest answer is about all that was written: nothing has come since.

        tmux sends on what panes write in turns, so the answer may overtake the rest of a long output.
        """
        silent = self.stream.end == self._answer_end and not self.stream.rejoining
        return silent and self.reachable and self.host.cursor(self.leader_pid) is not None

    async def refresh_soon(self) -> None:
        """As `refresh`, for a call whose time may be over: without an answer soon, what was known stays."""
        with anyio.move_on_after(answer_seconds(self.host)):
            await self.refresh()

    def front(self) -> Foreground | None:
        return self.host.foreground(self.leader_pid, supervised=self.supervised)

    def seen(self, *, near: bool = False, age: float = NEW_SECONDS) -> PaneLook:
        """What the kernel says now, or said so many seconds ago; of another machine the newest answer."""
        if near or not self.host.answers_now:
            return self.host.look(self.leader_pid, self.tty, near=near)
        running = self.session.running
        typed = running.typed_time if running is not None else 0.0
        if self._looked_at < typed or time.monotonic() - self._looked_at > age:
            self._look = self.host.look(self.leader_pid, self.tty)
            self._looked_at = time.monotonic()
        return self._look

    def judgement(self, age: float = NEW_SECONDS) -> Judgement:
        """What is waited for, by the kernel and by what stands on the screen.

        Nothing where it cannot be asked, or where what was known is older than what runs. `age`: seconds that the look
        at all processes may be old.
        """
        running = self.session.running
        old = not self.host.answers_now and running is not None and self.asked_at < running.typed_time
        if old or not self.reachable:
            return Judgement()
        near, shell = self.seen(near=True), self.session.shell_pid
        found = judge(near, shell, self.shown(near))
        # A raw terminal whose shell runs something and does not read: what it runs, as in `$(fzf)`, may.
        runs_inside = found.waiting == "editor" and running is not None and running.started and not reads(near)
        if found.waiting and not runs_inside:
            return found
        if near.foreground == shell and running is None:
            return found  # the shell itself computes: no other process is in front
        look = self.seen(age=age)
        if look.foreground != near.foreground:
            return found  # what was seen of all processes is older than what is in front
        return judge(look, shell, self.shown(look, whole=self.host.answers_now))

    def waits_near(self) -> Waiting:
        """What is waited for, by the leaders of the session and of the foreground group alone: a tenth of the work."""
        near = self.seen(near=True)
        found = judge(near, self.session.shell_pid, self.shown(near)).waiting
        return found if found != "editor" or reads(near) else ""

    def waits_for_input(self) -> Waiting:
        return self.judgement().waiting

    def _waits_lately(self) -> Waiting:
        """As `waits_for_input`; that a command waits for nothing may have been seen up to RECENT_SECONDS ago."""
        running = self.session.running
        # What has just written a question may be on its way to the read of the answer.
        untouched = self._looked_at > max(self.stream.last_output + QUIET, self.pressed_at)
        if running is not None and running.started and untouched and not self.judgement(RECENT_SECONDS).waiting:
            return ""
        return self.judgement().waiting

    def may_wait(self) -> bool:
        """Whether input is waited for, or may be where it cannot be seen."""
        found = self.judgement()
        return bool(found.waiting) or found.hidden

    def shown(self, look: PaneLook, *, whole: bool = False) -> Shown:
        """What the pane shows; only looked for where it decides something.

        `whole`: it is a look at all processes, so it says whether they rest.
        """
        if not any(may_read(sleep.where) and sleep.tty is not False for one in look.processes for sleep in one.sleeps):
            return Shown()
        if whole:
            self._rest = self._rest.after(look)
        still = whole and self._rest.lasts and self.quiet(STILL_SECONDS)
        editor = still and self.announces_editor()
        return Shown.of(self.open_line(), screen=self.has_screen(), still=still, editor=editor)

    def has_screen(self) -> bool:
        """Whether a program draws a screen of its own: on the alternate screen, or with the cursor hidden."""
        ring = self.stream.ring
        return self.on_alternate() or ring.rfind(_CURSOR_OFF, ring.start) > ring.rfind(_CURSOR_ON, ring.start)

    def on_alternate(self) -> bool:
        """Whether the newest output has switched to the alternate screen."""
        ring = self.stream.ring
        known = self.stream.screens.at(ring.end)
        return bool(on_alternate(ring.read(ring.start)) if known is None else known)

    def announces_editor(self) -> bool:
        """Whether a line editor has said that it is on, and not that it is off: readline, zsh and others do."""
        ring, since = self.stream.ring, self.session.preexec_offset
        since = max(since, self.session.running.begin if self.session.running is not None else since)
        return ring.rfind(EDITOR_SIGN, since) > ring.rfind(EDITOR_LEFT, since)

    def open_line(self) -> str:
        """The text on the cursor's line, which was not ended; of one that was begun anew, what was drawn last."""
        parts = strip_ansi(self.last_line().decode("utf-8", "replace")).split("\r")
        return next((part for part in reversed(parts) if part.strip()), "")

    def last_line(self) -> bytes:
        """What stands on the cursor's line, after the last mark (or title, whose end is the same byte)."""
        return self.stream.written(self.stream.end - PROMPT_REACH).rpartition(b"\n")[2].rpartition(b"\x07")[2]

    @property
    def sees_waits(self) -> bool:
        return self.host.sees_waits and self.reachable

    def foreground_group(self) -> int | None:
        return self.host.foreground_pgrp(self.leader_pid)

    def group_exists(self, group: int) -> bool:
        return self.host.group_exists(group)

    def front_for(self, name: str, spared: int) -> Front:
        """Who is in front, and would get the signal of that name; `spared` is a nested shell's group, or 0."""
        group, shell = self.foreground_group(), self.session.shell_pid
        # A process that a nested shell has just forked has that shell's signal settings at first.
        takes = group is None or self.host.takes(group, signal.Signals[name], spared or shell)
        asked = self.host.answers_now and self.tells_sleeps and self.stop_target(spared).is_program(group)
        prompts = asked and self._prompts() and self.reads()
        return Front(group, self.tty_modes(), stopped=self.shell_stopped(), takes=takes, prompts=prompts)

    def seems_to_prompt(self) -> bool:
        """Whether a prompt seems to stand there, inside of what cannot be seen into."""
        return self.judgement().hidden and self._prompts()

    def _prompts(self) -> bool:
        """Whether a prompt, as that of a REPL, seems to stand there."""
        return not self.on_alternate() and (self.announces_editor() or asks(self.open_line()))

    def shell_stopped(self) -> bool:
        """Whether a signal has stopped the tab's own shell, which has no shell above it to let it continue.

        ksh stops itself along with the job that a C-z stopped, and `suspend` does so in any shell.
        """
        return bool(self.session.shell_pid) and self.host.is_stopped(self.session.shell_pid)

    def tty_modes(self) -> TtyModes | None:
        return self.host.tty_modes(self.tty)

    def shell_in_front(self) -> bool:
        return self.host.foreground_pgrp(self.leader_pid) == self.session.shell_pid

    def front_shell(self) -> Shell | None:
        front = self.front()
        if front is None:
            return None
        return (self.shell if front.pgrp == self.session.shell_pid else None) or self.host.shell_for(front.program)

    def replacing_shell(self) -> Shell | None:
        """The shell that a program in front is, whatever runs it; None if it runs a script."""
        front = self.front()
        return None if front is None or self.host.runs_script(front.pgrp) else self.host.shell_for(front.program)

    def replaced_by(self) -> Shell | None:
        """The shell that has taken the place of the tab's own by a line that was typed, as `exec zsh`.

        It is known by its environment: only the tab's own shell was started with the nonce, which it does not export.
        """
        session, front = self.session, self.front()
        persons = session.state is ShellState.ACCEPTED and session.running is None
        if not persons or front is None or front.pgrp != session.shell_pid:
            return None
        found = self.host.surroundings(front.pgrp)
        theirs = found is not None and found[1].get("MUXWIRE_NONCE") != session.nonce
        return self.replacing_shell() if theirs else None

    def find_shell(self, waited: float, folder: Path) -> ForegroundShell | None:
        """The listener where the shell is at no prompt of ours; None if nobody is known to listen.

        `folder` is the tab's own: what can read in it gets long commands as a file.
        """
        if (other := self.replaced_by()) is not None and takes_line(other, self.waits_for_input()):
            self.session.became(other)
        front, found = self.front(), self.judgement()
        # What is judged must be what is in front: between the two a command may begin or end.
        if front is None or not (found.waiting or found.hidden) or self.front() != front:
            return None
        host, now = self.host, time.monotonic()
        own = self.shell if front.pgrp == self.session.shell_pid else None
        modes, running, inner = self.tty_modes(), self.session.running, self._inner_shell(front)
        seen = InFront(
            front,
            found,
            own or host.shell_for(front.program),
            raw=modes is not None and not modes.icanon,
            script=own is None and host.runs_script(front.pgrp),
            reads=host.shares_folder(front.pgrp, folder),
            secret=self.asks_secret(),
            inner=inner,
            begun=running is not None and self._began(running, inner),
            prompted=reads_as_prompt(self.open_line()),
            editor=self.announces_editor(),
            silent=self.silent_for(now),
            waited=waited,
        )
        return find_listener(self.session, seen, now)

    def _inner_shell(self, front: Foreground) -> int:
        """The shell that waits for a line over a relay; 0 if none is seen to. Another machine does not say enough."""
        look = None if self.is_remote or front.program not in RELAYS else innermost(self.seen())
        inner = look.process(look.foreground) if look is not None else None
        if look is None or inner is None or self.host.runs_script(inner.pid):
            return 0
        found = judge(look, 0, self.shown(look))
        return inner.pid if takes_line(self.host.shell_for(inner.program), found.waiting) else 0

    def _began(self, execution: Execution, inner: int) -> bool:
        """Whether the shell `inner`, over a relay, was begun by `execution` in another shell there."""
        own = execution.shell_inner
        if not (execution.started and own and inner) or inner == own:
            return False
        look = innermost(self.seen())
        process = look.process(inner) if look is not None else None
        return look is not None and process is not None and descends(look, process, own)

    def silent_for(self, now: float) -> float:
        """Seconds since anything was written; or typed, if it is for what runs."""
        since, running = self.stream.last_output, self.session.running
        if running is not None and running.answered:
            since = max(since, self.pressed_at)
        return now - since

    def quiet(self, seconds: float = QUIET) -> bool:
        """Whether it was silent for so many seconds (`silent_for`)."""
        return self.silent_for(time.monotonic()) >= seconds

    def on_its_way(self) -> bool:
        """Whether the tab's shell is sure to come to its prompt by itself."""
        drawn = max(self.session.prompt_end, self.session.drawn_at)
        return on_its_way(self.session, self.stream.written(drawn))

    def shell_sleeps(self) -> str:
        """How the tab's own shell reads the tty while it sleeps for keys: `editor` or `line`; "" if it does not sleep
        for them, or that is not known.

        Only that process is examined: to look for its group takes some ms, and this is asked again and again.
        """
        modes, shell = self.host.tty_modes(self.tty), self.shell
        if modes is None or shell is None:
            return ""
        no_editor = not shell.private_key and shell.name != "ksh"
        if modes.icanon and not (self.host.sees_waits or (no_editor and self.session.at_prompt)):
            return ""
        if not self.host.sleeps_for_keys(self.session.shell_pid, polls=not modes.icanon or shell.name == "ash"):
            return ""
        if self.host.foreground_pgrp(self.leader_pid) != self.session.shell_pid:
            return ""
        return "line" if modes.icanon else "editor"

    def mend_line_modes(self, shell: Shell) -> None:
        """Where a program left the tty raw, give it its line modes back for a shell that has no editor to do so.

        dash never has one; ksh has none on such a tty, and reads it plainly. Its editor polls, and clears ISIG only.
        """
        if shell.name not in ("dash", "ksh"):
            return
        modes = self.host.tty_modes(self.tty)
        raw = modes is not None and not modes.icanon
        if shell.name == "dash":
            raw = raw or self.session.repair_tty
        elif raw and modes is not None and modes.opost and not modes.isig:
            reader = self.host.foreground_pgrp(self.leader_pid)  # the shell itself: to look for others takes a ms
            raw = self.host.sees_waits and reader is not None and self.host.sleeps_for_keys(reader, polls=False)
        if raw:
            self.host.restore_line_modes(self.tty)

    def awaited(self, execution: Execution) -> Waiting:
        """What a command that runs waits for, as far as that is visible; "" for nothing."""
        found = self.judgement()  # once: each look costs, and all of this is said of one moment
        if hidden := self._hidden_waiting(found):
            return hidden
        if execution.level > 1:  # the tab's own rules know nothing of a foreign shell
            return found.waiting
        # `editor`: a `read` of the tab's own shell, or the shell itself at a prompt whose mark is not here yet.
        state = tab_state(self.session, self, self._judged_at, waits=lambda: found.waiting)
        return found.waiting if state == "interactive" else ""

    def hidden_waiting(self) -> Waiting:
        """What is waited for inside of what cannot be seen into, as far as its text proves it."""
        return self._hidden_waiting(self.judgement())

    def _hidden_waiting(self, found: Judgement) -> Waiting:
        if not found.hidden:
            return ""
        return hidden_waiting(found, self.open_line(), editor=self.announces_editor())

    def falls_silent(self) -> bool:
        """Whether a text that reads like a question, or a program's screen, has stood there for long unchanged, and it
        cannot be seen whether a program waits.
        """
        return self.quiet(SILENT_SECONDS) and self.may_ask() and self.judgement().hidden

    def may_ask(self) -> bool:
        """Whether a text that reads like a question stands on the cursor's line, or a program has drawn a screen."""
        return asks(self.open_line()) or self.has_screen()

    def asks_secret(self) -> bool:
        """Whether the text on the cursor's line asks for a secret."""
        return asks_secret(self.open_line())

    def arguments(self, pid: int) -> list[str]:
        return self.host.arguments(pid)

    def prompt_again(self, execution: Execution) -> int:
        """Where the next prompt of a nested shell begins that silently gave `execution` up; -1 if it did not."""
        if execution.level == 1 or not execution.started or not self.quiet(DRAWN):
            return -1
        front = self.host.foreground(self.leader_pid)
        if front is None or front.pgrp != execution.shell_pgrp or not self.may_wait():
            return -1
        if self._began(execution, self._inner_shell(front)):
            return -1
        return self.prompt_after(execution, execution.begin)

    def prompt_after(self, execution: Execution, begin: int) -> int:
        """Where the prompt begins at which the output from `begin` on ends; -1 if it ends with none."""
        end = self.stream.written_end
        tail = self.stream.ring.read(max(begin, end - PROMPT_REACH), end)
        return prompt_after(execution, tail, end, silent=self.quiet())

    def check_width(self, columns: int) -> None:
        """Refuse to type into a pane that is so narrow that its shell could die of it: TabUnavailable."""
        if columns < COLUMNS_MIN:
            what = f"the pane is {columns} columns wide, and shells crash when a line is typed into fewer than"
            raise TabUnavailable(
                f"{what} {COLUMNS_MIN}",
                state=self.tab_state(),
                remedy="make it wider: close a pane next to it, or resize_pane",
            )

    def refusal(self) -> TabUnavailable:
        """Why the pane takes no command now."""
        state, front = self.tab_state(), self.front()
        heard = self.session.preexec_offset > self.stream.live_from  # else it was read later, and has no time
        seen = Refused(
            state,
            program=front.program if front is not None else "",
            few=self.short_of_files(),
            lacking=lacking(),
            heard=heard,
            unanswered="" if self.reachable else self.host.prefix[:-1],
            asks=state == "starting" and self.waits_for_input() in ("line", "password"),
            edits=state == "busy" and self.waits_for_input() == "editor" and self.reads(),
        )
        return refusal(self.session, seen, time.monotonic())

    def reads(self) -> bool:
        """Whether the foreground sleeps until something is typed."""
        return reads(self.seen(near=True))
