"""Where a wait looks for what is wanted: in the text that has come, and on the screen.

`Beginning` says from which offset of the output on something may be an answer: not before the shell has taken the line
that was typed. From there on two searches run:

1. `TextSearch` reads what comes as a person would have: marks, our typed lines and escape sequences are cut, CR LF is
   LF, as is the LF CR of a program in raw mode (Python's prompt from 3.13 on). A line that the terminal wrapped is one
   line here, since programs do not write the wrap. The echo of what was typed is no answer.
2. `ScreenSearch` asks tmux for a picture when something may have changed the screen other than by a new line, one at a
   time. A match counts if there are more of it than on any picture since the beginning (`vt/drawn.py`). A program that
   only writes lines costs one picture, at the wait's beginning.

A program that goes up and draws its rows once more, as Ink does, writes again what stood there before. There a match in
the text counts if one on the next picture does, or if none is on that: then it has scrolled by.
"""

from __future__ import annotations

import codecs
import copy
import math
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import anyio.lowlevel

from muxwire.errors import CommandError, TabUnavailable
from muxwire.host.patterns import search
from muxwire.pane.keyboard import typed_from
from muxwire.shell.marks import INTRODUCER
from muxwire.shell.session import echo_end
from muxwire.shell.tab_state import typed_behind
from muxwire.shell.visible import LOOKAHEAD, LOOKBEHIND, known_from, visible_range, visible_slice
from muxwire.vt.drawn import NewMatches, is_echo
from muxwire.vt.readable import needs_playing
from muxwire.vt.text import AnsiStripper

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.host.patterns import Pattern
    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution
    from muxwire.tabs.tab import Tab
    from muxwire.tabs.waits import Wanted
    from muxwire.vt.drawn import Picture, Span

# Raw bytes that are examined in one go: about a ms of work, then others get their turn.
SLICE = 64 << 10
# A match may begin this many characters before the bytes that complete it: a screen of 200 by 50.
OVERLAP = 10_000
# What comes back of the last output: enough to see why a wait failed.
TAIL_CHARACTERS = 600

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
# A program that moves up draws what stands there once more (Ink), unless it has erased all of it before.
_UP: Final = re.compile(rb"\x1b(?:M|\[[0-9;]*[AFHdf])")
_ERASED: Final = re.compile(rb"\x1b(?:c|\[[23]J|\[H\x1b\[0?J|\[\?(?:1049|1047|47)[hl])")
_CR_AT_BEGINNING: Final = re.compile(r"(?<=\n)\r+")


@final
@dataclass(frozen=True, slots=True)
class Found:
    text: str
    end: int


@final
class Beginning:
    """From which offset of a pane's output on something may be an answer."""

    def __init__(self, pane: PaneState, start: int, awaited: Execution | None) -> None:
        """`awaited`: a command that was typed; what stands in its text is no answer."""
        self._session = pane.session
        self._awaited = awaited
        typed = pane.session.last_input
        self.typed = typed if start == typed.offset and typed.text else None  # just before: it may be echoed
        self.offset = start

    @property
    def shell_tells(self) -> bool:
        """Whether the shell says when it takes a line: until then its editor shows what was typed."""
        return self._session.has_preexec_mark

    def is_there(self) -> bool:
        """Whether what was typed has been taken, as far as that is said; then `offset` is behind its echo."""
        session, typed = self._session, self.typed
        command = self._awaited or typed_behind(session, typed)
        if command is not None and not command.started:
            return not command.running
        if command is not None:
            self.offset = max(self.offset, command.begin)
        if typed is None or not (typed.at_prompt and typed.lines and self.shell_tells):
            return True
        self.offset = max(self.offset, session.preexec_offset)
        return session.continues or max(session.preexec_offset, session.prompt_end) > typed.offset


@final
class TextSearch:
    """Looks for a pattern in the visible text of a pane, each byte once but for an overlap."""

    def __init__(
        self, pane: PaneState, pattern: Pattern, beginning: Beginning, is_new: Callable[[int], bool | None]
    ) -> None:
        """`is_new`: whether a match that ends at an offset was not on the screen before; None: not known yet."""
        self._pane = pane
        self._stream = pane.stream
        self._pattern = pattern
        self._beginning = beginning
        self._is_new = is_new
        self._typed = beginning.typed  # whose echo may still come
        self._from = self._settled = beginning.offset  # up to the raw offset `_settled`, `_text` will not change
        self._text = ""
        self._cut = False  # whether `_text` has lost its beginning
        self._stripper = AnsiStripper()
        self.pending = False  # whether there is a match of which only the next picture says whether it is new

    async def advance(self, *, final: bool) -> Found | None:
        """Examine all output that has come; return the match if there is one."""
        self.pending = False
        if not self._beginning.is_there():
            return None
        if self._beginning.offset > self._from:  # at the beginning of a line; fish goes there once more by a CR
            self._from = self._settled = self._beginning.offset
            self._text, self._cut, self._typed = "\n", True, None
            self._stripper = AnsiStripper()
        while True:
            stop = min(self._stream.end, self._settled + SLICE + LOOKAHEAD)
            begin = max(0, self._settled - LOOKBEHIND)
            data, lost = await self._stream.read(begin, stop)
            base = begin + lost
            self._settled = max(self._settled, base)
            known = known_from(data, self._settled - base, 0)
            at_end = stop == self._stream.end
            found = await self._examine(data[known:], base + known, stop, last=at_end, final=final and at_end)
            if found or at_end or self.pending:
                return found
            await anyio.lowlevel.checkpoint()

    async def _examine(self, data: bytes, base: int, stop: int, *, last: bool, final: bool) -> Found | None:
        start, stripper, behind = self._settled, copy.copy(self._stripper), self._text
        piece, self._settled = visible_slice(data, base, start, SLICE, final=final, typed_from=typed_from(self._pane))
        self._text = text = behind + _shown(piece, self._stripper, behind)
        if last and self._settled < stop:  # may still turn out to be a line of muxwire: searched now, and again later
            rest = visible_range(data, base, self._settled, stop, grows=not final, typed_from=typed_from(self._pane))
            text += _shown(rest, copy.copy(self._stripper), text)
        at = int(self._cut)
        if self._typed is not None:
            answer = echo_end(self._typed.text, text) if len(text) <= OVERLAP else 0
            if answer is None and not final:
                return None
            at = answer or 0
        # ^ holds after a line end, not at a cut.
        match = await search(self._pattern, text, at, at_line_end=at > 0 and text[at - 1] == "\n")
        while match is not None:
            first, after = match
            end = self._raw_end(data, base, start, stop, after, stripper, behind)
            is_new = not self._is_edited(text, first, after, end) and (final or self._is_new(end))
            if is_new:
                return Found(text[first:after], end)
            if is_new is None:  # all of this once more when that picture is here
                self.pending = True
                self._settled, self._stripper, self._text = start, stripper, behind
                return None
            at = after
            match = await search(self._pattern, text, after, at_line_end=False)
        if at <= len(self._text):
            self._typed = None
        if (keep := max(at, len(self._text) - OVERLAP + 1)) > 0:  # one character more, for ^ and \b
            self._text, self._cut = self._text[keep - 1 :] or " ", True
        return None

    def _is_edited(self, text: str, first: int, after: int, end: int) -> bool:
        """Whether a match, which ends at the raw offset `end`, is what a line editor shows of keys that came before it.

        The terminal echoes them when they are typed, and the editor draws them once more after its prompt: then the
        newest mark is that of a prompt. Where the shell says when it takes a line, nothing else follows that mark;
        elsewhere what the line writes does, too.
        """
        typed, tells = self._beginning.typed, self._beginning.shell_tells
        if typed is None:
            return False
        _, mark, letter = self._stream.ring.read(typed.offset, end).rpartition(INTRODUCER)
        if letter[:1] not in (b"P", b"Q", b"A") if mark else not (tells and typed.at_prompt):
            return False
        return text[first:after] in typed.text if tells else is_echo(text[:first], text[first:after], typed.text)

    def _raw_end(
        self, data: bytes, base: int, start: int, stop: int, end: int, stripper: AnsiStripper, behind: str
    ) -> int:
        """The first raw offset at which all of the text up to `end` is there; `behind` was there at `start`."""
        low, high = start, stop
        while low < high:
            middle = (low + high) // 2
            text = _shown(visible_range(data, base, start, middle, grows=False), copy.copy(stripper), behind)
            half = text.endswith("\r") and data[middle - base : middle - base + 1] == b"\n"
            low, high = (low, middle) if len(behind) + len(text) - half >= end else (middle + 1, high)
        return low


def _shown(data: bytes, stripper: AnsiStripper, behind: str) -> str:
    """The text of visible bytes, its lines ended by LF; a CR that finds the cursor at a line's beginning shows nothing.

    What is `behind` it says where the cursor is. A character that is not whole is left out.
    """
    text = codecs.utf_8_decode(stripper.feed(data), "replace", False)[0].replace("\r\n", "\n")
    if "\r" not in text:
        return text
    text = _CR_AT_BEGINNING.sub("", text)
    return text.lstrip("\r") if behind.endswith("\n") else text


@final
class ScreenSearch:
    """Looks at the screen for what is wanted: a pattern that is new there or gone, or that nothing changes."""

    def __init__(self, tab: Tab, wanted: Wanted, beginning: Beginning, *, before: Picture | None, keys: bool) -> None:
        """`before`: the screen at the beginning, if it is known. `keys`: some were sent just now."""
        self._tab = tab
        self._stream = tab.pane.stream
        self._wanted = wanted
        self._beginning = beginning
        self._before = before
        # The terminal echoes a line, and where it was too early the editor draws it once more.
        typed = beginning.typed.text if beginning.typed is not None else ""
        self._news = NewMatches(typed, places=1 + beginning.shell_tells)
        self._scanned = beginning.offset  # up to there cursor moves were looked for
        self._draws = False  # whether any output since the beginning moves the cursor
        self._up_at = self._erased_at = -1  # where it last went up, and where it last erased all
        self._newest: Picture | None = None
        self._taken, self._gap = -math.inf, _PICTURE_GAP
        self._changed_at = time.monotonic()  # when the picture last became another one
        self._away_since: float | None = None  # since when the pattern that is to go is not there
        # Before this time a pattern that was never there does not count as gone: what keys bring may still come.
        self._appears_by = self._changed_at + (_APPEARS_WITHIN if keys else 0.0)
        self.stood_there = False  # whether the newest picture has the pattern, and no more of it than before
        self.shown = ""  # the lines of a match that was found here

    async def advance(self, *, once: bool = False) -> Found | None:
        """Take a picture if the screen may have changed, and say what is met. `once`: to be gone need not last."""
        if not self._beginning.is_there():
            return None
        if self._is_dirty() and time.monotonic() >= self._taken + self._gap:
            try:
                await self._take()
            except (CommandError, TabUnavailable):  # the tab has ended
                return None
            if (found := await self._examined()) is not None:
                return found
        newest = self._newest
        if newest is None or self._is_dirty():
            return None
        if time.monotonic() >= self._lasts_until() or (once and self._away_since is not None):
            return Found("gone" if self._wanted.gone else "stable", newest.end)
        return None

    def is_new(self, end: int) -> bool | None:
        """Whether a match in the output up to `end` is more than rows drawn once more; None: the next picture tells."""
        self._look_for_moves()
        if self._up_at < self._beginning.offset or self._erased_at >= self._beginning.offset:
            return True
        if self._newest is None or self._newest.end < end:
            return None
        return not self.stood_there

    def until_due(self) -> float:
        """Seconds until a picture is to be taken, or until what is on it has lasted long enough."""
        if not self._beginning.is_there():
            return math.inf
        due = self._taken + self._gap if self._is_dirty() else self._lasts_until()
        return max(0.0, due - time.monotonic())

    def _is_dirty(self) -> bool:
        if self._newest is None:
            return True
        if self._newest.end == self._stream.end:
            return False
        self._look_for_moves()
        return self._draws or self._wanted.gone or self._wanted.stable is not None

    def _look_for_moves(self) -> None:
        """Whether the output since the beginning is more than lines of text, which the stream shows as the screen."""
        end = self._stream.end
        if self._scanned == end:
            return
        begin = max(self._beginning.offset, self._scanned - _SEQUENCE_REACH)
        data = self._stream.ring.read(begin, end) if end - begin <= _MOVES_REACH else b"\b"
        self._draws = self._draws or not self._stream.holds(begin) or needs_playing(data.decode("utf-8", "replace"))
        self._up_at = max([self._up_at, *(begin + found.start() for found in _UP.finditer(data))])
        self._erased_at = max([self._erased_at, *(begin + found.start() for found in _ERASED.finditer(data))])
        self._scanned = end

    async def _take(self) -> None:
        now = time.monotonic()
        seen = await self._tab.view.picture()
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
        if not self._news.has_begun:
            await self._begin(pattern, seen, spans)
        new = [span for span in self._news.next(seen, spans) if seen.text[slice(*span)].strip()]  # no line ends alone
        self.stood_there = bool(spans) and not new
        if not new:
            return None
        first, after = new[0]
        # Of a full-screen program all rows come with the outcome.
        begin = seen.text.rfind("\n", 0, first) + 1 if seen.alternate else 0
        self.shown = _lines_before(seen.text[begin:], after - begin)
        return Found(seen.text[first:after], seen.end)

    async def _begin(self, pattern: Pattern, seen: Picture, spans: list[Span]) -> None:
        """Know what stood there at the beginning: by a picture of then, or, if that decides anything, by the log."""
        before = self._before
        if before is None and spans and self._stream.end > self._beginning.offset:
            before = await self._tab.view.picture_at(self._beginning.offset)
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
