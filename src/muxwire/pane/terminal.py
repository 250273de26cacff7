"""The terminal of one living pane: what the kernel says of its processes, and what stands on it.

A look is one moment. What is judged from it holds for that moment only: it is taken anew before something is decided.
"""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, final

import anyio

from muxwire.host.host import answer_seconds
from muxwire.shell.listener import PROMPT_REACH, QUIET, SILENT_SECONDS, hidden_waiting
from muxwire.shell.look import (
    STILL_SECONDS,
    Front,
    Judgement,
    PaneLook,
    Rest,
    Shown,
    asks,
    asks_secret,
)
from muxwire.shell.session_table import ShellState
from muxwire.vt.screens import on_alternate
from muxwire.vt.text import strip_ansi

if TYPE_CHECKING:
    from muxwire.pane.state import PaneState
    from muxwire.shell import Shell
    from muxwire.shell.look import Foreground, TtyModes, Waiting

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


@final
class Terminal:
    def __init__(self, pane: PaneState) -> None:
        self._pane = pane
        self.host, self.leader_pid, self.tty, self.session = pane.host, pane.leader_pid, pane.tty, pane.session
        self._answered_at = 0.0  # when the newest answer of another machine came
        self._look, self._looked_at = PaneLook(pane.leader_pid, None, 0), float("-inf")  # the newest of all processes
        self._rest = Rest()

    async def refresh(self) -> None:
        """Bring what is known of its processes and its terminal up to date, before something is decided by it."""
        if self._pane.asked_at <= self._pane.pressed_at or time.monotonic() - self._answered_at >= NEW_SECONDS:
            await self._ask()

    async def _ask(self) -> None:
        asked_at = time.monotonic()
        if await self.host.refresh(self.leader_pid, self.tty):
            self._pane.asked_at, self._answered_at = asked_at, time.monotonic()

    async def look(self, *, wide: bool = False) -> PaneLook | None:
        """As `refresh`, and take a look at all processes, which takes some ms with many of them: returned if it was
        taken.

        Not if the leaders alone show what is waited for, unless it is to be `wide`; and not on another machine.
        """
        if not self.host.is_local:
            await self._ask()
        elif wide or not self._decided(self.seen(near=True)):
            self._look = await self.host.look_all(self.leader_pid, self.tty)
            self._looked_at = time.monotonic()
            return self._look
        return None

    def _decided(self, look: PaneLook) -> bool:
        """Whether that look shows what is waited for."""
        return bool(look.judge(self.session.shell_pid, self.shown(look)).waiting)

    async def refresh_soon(self) -> None:
        """As `refresh`, for a call whose time may be over: without an answer soon, what was known stays."""
        with anyio.move_on_after(answer_seconds(self.host)):
            await self.refresh()

    def front(self) -> Foreground | None:
        return self.host.foreground(self.leader_pid, supervised=self._pane.supervised)

    def seen(self, *, near: bool = False, age: float = NEW_SECONDS) -> PaneLook:
        """What the kernel says now, or said so many seconds ago; of another machine the newest answer."""
        if near or not self.host.is_local:
            return self.host.look(self.leader_pid, self.tty, near=near)
        running = self.session.running
        typed = running.typed_time if running is not None else 0.0
        if self._looked_at < typed or time.monotonic() - self._looked_at > age:
            self._look = self.host.look(self.leader_pid, self.tty)
            self._looked_at = time.monotonic()
        return self._look

    def judgement(self, look: PaneLook | None = None, age: float = NEW_SECONDS) -> Judgement:
        """What is waited for, by the kernel and by what stands on the screen.

        Nothing where it cannot be asked, or where what was known is older than what runs. `age`: seconds that the look
        at all processes may be old.
        """
        running = self.session.running
        old = not self.host.is_local and running is not None and self._pane.asked_at < running.typed_time
        if old or not self._pane.reachable:
            return Judgement()
        near, shell = self.seen(near=True), self.session.shell_pid
        found = near.judge(shell, self.shown(near))
        if found.waiting:
            return found
        if near.foreground == shell and running is None:
            return found  # the shell itself computes: no other process is in front
        typed = running.typed_time if running is not None else 0.0
        if look is None or look.seen_at <= max(typed, self._pane.pressed_at):
            look = self.seen(age=age)
        if look.foreground != near.foreground:
            return found  # what was seen of all processes is older than what is in front
        return look.judge(shell, self.shown(look, whole=self.host.is_local))

    def waits_near(self) -> Waiting:
        """What is waited for, by the leaders of the session and of the foreground group alone: a tenth of the work."""
        near = self.seen(near=True)
        return near.judge(self.session.shell_pid, self.shown(near)).waiting

    def waits_for_input(self) -> Waiting:
        return self.judgement().waiting

    def waits_lately(self) -> Waiting:
        """As `waits_for_input`; that a command waits for nothing may have been seen up to RECENT_SECONDS ago."""
        running = self.session.running
        # What has just written a question may be on its way to the read of the answer.
        untouched = self._looked_at > max(self._pane.stream.last_output + QUIET, self._pane.pressed_at)
        if running is not None and running.started and untouched and not self.judgement(age=RECENT_SECONDS).waiting:
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
        if not any(sleep.may_be_for_keys for one in look.processes for sleep in one.sleeps):
            return Shown()
        if whole:
            self._rest = self._rest.after(look)
        still = whole and self._rest.lasts and self.quiet(STILL_SECONDS)
        editor = still and self.announces_editor()
        return Shown.of(self.open_line(), screen=self.has_screen(), still=still, editor=editor)

    def has_screen(self) -> bool:
        """Whether a program draws a screen of its own: on the alternate screen, or with the cursor hidden."""
        ring = self._pane.stream.ring
        return self.on_alternate() or ring.rfind(_CURSOR_OFF, ring.start) > ring.rfind(_CURSOR_ON, ring.start)

    def on_alternate(self) -> bool:
        """Whether the newest output has switched to the alternate screen."""
        ring = self._pane.stream.ring
        known = self._pane.stream.screens.at(ring.end)
        return bool(on_alternate(ring.read(ring.start)) if known is None else known)

    def announces_editor(self) -> bool:
        """Whether a line editor has said that it is on, and not that it is off: readline, zsh and others do."""
        ring, since = self._pane.stream.ring, self.session.preexec_offset
        since = max(since, self.session.running.begin if self.session.running is not None else since)
        return ring.rfind(EDITOR_SIGN, since) > ring.rfind(EDITOR_LEFT, since)

    def open_line(self) -> str:
        """The text on the cursor's line, which was not ended; of one that was begun anew, what was drawn last."""
        parts = strip_ansi(self.last_line().decode("utf-8", "replace")).split("\r")
        return next((part for part in reversed(parts) if part.strip()), "")

    def last_line(self) -> bytes:
        """What stands on the cursor's line, after the last mark (or title, whose end is the same byte)."""
        stream = self._pane.stream
        return stream.written(stream.end - PROMPT_REACH).rpartition(b"\n")[2].rpartition(b"\x07")[2]

    @property
    def sees_waits(self) -> bool:
        return self.host.sees_waits and self._pane.reachable

    def foreground_group(self) -> int | None:
        return self.host.foreground_pgrp(self.leader_pid)

    def group_exists(self, group: int) -> bool:
        return self.host.group_exists(group)

    def front_for(self, name: str, spared: int) -> Front:
        """Who is in front, and would get the signal of that name; `spared` is a nested shell's group, or 0."""
        group, shell = self.foreground_group(), self.session.shell_pid
        # A process that a nested shell has just forked has that shell's signal settings at first.
        takes = group is None or self.host.takes(group, signal.Signals[name], spared or shell)
        asked = self.host.is_local and self.host.sees_waits and self._pane.stop_target(spared).is_program(group)
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
        return (self._pane.shell if front.pgrp == self.session.shell_pid else None) or self.host.shell_for(
            front.program
        )

    def replacing_shell(self) -> Shell | None:
        """The shell that a program in front is, whatever runs it; None if it runs a script."""
        front = self.front()
        return None if front is None or self.host.runs_script(front.pgrp) else self.host.shell_for(front.program)

    def is_replaced(self) -> bool | None:
        """Whether `exec` has put another program in the place of the tab's own shell; None if that cannot be known.

        It is known by its environment: only the tab's own shell was started with the nonce, which it does not export.
        """
        found = self.host.surroundings(self.session.shell_pid)
        return None if found is None else found[1].get("MUXWIRE_NONCE") != self.session.nonce

    def replaced_by(self) -> Shell | None:
        """The shell that has taken the place of the tab's own by a line that was typed, as `exec zsh`."""
        session = self.session
        persons = session.state is ShellState.ACCEPTED and session.running is None
        return self.replacing_shell() if persons and self.shell_in_front() and self.is_replaced() else None

    def silent_for(self, now: float) -> float:
        """Seconds since anything was written or typed."""
        return now - max(self._pane.stream.last_output, self._pane.pressed_at)

    def quiet(self, seconds: float = QUIET) -> bool:
        """Whether it was silent for so many seconds (`silent_for`)."""
        return self.silent_for(time.monotonic()) >= seconds

    def shell_sleeps(self) -> str:
        """How the tab's own shell reads the tty while it sleeps for keys: `editor` or `line`; "" if it does not sleep
        for them, or that is not known.

        Only that process is examined: to look for its group takes some ms, and this is asked again and again.
        """
        modes, shell = self.host.tty_modes(self.tty), self._pane.shell
        if modes is None or modes.unread or shell is None:
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
            self.host.restore_line_modes(self.tty, self.leader_pid)

    def hidden_waiting(self, look: PaneLook | None = None, *, found: Judgement | None = None) -> Waiting:
        """What is waited for inside of what cannot be seen into, as far as its text proves it.

        It is judged by that look, unless it was `found` by a judgement already.
        """
        return hidden_waiting(found or self.judgement(look), self.open_line(), editor=self.announces_editor())

    def falls_silent(self, look: PaneLook | None = None) -> bool:
        """Whether a text that reads like a question, or a program's screen, has stood there for long unchanged, and it
        cannot be seen whether a program waits.
        """
        return self.quiet(SILENT_SECONDS) and self.may_ask() and self.judgement(look).hidden

    def may_ask(self) -> bool:
        """Whether a text that reads like a question stands on the cursor's line, or a program has drawn a screen."""
        return asks(self.open_line()) or self.has_screen()

    def asks_secret(self) -> bool:
        """Whether the text on the cursor's line asks for a secret."""
        return asks_secret(self.open_line())

    def reads(self) -> bool:
        """Whether the foreground sleeps until something is typed."""
        return self.seen(near=True).reads
