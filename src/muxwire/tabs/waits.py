"""Waiting for a tab: text, silence, a prompt, a bell, the end. Evaluated as bytes arrive.

Only whether the program asks something is looked at while nothing comes, every 3 seconds. What is matched is what a
person would have seen: `searches.py` looks for it in the text, and on the screen.
"""

from __future__ import annotations

import math
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import anyio

from muxwire.errors import InvalidArgument, MuxwireError, ungrouped
from muxwire.host.patterns import Pattern, checked
from muxwire.ids import LAST_USED, USED_BEFORE
from muxwire.pane.output import shown_text, why_now
from muxwire.results import WaitOutcome
from muxwire.shell import examine
from muxwire.shell.listener import SILENT_SECONDS
from muxwire.tabs.attached import attached
from muxwire.tabs.hand_over import secret_note, with_note
from muxwire.tabs.searches import SLICE, TAIL_CHARACTERS, Beginning, Found, ScreenSearch, TextSearch
from muxwire.verbs.catalogue import Wait
from muxwire.vt.bells import BellScanner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.errors import State
    from muxwire.pane.stream import PaneStream
    from muxwire.shell.execution import Execution
    from muxwire.tabs.tab import Tab
    from muxwire.verbs.catalogue import Conditions
    from muxwire.vt.drawn import Picture
    from muxwire.vt.readable import Size


_TAIL_BYTES = 4 * TAIL_CHARACTERS
# A wait that is over does not wait longer than that for what its screen shows.
_ROWS_WITHIN = 0.5
# Seconds without output, after which a program that answers has done so: what a wait without a condition is for.
SILENCE_SECONDS = 0.5
_STOOD_THERE = "the text stands on the screen, and stood there when the wait began: only a new one counts"


@final
@dataclass(frozen=True, slots=True)
class Wanted:
    """What is waited for: any one of these is enough."""

    pattern: Pattern | None
    idle: float | None
    exit: bool
    prompt: bool
    bell: bool
    gone: bool = False
    stable: float | None = None

    @classmethod
    async def of(cls, asked: Conditions) -> Wanted:
        """What is wanted, silence if nothing is named. InvalidArgument, as for a regex that matches the empty text."""
        if asked.until and asked.regex:
            raise InvalidArgument("until and regex are both given", remedy="put both into one regex: a|b")
        if asked.gone and not (asked.until or asked.regex):
            raise InvalidArgument("gone needs a text or a regex", remedy="name it with until or regex")
        pattern = Pattern(asked.regex, re.MULTILINE) if asked.regex else None
        pattern = Pattern(re.escape(asked.until)) if asked.until else pattern
        if pattern is not None:
            await checked(pattern)
        ends = (asked.exit, asked.prompt, asked.bell) if isinstance(asked, Wait) else (False, False, False)
        idle = asked.idle or (None if pattern or asked.stable or any(ends) else SILENCE_SECONDS)
        return cls(pattern, idle, *ends, asked.gone, asked.stable or None)


@final
class Watch:
    """One tab that is waited for."""

    def __init__(
        self, tab: Tab, wanted: Wanted, from_byte: int | None, *,
        command: Execution | None = None, named: str = "", before: Picture | None = None, typed: bool = False,
    ) -> None:  # fmt: skip
        """With `command` only what is in its output counts. `named`: what the outcome calls the tab; "" for its key.

        `before`: the screen at `from_byte`, if it is known. `typed`: keys were sent just now.
        """
        self.tab = tab
        self.named = named or tab.key
        self._command = command
        self._wanted = wanted
        self._pane = tab.pane
        self._stream = tab.pane.stream
        self._entry = self._stream.end
        self._entered = time.monotonic()
        self._after = -1 if from_byte is None else from_byte
        self._told = self._after if typed else self._stream.shown_end  # what asks there is known to the caller
        start = self._start = current_start(tab) if from_byte is None else from_byte
        running = tab.pane.session.running
        is_due = from_byte is None and running is not None and not running.started
        beginning = Beginning(tab.pane, start, running if is_due else command)
        self._screen: ScreenSearch | None = None
        self._search: TextSearch | None = None
        if wanted.pattern is not None or wanted.stable is not None:
            self._screen = ScreenSearch(tab, wanted, beginning, before=before, keys=typed)
            if wanted.pattern is not None and not wanted.gone:
                self._search = TextSearch(tab.pane, wanted.pattern, beginning, self._screen.is_new)
        self._bells = BellScanner(self._entry if from_byte is None else from_byte) if wanted.bell else None

    async def run(self) -> WaitOutcome:
        """Wait until something wanted is there, or nothing can come any more, or not before an answer (`asks`)."""
        at_entry, asks = True, ""
        while True:
            end = self._stream.end
            found = await self.check(at_entry=at_entry)
            at_entry = False
            if found is not None:
                return found
            if self._over or self._stream.end != end:
                continue  # that came while another kind of thing was looked for
            if asks:
                return await self.outcome("asks", self.named)
            with anyio.move_on_after(min(self.until_due(), SILENT_SECONDS)) as timer:
                await self._stream.changed()
            if timer.cancelled_caught and self.until_idle() <= 0:
                return await self._met("idle", self._stream.end, at_entry=False)
            asks = await self.asks()

    async def asks(self) -> Literal["asks", ""]:
        """Whether what runs has begun to wait for an answer: that is proved, it shows what reads like a question, and
        nothing came since for a while.

        A proof alone does not end a wait: a server reads keys too while it works, and its console draws its prompt anew
        below each line. Nor does what the caller was told before, or could know when the wait began: it may be a wait
        for the person who will answer.
        """
        pane, wanted, end = self._pane, self._wanted, self._stream.shown_end
        running, terminal, port = pane.session.running, pane.terminal, self.tab.runner.port
        known = end <= self._told if running is None else running.waits_at(end)
        questions = terminal.quiet(SILENT_SECONDS) and terminal.may_ask() and not terminal.has_screen()
        if known or not questions or wanted.idle or wanted.stable or pane.session.at_prompt:
            return ""
        found = await port.within(pane.answer_seconds, examine.awaits_input(port))
        return "asks" if found == "met" and pane.tab_state() == "interactive" else ""

    async def check(self, *, at_entry: bool, once: bool = False) -> WaitOutcome | None:
        """What is wanted, if it is there; or that nothing can come any more. `once`: there is no other check."""
        over = self._over
        found = await self._found(over=over, at_entry=at_entry, once=once)
        return await self.outcome("closed", self.named) if found is None and over else found

    @property
    def _over(self) -> bool:
        return self._pane.session.dead or (self._command is not None and not self._command.running)

    def until_idle(self) -> float:
        """Seconds until the silence that is wanted has lasted long enough."""
        if self._wanted.idle is None:
            return math.inf
        # Silence counts from this call on: a program that was silent before may just not have begun to write.
        return max(self._entered, self._stream.last_output) + self._wanted.idle - time.monotonic()

    def until_due(self) -> float:
        """Seconds until something is to be looked at though no byte has come."""
        return min(self.until_idle(), self._screen.until_due() if self._screen is not None else math.inf)

    async def _found(self, *, over: bool, at_entry: bool, once: bool) -> WaitOutcome | None:
        if found := await self._in_text(over=over):
            return await self._met(found.text, found.end, at_entry=found.end <= self._entry, shown=found.text)
        if self._screen is not None and not over:
            found = await self._screen.advance(once=once)
            # The bytes of what a screen shows have come by now. If the match is in their text, its exact end is known.
            if found is not None or (self._search is not None and self._search.pending):
                found = await self._in_text(over=over) or found
            if found is not None:
                at_entry = found.end <= self._entry
                return await self._met(found.text, found.end, at_entry=at_entry, shown=self._screen.shown)
        if self._bells is not None and (bell := await self._bell(self._bells)):
            return await self._met("bell", bell, at_entry=bell <= self._entry)
        if self._wanted.prompt and self._pane.session.at_prompt and self._pane.session.prompt_end > self._after:
            return await self._met(
                "prompt", self._stream.end, at_entry=at_entry, exit_code=self._pane.session.status_at_prompt
            )
        if self._wanted.exit and over:
            status = self._pane.session.exit_status
            match = "exit" if status is None else f"exit {status}"
            return await self._met(match, self._stream.end, at_entry=at_entry, exit_code=status)
        return None

    async def _in_text(self, *, over: bool) -> Found | None:
        found = await self._search.advance(final=over) if self._search is not None else None
        counts = found is not None and (
            self._command is None or self._command.running or found.end <= self._command.end
        )
        return found if counts else None

    async def _bell(self, bells: BellScanner) -> int:
        while bells.offset < self._stream.end:
            data, lost = await self._stream.read(bells.offset, min(self._stream.end, bells.offset + SLICE))
            bells.offset += lost
            rung = next((signal.first for signal in bells.feed(data) if signal.kind == "bell"), 0)
            if rung:
                return rung
        return 0

    async def _met(
        self, match: str, next_byte: int, *, at_entry: bool, exit_code: int | None = None, shown: str = ""
    ) -> WaitOutcome:
        """Met by `match`. `shown`: its text, for a match that was drawn and is not in the output at `next_byte`."""
        with anyio.CancelScope(shield=True):  # the end of the caller's time does not undo a match
            last = await around(self._stream, self._start, next_byte, self.tab.size)
            on_screen = await self._on_screen_now()
        if shown and match not in last:
            last = self._screen.shown if self._screen is not None and self._screen.shown else shown
        return WaitOutcome(
            outcome="met",
            which=self.named,
            match=match,
            exit_code=exit_code,
            matched_at_entry=at_entry,
            next_byte=next_byte,
            tail=last,
            **on_screen,
        )

    async def _on_screen_now(self) -> dict[str, Any]:
        """What `screen` of the tab says; nothing also where tmux does not answer soon."""
        with anyio.move_on_after(_ROWS_WITHIN), suppress(MuxwireError):
            return await self.tab.screen()
        return {}

    async def outcome(self, outcome: Literal["timed_out", "closed", "asks"], which: str = "") -> WaitOutcome:
        state, note = await left_at(self.tab) if which and outcome != "closed" else (None, "")
        stood = self._screen is not None and self._screen.stood_there and not self._wanted.gone
        end = self._stream.end
        seen = await shown_text(self._stream, max(self._start, end - _TAIL_BYTES), end, self.tab.size)
        return WaitOutcome(
            outcome=outcome,
            which=which,
            next_byte=self._stream.end,
            tail=seen.text[-TAIL_CHARACTERS:],
            state=state,
            note=with_note(note, _STOOD_THERE if stood else ""),
            **(await self._on_screen_now() if which else {}),
        )


async def left_at(tab: Tab, *, examined: bool = False) -> tuple[State, str]:
    """The state of a tab at the end of a wait, and a note on it: what runs is examined as for a result, if it was not.

    It was `examined` just now: then only what is known of it is said.
    """
    session, running = tab.pane.session, tab.pane.session.running
    if not examined and not (session.at_prompt and session.has_preexec_mark):  # else the marks alone give the state
        await (tab.pane.terminal.refresh_soon() if running is None else examine.for_result(tab.runner.port, running))
    notes = why_now(running, tab.pane)[1] if running is not None else []
    return tab.state, "; ".join(filter(None, (*notes, secret_note(tab.pane, tab.server, tab.key))))


def current_start(tab: Tab) -> int:
    """Where the output of the last command of ours begins, or the answer to the last input, whichever is later.

    If a line that somebody else typed after both runs now: where the output of that line, or its prompt, begins.
    """
    pane = tab.pane
    command = pane.session.running or pane.session.current
    start = pane.session.last_input.offset
    if command is not None:
        start = max(start, command.begin if command.started else command.typed_at)
    runs_another = not pane.session.at_prompt and pane.session.running is None and pane.session.prompt_end > start
    return max(pane.session.prompt_end, pane.session.preexec_offset, 0) if start < 0 or runs_another else start


async def around(stream: PaneStream, start: int, offset: int, size: Size) -> str:
    """The text from `start` to an offset, where a match ends, and some of what came after it."""
    before = await shown_text(stream, max(start, offset - _TAIL_BYTES), offset, size)
    behind = await shown_text(stream, offset, min(stream.end, offset + _TAIL_BYTES), size)
    rest = behind.text[: TAIL_CHARACTERS // 2]
    return before.text[-(TAIL_CHARACTERS - len(rest)) :] + rest


async def wait_for(
    tabs: Sequence[Tab],
    wanted: Wanted,
    *,
    from_byte: int | None,
    timeout: float,
    names: Sequence[str] = (),
) -> WaitOutcome:
    """Wait for the first of `tabs` that has what is wanted; `closed` if none of them can have it any more.

    `names`: what the caller calls the tabs.
    """
    _check(tabs, wanted, from_byte)
    async with attached(*tabs):
        named = zip(tabs, names or ("",) * len(tabs), strict=True)
        watches = [
            Watch(tab, wanted, from_byte, named="" if name in (LAST_USED, USED_BEFORE) else name) for tab, name in named
        ]
        return await _first(watches, timeout)


async def _first(watches: Sequence[Watch], timeout: float) -> WaitOutcome:
    which = watches[0].named if len(watches) == 1 else ""
    if timeout == 0:  # one check, which no time limit cuts short
        seen = [await watch.check(at_entry=True, once=True) for watch in watches]
        over = all(outcome is not None for outcome in seen)
        found = next((outcome for outcome in seen if outcome is not None and outcome.outcome == "met"), None)
        return found or await watches[0].outcome("closed" if over else "timed_out", which)
    met: list[WaitOutcome] = []
    with anyio.move_on_after(timeout) as limit:
        if len(watches) == 1:
            return await watches[0].run()

        async def run(watch: Watch) -> None:
            outcome = await watch.run()
            if outcome.outcome != "closed":
                met.append(outcome)
                tasks.cancel_scope.cancel()

        with ungrouped():
            async with anyio.create_task_group() as tasks:
                for watch in watches:
                    tasks.start_soon(run, watch)
        if met:
            return met[0]
    return await watches[0].outcome("timed_out" if limit.cancelled_caught else "closed", which)


def _check(tabs: Sequence[Tab], wanted: Wanted, from_byte: int | None) -> None:
    if not tabs:
        raise InvalidArgument("no tab to wait for", remedy="name one at least; `list_tabs` shows them")
    if from_byte is not None and len(tabs) > 1:
        raise InvalidArgument("from_byte is an offset in one tab", remedy="leave it out, or wait for one tab")
    if from_byte is not None and not 0 <= from_byte <= tabs[0].next_byte:
        raise InvalidArgument(
            f"the output has offsets 0 to {tabs[0].next_byte}, not {from_byte} (from_byte)",
            remedy="use next_byte of an earlier result",
        )
    if wanted.prompt and (without := [tab.key for tab in tabs if tab.pane.shell is None]):
        which = "this tab" if len(tabs) == 1 else without[0]
        raise InvalidArgument(f"{which} runs no shell that marks its prompts", remedy="wait for the prompt's text")
