"""A screen as tmux tells it: rows from `capture-pane -e`; from the newest output what the next character is like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.vt.cells import BLANK, PLAIN, Cell, Style, Zone, changed, pen, styled
from muxwire.vt.grid import TAB, Row
from muxwire.vt.widths import GRAPHICS, guessed_width, width

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)|\x1b\[(?P<style>[0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(?P<control>[\x00-\x1a])"
)
_RESETS = (b"\x1b[0m", b"\x1b[m", b"\x1bc")
# What brings back a style that was kept earlier.
_RESTORES = (b"\x1b8", b"\x1b[u", b"\x1b[?1049l", b"\x1b[?47l", b"\x1b[?1047l")
_STYLES = re.compile(rb"\x1b\[([0-9;:]*)m")
# A row that has no width of its own.
_ENDLESS = 1 << 30
# By our own marks (7770) and by those of shells that speak OSC 133 ("semantic prompts", from FinalTerm).
ZONES: dict[str, Zone] = {
    "7770;P": "prompt", "7770;T": "input", "7770;C": "output", "7770;S": "output", "7770;E": "", "7770;D": "",
    "7770;X": "", "133;A": "prompt", "133;B": "input", "133;C": "output", "133;D": "",
}  # fmt: skip
ZONE_MARK = re.compile(r"7770;[A-Z]|133;[A-D]")


@final
@dataclass(frozen=True, slots=True)
class Loaded:
    """What tmux says of a screen besides its cells; `tabs` None if it was not asked."""

    columns: int
    count: int
    x: int
    y: int
    alternate: bool
    visible: bool
    wraps: bool
    inserts: bool
    origin: bool
    top: int
    bottom: int
    tabs: frozenset[int] | None = None


@final
@dataclass(frozen=True, slots=True)
class Ink:
    """What the next character looks like: its style, and which of G0 and G1 draw lines; None: nobody knows of G1."""

    style: Style
    shift: int
    graphic: tuple[bool, bool | None]


def ink(before: bytes, at_start: Ink | None) -> Ink | None:
    """What the newest output says of the next character, if it was `at_start` in front of it; None: it says nothing."""
    if b"\x1b" not in before and b"\x0e" not in before and b"\x0f" not in before:
        return at_start
    reset = max(map(before.rfind, _RESETS))
    restored = any(before.find(restore, max(reset, 0)) >= 0 for restore in _RESTORES)
    if restored or (reset < 0 and at_start is None):
        return None
    start = at_start or Ink(PLAIN, 0, (False, None))
    style = start.style if reset < 0 else PLAIN
    for found in _STYLES.finditer(before, max(reset, 0)):
        style = styled(style, found[1].decode())
    graphics = [
        _is_graphic(before, begin, known) for begin, known in zip((b"\x1b(", b"\x1b)"), start.graphic, strict=True)
    ]
    out, back = before.rfind(b"\x0e"), before.rfind(b"\x0f")
    shift = start.shift if out == back else int(out > back)
    if (shift or any(graphics)) and any(restore in before for restore in _RESTORES):
        return None
    return None if shift and graphics[1] is None else Ink(style, shift, (bool(graphics[0]), graphics[1]))


def _is_graphic(before: bytes, begin: bytes, known: bool | None) -> bool | None:
    on, off = before.rfind(begin + b"0"), before.rfind(begin + b"B")
    return known if on == off else on > off


def zone(before: bytes) -> Zone | None:
    """What the next character belongs to, by the newest mark; None if there is none."""
    at = max(before.rfind(b"\x1b]7770;"), before.rfind(b"\x1b]133;"))
    while at >= 0:
        found = ZONE_MARK.match(before[at + 2 : at + 8].decode("ascii", "replace"))
        if found and found[0] in ZONES:
            return ZONES[found[0]]
        at = max(before.rfind(b"\x1b]7770;", 0, at), before.rfind(b"\x1b]133;", 0, at))
    return None


@final
@dataclass(frozen=True, slots=True)
class Captured:
    """Rows as tmux printed them; `certain` if every character's width is, so that each cell is in its column."""

    rows: list[Row]
    certain: bool


def captured(lines: Sequence[bytes], columns: int, *, joined: bool) -> Captured:
    """The rows of a `capture-pane -e -N`; `joined`: of one with `-J`, to be cut where the terminal wrapped."""
    reader = _Reader(columns, joined=joined)
    for line in lines:
        reader.take(line.decode("utf-8", "replace"))
    return Captured(reader.rows, reader.certain)


@final
@dataclass(frozen=True, slots=True)
class Wraps:
    """Which rows go on in the next one; not `certain` if some may, or do, whose text ends there all the same."""

    rows: list[bool]
    certain: bool


def wrapped_rows(rows: Sequence[bytes], joined: Sequence[bytes]) -> Wraps:
    """Which of the rows of a `capture-pane -N` go on in the next one, by the same with `-J`.

    A row that is joined with an empty one shows no trace of it but a line less.
    """
    wrapped: list[bool] = []
    lines = list(joined)
    at, certain = 0, True
    for line in lines:
        while at < len(rows) and not rows[at] and line:
            wrapped.append(False)
            at, certain = at + 1, False
        have = b""
        while at < len(rows):
            have += rows[at]
            wrapped.append(have != line)
            at += 1
            if have == line:
                break
            if not line.startswith(have):
                return Wraps([False] * len(rows), certain=False)
    rest = len(rows) - len(wrapped)
    return Wraps(wrapped + [False] * rest, certain=certain and not rest)


def styled_lines(lines: Sequence[bytes]) -> list[list[Cell]]:
    """Any lines of a `capture-pane -e`, as long as they are, and without the blanks at their ends."""
    reader = _Reader(0, joined=False)
    for line in lines:
        reader.take(line.decode("utf-8", "replace"))
    for row in reader.rows:
        while row.cells and row.cells[-1] == BLANK:
            row.cells.pop()
    return [row.cells for row in reader.rows]


@final
class _Reader:
    """Reads lines; the style goes on from one to the next. No `columns`: rows of any length."""

    def __init__(self, columns: int, *, joined: bool) -> None:
        self._columns = columns or _ENDLESS
        self._fills = bool(columns)
        self._joined = joined
        self._pen, self._graphic = pen(PLAIN), False
        self._row = Row([])
        self.rows: list[Row] = []
        self.certain = True

    def take(self, line: str) -> None:
        self._row = Row([])
        for token in _TOKEN.finditer(line):
            if token["style"] is not None:
                self._pen = changed(self._pen, token["style"])
            elif token["control"] in ("\x0e", "\x0f"):
                self._graphic = token["control"] == "\x0e"
            elif token["control"] == "\t":
                self._tab()
            elif token["text"]:
                self._text(token["text"])
        self._end()

    def _text(self, text: str) -> None:
        cells = self._row.cells
        if self._graphic:
            text = text.translate(GRAPHICS)
        if text.isascii() and len(cells) + len(text) <= self._columns:
            cells += map(self._pen.__getitem__, text)
            return
        for character in text:
            self._append(character)

    def _append(self, character: str) -> None:
        cells = self._row.cells
        columns = width(character)
        if columns is None:
            self.certain = False
            columns = guessed_width(character)
        if columns == 0:
            if cells:
                at = -1 if cells[-1].text else -2
                cells[at] = cells[at]._replace(text=cells[at].text + character)
            return
        if len(cells) + columns > self._columns:
            if not self._joined:  # half of a wide character stands at the row's end
                self.certain = False
                return
            self._row.wrapped = True
            self._end()
            self._row = Row([])
            cells = self._row.cells
        cells += [self._pen[character], self._pen[""]][:columns]

    def _tab(self) -> None:
        """From tmux 3.6 on a tab is printed as one, and one that was overwritten in part as some: a guess, then."""
        cells = self._row.cells
        stop = min(len(cells) // TAB * TAB + TAB, self._columns - 1)
        cells += [self._pen[" "]] * (stop - len(cells))
        self.certain = False

    def _end(self) -> None:
        row = self._row
        row.touched = True if row.cells else None
        if self._fills:
            row.cells += [BLANK] * (self._columns - len(row.cells))
        self.rows.append(row)
