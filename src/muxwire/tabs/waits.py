"""Waiting for a tab: text, silence, a prompt, a bell, the end. Evaluated as bytes arrive; nothing here polls.

What is matched is what a person would have seen: marks, our typed lines and escape sequences are cut, CR LF is LF, as
is the LF CR of a program in raw mode (Python's prompt from 3.13 on).
A line that the terminal wrapped is one line here, since programs do not write the wrap.

What is drawn with cursor moves is matched on the screen, as tmux shows it (`ScreenSearch`): a picture is asked for when
something has changed the screen, one at a time, and `vt/drawn.py` says what is new on it. A program that only writes
lines costs one picture, at the wait's beginning. Where a program goes up and draws its rows once more, as Ink does,
the screen says whether a match in the output is new.
"""

from __future__ import annotations

import codecs
import copy
import math
import re
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, final

import anyio
import anyio.lowlevel

from muxwire.errors import CommandError, InvalidArgument, MuxwireError, TabUnavailable
from muxwire.host.patterns import Pattern, checked, search
from muxwire.ids import LAST_USED, USED_BEFORE
from muxwire.pane.keyboard import typed_from
from muxwire.pane.output import shown_text
from muxwire.results import WaitOutcome
from muxwire.shell.marks import INTRODUCER
from muxwire.shell.session import echo_end
from muxwire.shell.tab_state import typed_behind
from muxwire.shell.visible import LOOKAHEAD, LOOKBEHIND, known_from, visible_range, visible_slice
from muxwire.tabs.attached import attached
from muxwire.verbs.catalogue import Wait
from muxwire.vt.bells import BellScanner
from muxwire.vt.drawn import NewMatches
from muxwire.vt.readable import needs_playing
from muxwire.vt.text import AnsiStripper

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.pane.state import PaneState
    from muxwire.pane.stream import PaneStream
    from muxwire.shell.execution import Execution
    from muxwire.tabs.tab import Tab
    from muxwire.verbs.catalogue import Conditions
    from muxwire.vt.drawn import Picture, Span
    from muxwire.vt.readable import Size


# Raw bytes that are examined in one go: about a ms of work, then others get their turn.
SLICE = 64 << 10
# A match may begin this many characters before the bytes that complete it: a screen of 200 by 50.
OVERLAP = 10_000
# What comes back of the last output: enough to see why a wait failed.
TAIL_CHARACTERS = 600
_TAIL_BYTES = 4 * TAIL_CHARACTERS
# A wait that is over does not wait longer than that for what its screen shows.
_ROWS_WITHIN = 0.5
# Seconds without output, after which a program that answers has done so: what a wait without a condition is for.
SILENCE_SECONDS = 0.5


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
    def of(cls, asked: Conditions) -> Wanted:
        """Return what is wanted, silence if nothing is named; its regex is still to be `checked`. InvalidArgument."""
        if asked.until and asked.regex:
            raise InvalidArgument("until and regex are both given", remedy="put both into one regex: a|b")
        if asked.gone and not (asked.until or asked.regex):
            raise InvalidArgument("gone needs a text or a regex", remedy="name it with until or regex")
        pattern = Pattern(asked.regex, re.MULTILINE) if asked.regex else None
        pattern = Pattern.of_text(asked.until) if asked.until else pattern
        ends = (asked.exit, asked.prompt, asked.bell) if isinstance(asked, Wait) else (False, False, False)
        idle = asked.idle or (None if pattern or asked.stable or any(ends) else SILENCE_SECONDS)
        return cls(pattern, idle, *ends, asked.gone, asked.stable or None)

    async def checked(self) -> Wanted:
        """Return this; InvalidArgument if its regex is not valid, or matches the empty text."""
        if self.pattern is not None:
            await checked(self.pattern)
        return self


@final
@dataclass(frozen=True, slots=True)
class Found:
    text: str
    end: int


@final
class TextSearch:
    """Looks for a pattern in the visible text of a pane from an offset on, each byte once but for an overlap.

    Where the offset is that of typed keys, their echo is not examined. With `awaited`, a command that was typed,
    nothing is examined before its output begins: what stands in its text is no answer.
    """

    def __init__(
        self, pane: PaneState, pattern: Pattern, start: int, *, awaited: Execution | None = None,
        drawn_again: Callable[[int], Awaitable[bool | None]] | None = None,
    ) -> None:  # fmt: skip
        """`drawn_again`: whether a match that ends at an offset was on the screen before; None: not known yet."""
        self._pane = pane
        self._drawn_again = drawn_again
        self._stream = pane.stream
        self._pattern = pattern
        self._settled = start  # the raw offset up to which `_text` will not change
        self._text = ""
        self._cut = False  # whether `_text` has lost its beginning
        self._drawn_to = 0  # up to there, what matches in `_text` was drawn at the prompt
        self._awaited = awaited
        typed = pane.session.last_input
        self._typed = self._ahead = typed if start == typed.offset and typed.text else None
        self._stripper = AnsiStripper()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def advance(self, *, final: bool) -> Found | None:
        """Examine all output that has come; return the match if there is one."""
        if self._awaited is not None:
            if self._awaited.running and not self._awaited.started:
                return None
            self._go_on_from(self._awaited.begin)
            self._awaited = None
        ran = typed_behind(self._pane.session, self._typed)
        if ran is not None:
            if not ran.started:
                return None
            self._settled = max(self._settled, ran.begin)
        while True:
            if (
                self._typed is not None
                and self._typed.at_prompt
                and self._pane.session.preexec_offset > self._typed.offset
            ):
                self._go_on_from(self._pane.session.preexec_offset)
            stop = min(self._stream.end, self._settled + SLICE + LOOKAHEAD)
            begin = max(0, self._settled - LOOKBEHIND)
            data, lost = await self._stream.read(begin, stop)
            base = begin + lost
            self._settled = max(self._settled, base)
            known = known_from(data, self._settled - base, 0)
            at_end = stop == self._stream.end
            found = await self._examine(data[known:], base + known, stop, last=at_end, final=final and at_end)
            if found or at_end:
                return found
            await anyio.lowlevel.checkpoint()

    async def _examine(self, data: bytes, base: int, stop: int, *, last: bool, final: bool) -> Found | None:
        start = self._settled
        before = copy.copy(self._stripper), self._decoder.getstate(), len(self._text)
        piece, self._settled = visible_slice(data, base, start, SLICE, final=final, typed_from=typed_from(self._pane))
        self._text += _lines(self._decoder.decode(self._stripper.feed(piece)), behind=self._text)
        text = self._text
        if last and self._settled < stop:  # may still turn out to be a line of muxwire: searched now, and again later
            rest = visible_range(data, base, self._settled, stop, grows=not final, typed_from=typed_from(self._pane))
            text += _lines(copy.copy(self._stripper).feed(rest).decode("utf-8", "replace"), behind=text)
        begin = self._echo_end(text) if self._typed is not None else int(self._cut)
        if begin is None and not final:
            return None
        at = max(begin or 0, self._drawn_to)
        # ^ holds after a line end, not at a cut.
        match = await search(self._pattern, text, at, at_line_end=at > 0 and text[at - 1] == "\n")
        old = 0  # the end of what was drawn again
        while match is not None:
            first, after = match
            end = self._raw_end(data, base, start, stop, after, before)
            if self._is_drawn_at_prompt(text, first, after, end):
                self._drawn_to = min(after, len(self._text))
            else:
                again = False if final or self._drawn_again is None else await self._drawn_again(end)
                if again is False:
                    return Found(text[first:after], end)
                old = after if again else old
            match = await search(self._pattern, text, after, at_line_end=False)
        if self._typed is not None and (begin or 0) <= len(self._text):
            self._typed = None
            self._cut_to(begin or 0)
            old -= max(0, (begin or 0) - 1)
        self._cut_to(old)
        if len(self._text) > OVERLAP:
            self._cut_to(len(self._text) - OVERLAP + 1)
        return None

    def _cut_to(self, end: int) -> None:
        """Forget the text up to one character before `end`, which has been examined; 0: none of it."""
        if end > 0:
            self._text, self._cut = self._text[end - 1 :] or " ", True
            self._drawn_to = max(0, self._drawn_to - end + 1)

    def _echo_end(self, text: str) -> int | None:
        """Where in `text` the answer to what was typed begins; None if all of it may still be echo."""
        assert self._typed is not None
        if len(text) > OVERLAP:
            return 0
        shell = self._pane.shell
        editor = self._typed.at_prompt and shell is not None and shell.has_accept_mark and "\n" in self._typed.text
        # A line editor may colour and complete what it shows: wait for the end of its line, or a mark. Both come soon.
        unended = "\n" not in text or (shell is not None and shell.redraws)
        return None if editor and unended else echo_end(self._typed.text, text)

    def _is_drawn_at_prompt(self, text: str, first: int, after: int, end: int) -> bool:
        """Whether a match, which ends at the raw offset `end`, is the line editor's echo of keys that came before it.

        The terminal echoes them when they are typed, and the editor draws them once more after its prompt. Then the
        newest mark is that of a prompt, and a line after it that equals what was typed, up to the match's end, is echo.
        Where the editor draws it in pieces (fish), any part of it is. The mark may also have come before the keys:
        the terminal echoes until the editor has set its modes, which it does when it has made the prompt's text.
        """
        shell = self._pane.shell
        if self._ahead is None:
            return False
        drawn = self._stream.ring.read(self._ahead.offset, end)
        newest = drawn.rfind(INTRODUCER)
        if newest < 0:  # without an accept mark, the output of what was typed comes without any mark, too
            if not (self._ahead.at_prompt and shell is not None and shell.has_accept_mark):
                return False
        elif drawn[newest + len(INTRODUCER) :][:1] not in (b"P", b"Q", b"A"):
            return False
        wanted = text[first:after]
        if shell is not None and shell.redraws:
            return wanted in self._ahead.text
        for line in self._ahead.text.splitlines():
            at = line.find(wanted)
            while at >= 0:
                if first >= at and text[first - at : first] == line[:at]:
                    return True
                at = line.find(wanted, at + 1)
        return False

    def _go_on_from(self, offset: int) -> None:
        """A command's output begins there, at the beginning of a line; fish goes there once more by a CR."""
        self._settled, self._text, self._cut, self._typed = offset, "\n", True, None
        self._drawn_to = 0
        self._stripper = AnsiStripper()
        self._decoder.reset()

    def _raw_end(
        self,
        data: bytes,
        base: int,
        start: int,
        stop: int,
        end: int,
        before: tuple[AnsiStripper, tuple[bytes, int], int],
    ) -> int:
        """The first raw offset at which all of the text up to `end` is there."""
        stripper, decoder_state, known = before
        behind = self._text[:known]
        low, high = start, stop
        while low < high:
            middle = (low + high) // 2
            shown = visible_range(data, base, start, middle, grows=False)
            self._decoder.setstate(decoder_state)
            text = _lines(self._decoder.decode(copy.copy(stripper).feed(shown)), behind=behind)
            length = known + len(text) - (text.endswith("\r") and data[middle - base : middle - base + 1] == b"\n")
            low, high = (low, middle) if length >= end else (middle + 1, high)
        return low


def _lines(text: str, *, behind: str) -> str:
    """`text` with its lines ended by LF; a CR that finds the cursor at a line's beginning shows nothing."""
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        text = _CR_AT_BEGINNING.sub("", text)
        if behind.endswith("\n"):
            text = text.lstrip("\r")
    return text


_CR_AT_BEGINNING = re.compile(r"(?<=\n)\r+")


# The shortest time between two pictures of one wait: less than a person or a model notices, and room for all else.
_PICTURE_GAP = 0.004
# The gap after a picture is also so many times as long as the picture took, which depends on tmux: each frame of a
# spinner is seen, and in a flood, where tmux is slow to answer, pictures take a ninth of the time.
_PICTURE_SHARE = 8
# A longer gap would be noticed.
_PICTURE_GAP_MAX = 0.05
# A program that redraws its whole screen erases it first: what is away for so long is gone.
_GONE_FOR = 0.05
# A program that answers keys at all shows so by then, on a busy machine too.
_APPEARS_WITHIN = 1.0
# Matches on one screen that are looked at: a prompt in each row of a tall one.
_SPANS_MAX = 64
# How far back cursor moves are looked for without a picture; what is longer is taken to have some.
_MOVES_REACH = 256 << 10
# An escape sequence that began in the piece before: the longest cursor move has a few numbers.
_SEQUENCE_REACH = 32
# What is played of an output that has ended, to find what was drawn in it.
_PLAYED_AT_END = 64 << 10
# A program that moves up draws what stands there once more (Ink), unless it has erased all of it before.
_UP = re.compile(rb"\x1b(?:M|\[[0-9;]*[AFHdf])")
_ERASED = re.compile(rb"\x1b(?:c|\[[23]J|\[H\x1b\[0?J|\[\?(?:1049|1047|47)[hl])")


@final
class ScreenSearch:
    """Looks at the screen for what is wanted: a pattern that is new there or gone, or that nothing changes."""

    def __init__(
        self, tab: Tab, wanted: Wanted, start: int, *, awaited: Execution | None, before: Picture | None,
        keys: bool,
    ) -> None:  # fmt: skip
        """`start`: what stood there at that offset is not new. `before`: the screen then, if it is known."""
        self._tab = tab
        self._stream = tab.pane.stream
        self._wanted = wanted
        self._start = self._scanned = start
        self._awaited = awaited
        typed = tab.pane.session.last_input
        self._typed = typed if start == typed.offset and typed.text else None
        self._news = NewMatches(typed.text if self._typed is not None else "")
        self._before = before
        # The shell draws what was typed while a command ran once more when it takes it. `taken`: the shell has taken
        # it. `seen`: one picture was examined since; what that one shows does not count as new.
        self._late: Literal["not taken", "taken", "seen"] = "not taken"
        self._draws = False  # whether any output since the start moves the cursor
        self._up_at = self._erased_at = -1  # where it last went up, and where it last erased all
        self._newest: Picture | None = None
        self._taken, self._gap = -math.inf, _PICTURE_GAP
        self._changed_at = time.monotonic()  # when the picture last became another one
        self._away_since: float | None = None  # since when the pattern that is to go is not there
        # Before this time a pattern that was never there does not count as gone: what keys bring may still come.
        self._appears_by = self._changed_at + (_APPEARS_WITHIN if keys else 0.0)
        self.stood_there = False  # whether the newest picture has the pattern, only where it was when the wait began
        self.shown = ""  # the lines of a match that was found here

    async def advance(self, *, once: bool = False) -> Found | None:
        """Take a picture if the screen may have changed, and say what is met. `once`: to be gone need not last."""
        if not self._may_look():
            return None
        self._follow()
        if self._is_due():
            if not await self._look():
                return None
            if (found := await self._examined()) is not None:
                return found
        return self._lasting(once=once)

    async def drawn_again(self, end: int) -> bool | None:
        """Whether a match in the output up to `end` is on the screen only where it stood when the wait began.

        Then the program has drawn its rows once more. None: only the next picture shows it.
        """
        if self._wanted.gone or not self._may_look():
            return False
        self._follow()
        self._look_for_moves()
        if self._up_at < self._start or self._erased_at >= self._start:
            return False
        if self._is_dirty():
            if not self._is_due():
                return None
            if not await self._look():
                return None if self._late == "taken" else False
            await self._examined()
        return self.stood_there and self._newest is not None and end <= self._newest.end

    async def at_end(self, end: int) -> Found | None:
        """As `advance`, when nothing more is drawn: plays what was drawn up to `end`, as it may be off the screen."""
        pattern = self._wanted.pattern
        if pattern is None or self._wanted.gone or not self._may_look():
            return None
        self._follow()
        begin = max(self._start, end - _PLAYED_AT_END)
        if begin >= end:
            return None
        self._look_for_moves()
        if not self._draws:
            return None
        text = (await shown_text(self._stream, begin, end, self._tab.size)).text
        echo = echo_end(self._typed.text, text) if self._typed is not None else 0
        span = await search(pattern, text, echo or 0, at_line_end=False)
        return Found(text[span[0] : span[1]], end) if span is not None else None

    def until_due(self) -> float:
        """Seconds until a picture is to be taken, or until what is on it has lasted long enough."""
        if not self._may_look():
            return math.inf
        now = time.monotonic()
        if self._is_dirty():
            return max(0.0, self._taken + self._gap - now)
        return max(0.0, self._lasts_until() - now)

    def _may_look(self) -> bool:
        """Whether what was typed has been taken: until then a shell's line editor shows it, and nothing else."""
        if self._awaited is not None and self._awaited.running and not self._awaited.started:
            return False
        session, typed = self._tab.pane.session, self._typed
        ran = typed_behind(session, typed)
        if ran is not None and not ran.started:
            return False
        if typed is None or not self._says_taken():
            return True
        # What goes, or stays as it is, does so also where the program that was typed into has ended.
        return self._was_taken() or not (
            typed.at_prompt or (session.at_prompt and self._wanted.pattern is not None and not self._wanted.gone)
        )

    def _says_taken(self) -> bool:
        """Whether the shell says when it takes a line."""
        shell = self._tab.pane.shell
        return shell is not None and shell.has_accept_mark

    def _was_taken(self) -> bool:
        """Whether a shell that says so has taken a line since the start, and since a command before the keys began."""
        session = self._tab.pane.session
        ran = self._awaited or typed_behind(session, self._typed)
        return session.preexec_offset > (self._start if ran is None else max(self._start, ran.begin))

    def _follow(self) -> None:
        """Begin where the output of an awaited command does, and anew where a shell took what was typed before."""
        if self._awaited is not None:
            self._start = self._scanned = self._awaited.begin
            self._awaited = None
        if self._typed is not None and self._typed.at_prompt and self._says_taken() and self._was_taken():
            # The line stands on the screen, maybe twice: the terminal echoed it, and the editor drew it once more.
            self._start = self._scanned = self._tab.pane.session.preexec_offset
            self._typed, self._before = None, None
        late = self._typed is not None and not self._typed.at_prompt and self._says_taken()
        if late and self._was_taken() and self._late == "not taken":
            self._late = "taken"  # it is drawn once more by the line editor after that command

    def _is_dirty(self) -> bool:
        newest = self._newest
        if newest is None:
            return True
        if newest.end == self._stream.end:
            return False
        if self._wanted.gone or self._wanted.stable is not None:
            return True
        self._look_for_moves()
        return self._draws

    def _look_for_moves(self) -> None:
        """Whether the output since the start is more than lines of text, which the stream shows as the screen does."""
        end = self._stream.end
        if self._scanned == end:
            return
        begin = max(self._start, self._scanned - _SEQUENCE_REACH)
        data = self._stream.ring.read(begin, end) if end - begin <= _MOVES_REACH else b"\b"
        self._draws = self._draws or not self._stream.holds(begin) or needs_playing(data.decode("utf-8", "replace"))
        self._up_at = max([self._up_at, *(begin + found.start() for found in _UP.finditer(data))])
        self._erased_at = max([self._erased_at, *(begin + found.start() for found in _ERASED.finditer(data))])
        self._scanned = end

    def _is_due(self) -> bool:
        return self._is_dirty() and time.monotonic() >= self._taken + self._gap

    async def _look(self) -> bool:
        """Take a picture; False if it says nothing: the tab has ended, or a line editor shows what was typed."""
        try:
            await self._take()
        except (CommandError, TabUnavailable):
            return False
        if not self._may_look():  # a picture may show more than had come when it was asked for
            return False
        self._follow()
        # It may also show less than has come since: then the line, drawn once more, would be new on the next picture.
        newest = self._newest
        drawn = newest is not None and newest.end >= self._tab.pane.session.preexec_offset
        return drawn or self._late != "taken"

    async def _take(self) -> None:
        now = time.monotonic()
        seen = await self._tab.picture()
        took = time.monotonic() - now
        self._gap = min(max(_PICTURE_GAP, _PICTURE_SHARE * took), _PICTURE_GAP_MAX)
        if self._newest is None or not seen.shows_same(self._newest):
            self._changed_at = max(self._changed_at, min(now, self._stream.last_output))
        self._newest, self._taken = seen, time.monotonic()

    async def _examined(self) -> Found | None:
        """What the newest picture has of the pattern."""
        pattern, seen = self._wanted.pattern, self._newest
        if pattern is None or seen is None:
            return None
        spans = await _spans(pattern, seen)
        if self._wanted.gone:
            self.stood_there = bool(spans)
            if spans:
                self._away_since, self._appears_by = None, 0.0
            elif self._away_since is None:
                self._away_since = self._taken
            return None
        if self._late == "taken":
            self._late = "seen"
            self._news.begin(seen, spans)
        elif not self._news.has_begun:
            await self._begin(pattern, seen, spans)
        new = [span for span in self._news.next(seen, spans) if seen.text[slice(*span)].strip()]  # no line ends alone
        self.stood_there = bool(spans) and not new
        if not new:
            return None
        first, after = new[0]
        text = seen.text
        # Of a full-screen program all rows come with the outcome.
        begin = text.rfind("\n", 0, first) + 1 if seen.alternate else 0
        self.shown = _lines_before(text[begin:], after - begin)
        return Found(text[first:after], seen.end)

    async def _begin(self, pattern: Pattern, seen: Picture, spans: list[Span]) -> None:
        """Know what stood there at the start: by a picture of then, or, if that decides anything, by the log."""
        before = self._before
        if before is None and spans and self._stream.end > self._start:
            before = await self._tab.picture_at(self._start)
        if before is None or not spans:
            self._news.begin(seen, spans)
        else:
            self._news.begin(before, await _spans(pattern, before))

    def _lasts_until(self) -> float:
        """When what is on the newest picture will have lasted long enough."""
        stable = self._wanted.stable
        if self._wanted.gone:
            since = math.inf if self._away_since is None else max(self._away_since, self._appears_by)
            return since + (stable or _GONE_FOR)
        return math.inf if stable is None else self._changed_at + stable

    def _lasting(self, *, once: bool) -> Found | None:
        if self._newest is None or self._is_dirty():
            return None
        if not (time.monotonic() >= self._lasts_until() or (once and self._away_since is not None)):
            return None
        return Found("gone" if self._wanted.gone else "stable", self._newest.end)


async def _spans(pattern: Pattern, seen: Picture) -> list[Span]:
    """Where the pattern matches on a picture, whose text it searches as one."""
    text, begin = seen.text, 0
    spans: list[Span] = []
    while len(spans) < _SPANS_MAX:
        span = await search(pattern, text, begin, at_line_end=begin > 0 and text[begin - 1] == "\n")
        if span is None:
            break
        spans.append(span)
        begin = span[1]
    return spans


def _lines_before(text: str, after: int) -> str:
    """The lines of a screen down to the one in which a match ends, as much as a wait reports."""
    end = text.find("\n", after)
    shown = text[: end if end >= 0 else len(text)]
    lines = [line for line in shown.splitlines() if line.strip()]
    return "\n".join(lines)[-TAIL_CHARACTERS:]


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
        start = self._start = current_start(tab) if from_byte is None else from_byte
        running = tab.pane.session.running
        awaited = command
        if from_byte is None and running is not None and not running.started:
            awaited = running
        pattern = None if wanted.gone else wanted.pattern
        looks = wanted.pattern is not None or wanted.stable is not None
        screen = ScreenSearch(tab, wanted, start, awaited=awaited, before=before, keys=typed) if looks else None
        again = screen.drawn_again if screen is not None else None
        self._screen = screen
        self._search = TextSearch(tab.pane, pattern, start, awaited=awaited, drawn_again=again) if pattern else None
        self._bells = BellScanner(self._entry if from_byte is None else from_byte) if wanted.bell else None

    async def run(self) -> WaitOutcome:
        """Wait until something wanted is there, or nothing can come any more."""
        at_entry = True
        while True:
            end = self._stream.end
            found = await self.check(at_entry=at_entry)
            at_entry = False
            if found is not None:
                return found
            if self._over or self._stream.end != end:
                continue  # that came while another kind of thing was looked for
            if self._screen is not None:
                _load_player(self._stream)
            with anyio.move_on_after(self.until_due()) as timer:
                await self._stream.changed()
            if timer.cancelled_caught and self.until_idle() <= 0:
                return await self._met("idle", self._stream.end, at_entry=False)

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
        if self._screen is not None and (drawn := await self._on_screen(self._screen, over=over, once=once)):
            # The bytes of what a screen shows have come by now. If the match is in their text, its exact end is known.
            found = await self._in_text(over=over) or drawn
            at_entry = found.end <= self._entry
            return await self._met(found.text, found.end, at_entry=at_entry, shown=self._screen.shown)
        if self._bells is not None and (bell := await self._bell(self._bells)):
            return await self._met("bell", bell, at_entry=bell <= self._entry)
        if self._wanted.prompt and self._pane.session.at_prompt and self._pane.session.prompt_end > self._after:
            status = self._pane.session.status_at_prompt
            return await self._met("prompt", self._stream.end, at_entry=at_entry, exit_code=status)
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

    async def _on_screen(self, screen: ScreenSearch, *, over: bool, once: bool) -> Found | None:
        if over:
            return await screen.at_end(self._stream.end if self._command is None else self._command.end)
        return await screen.advance(once=once)

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

    async def outcome(self, outcome: Literal["timed_out", "closed"], which: str = "") -> WaitOutcome:
        return WaitOutcome(
            outcome=outcome,
            which=which,
            next_byte=self._stream.end,
            tail=await tail(self._stream, self._start, self.tab.size),
            matched_at_entry=self._screen is not None and self._screen.stood_there,
            **(await self._on_screen_now() if which else {}),
        )


# What turns drawn output into text. Its import, with that of pyte, takes 60 ms (180 on a busy machine). If it began
# only when a drawing has met a wait, it would delay that wait, the first of its kind in a process, by so much.
_PLAYER: Final = "muxwire.vt.player"
# A program that draws has done so in the last bytes: a row or two of a screen.
_DRAWN_LATELY = 4096


def _load_player(stream: PaneStream) -> None:
    """Begin to import `_PLAYER` in a thread if the pane's last output draws: the wait has nothing to do then."""
    if _PLAYER in sys.modules:
        return
    latest = stream.ring.read(max(stream.ring.start, stream.end - _DRAWN_LATELY), stream.end)
    if needs_playing(latest.decode("utf-8", "replace")):
        threading.Thread(target=import_module, args=(_PLAYER,), name="muxwire-import", daemon=True).start()


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


async def tail(stream: PaneStream, start: int, size: Size) -> str:
    """The last text since `start` that a person would have read, in a pane of that size."""
    seen = await shown_text(stream, max(start, stream.end - _TAIL_BYTES), stream.end, size)
    return seen.text[-TAIL_CHARACTERS:]


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
    _check(tabs, wanted, from_byte, timeout)
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
            if outcome.outcome == "met":
                met.append(outcome)
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for watch in watches:
                tasks.start_soon(run, watch)
        if met:
            return met[0]
    return await watches[0].outcome("timed_out" if limit.cancelled_caught else "closed", which)


def _check(tabs: Sequence[Tab], wanted: Wanted, from_byte: int | None, timeout: float) -> None:
    if not tabs:
        raise InvalidArgument("no tab to wait for", remedy="name one at least; `list_tabs` shows them")
    if timeout < 0:
        raise InvalidArgument(f"timeout is {timeout} s", remedy="give 0 to check once")
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
