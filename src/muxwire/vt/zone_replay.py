"""Output played once more on a terminal that only knows whose each cell is: the prompt's, the input's, a program's.

pyte is that terminal. It has neither the alternate screen nor strings other than OSC, and it raises where a sequence
has parameters too many; all of that is caught here. What it gets wrong does no harm: only rows that tmux shows with the
same text are believed.
"""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, final

import pyte
from pyte import modes
from pyte.screens import Char, StaticDefaultDict

from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.vt.cells import Zone

# By our own marks (7770) and by those of shells that speak OSC 133 ("semantic prompts", from FinalTerm).
_ZONES: dict[str, Zone] = {
    "7770;P": "prompt", "7770;T": "input", "7770;C": "output", "7770;S": "output", "7770;E": "", "7770;D": "",
    "7770;X": "", "133;A": "prompt", "133;B": "input", "133;C": "output", "133;D": "",
}  # fmt: skip
_MARK = re.compile(r"7770;[A-Z]|133;[A-D]")
_STRING = re.compile(r"\x1b[\]PX^_k](?P<body>[^\x07\x1b\x18\x1a]*)(?:\x1b\\|\x07|\x18|\x1a)")
# The beginning of a string, or of what may be one; how long it may get, for a title or a link, before it is shown.
_BEGUN = re.compile(r"\x1b(?:[\]PX^_k][^\x07\x1b\x18\x1a]*\x1b?)?\Z")
_HELD_MAX = 8 << 10
_ALTERNATE = frozenset((47, 1047, 1049))
# DECCOLM changes the size, which tmux leaves alone; DECSCNM turns all cells over, whose colours nobody asks here.
_IGNORED = frozenset((3, 5))
# Every ASCII character in each zone.
_CELLS_KEPT = 512
_WRAPS, _INSERTS = modes.DECAWM, modes.IRM


def newest_zone(before: bytes) -> Zone | None:
    """What the next character belongs to, by the newest mark; None if there is none."""
    at = len(before)
    while (at := max(before.rfind(b"\x1b]7770;", 0, at), before.rfind(b"\x1b]133;", 0, at))) >= 0:
        found = _MARK.match(before[at + 2 : at + 8].decode("ascii", "replace"))
        if found and found[0] in _ZONES:
            return _ZONES[found[0]]
    return None


def has_marks(output: bytes) -> bool:
    """Whether something in it may say whose the text is."""
    return b"\x1b]7770;" in output or b"\x1b]133;" in output


@final
class _Stream(pyte.Stream):
    """Goes on behind a sequence that pyte cannot take."""

    def _send_to_parser(self, data: str) -> bool | None:
        try:
            return super()._send_to_parser(data)
        except Exception:  # noqa: BLE001 - whatever it stumbled upon: the next byte is text again
            return True


@final
class Replay(pyte.Screen):
    """A screen that is fed bytes, cut anywhere; `zone` is what the next character belongs to."""

    def __init__(self, columns: int, lines: int, zone: Zone = "") -> None:
        self.zone = zone
        # The rows behind the alternate screen, and the cursor there.
        self._behind: tuple[dict[int, StaticDefaultDict[int, Char]], int, int] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        super().__init__(columns, lines)
        self._stream = _Stream(self)

    def feed(self, data: bytes) -> None:
        """Take the next bytes; it never raises."""
        text = self._held + self._decoder.decode(data)
        at = 0
        for found in _STRING.finditer(text):
            self._stream.feed(text[at : found.start()])
            marked = _MARK.match(found["body"])
            if marked and text[found.start() + 1] == "]":
                self.zone = _ZONES.get(marked[0], self.zone)
            at = found.end()
        begun = _BEGUN.search(text, at)
        end = begun.start() if begun and len(text) - begun.start() <= _HELD_MAX else len(text)
        self._stream.feed(text[at:end])
        self._held = text[end:]

    def row(self, y: int) -> Sequence[tuple[str, Zone]]:
        """The text and the zone of each cell of a row; "" is the second column of a wide character."""
        line = self.buffer[y]
        cells = [line[x] for x in range(self.columns)]
        return [(cell[0], cell[1]) for cell in cells]  # type: ignore[misc]

    @property
    def default_char(self) -> Char:
        """What an erased cell is: nobody's."""
        return _BLANK

    # -- what pyte calls

    def draw(self, data: str) -> None:
        """Write text at the cursor; the zone stands where pyte keeps the colour."""
        if data.isascii() and self.zone != "input" and _WRAPS in self.mode and _INSERTS not in self.mode:
            self._draw_ascii(data)
            return
        cursor = self.cursor
        for character in data:
            width = 1 if " " <= character <= "~" else guessed_width(character)
            if width == 0:
                self._combine(character)
                continue
            if cursor.x + width > self.columns:
                if _WRAPS not in self.mode:
                    cursor.x = self.columns - width
                else:
                    self.carriage_return()
                    self.linefeed()
            if _INSERTS in self.mode:
                self.insert_characters(width)
            line, x = self.buffer[cursor.y], cursor.x
            zone: str = self.zone
            # A line editor that draws its prompt anew while one types writes no input there.
            if zone == "input" and x in line and line[x].fg == "prompt":
                zone = "prompt"
            line[x] = Char(character, zone)
            if width > 1:
                line[x + 1] = Char("", zone)
            cursor.x = x + width

    def _draw_ascii(self, data: str) -> None:
        cursor, zone = self.cursor, self.zone
        while data:
            if cursor.x >= self.columns:
                self.carriage_return()
                self.linefeed()
            begin = cursor.x
            part, data = data[: self.columns - begin], data[self.columns - begin :]
            cursor.x += len(part)
            self.buffer[cursor.y].update(zip(range(begin, cursor.x), (_cell(one, zone) for one in part), strict=True))

    def _combine(self, mark: str) -> None:
        line, at = self.buffer[self.cursor.y], self.cursor.x - 1
        if at > 0 and not line[at].data:
            at -= 1
        if at >= 0:
            line[at] = line[at]._replace(data=line[at].data + mark)

    def select_graphic_rendition(self, *attrs: int, **kwargs: bool) -> None:
        """Colours are not asked for here."""

    def set_mode(self, *numbers: int, **kwargs: bool) -> None:
        """Take a mode; 47, 1047 and 1049 change the rows for others."""
        private = bool(kwargs.get("private"))
        if private and not _ALTERNATE.isdisjoint(numbers) and self._behind is None:
            self._behind = (self.buffer, self.cursor.x, self.cursor.y)
            self.buffer = defaultdict(lambda: StaticDefaultDict[int, Char](_BLANK))
        super().set_mode(*(number for number in numbers if not (private and number in _IGNORED)), **kwargs)

    def reset_mode(self, *numbers: int, **kwargs: bool) -> None:
        """Take back a mode, and with those three the rows and the cursor that were there before."""
        private = bool(kwargs.get("private"))
        if private and not _ALTERNATE.isdisjoint(numbers) and self._behind is not None:
            self.buffer, self.cursor.x, self.cursor.y = self._behind
            self._behind = None
        super().reset_mode(*(number for number in numbers if not (private and number in _IGNORED)), **kwargs)


@lru_cache(maxsize=_CELLS_KEPT)
def _cell(text: str, zone: Zone) -> Char:
    return Char(text, zone)


_BLANK = Char(" ", "")
