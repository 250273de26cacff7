"""A screen as tmux prints it: the rows of `capture-pane -e`, as text and as cells, and which of them continue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

from muxwire.values import dataclass
from muxwire.vt.cells import BLANK, PLAIN, Cell, changed, pen
from muxwire.vt.widths import GRAPHICS, guessed_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.vt.ring import RingBuffer

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)|\x1b\[(?P<style>[0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(?P<control>[\x00-\x1a])"
)
# What `-e` adds to a row: styles, and from tmux 3.4 on links.
_ADDED = re.compile(r"\x1b\[[0-9;:]*m|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")
# What takes the state of the rows before: the line drawing set, and a tab, which is printed as one from tmux 3.6 on.
_STATEFUL = (b"\t", b"\x0e", b"\x0f")
# tmux sets a stop at every eighth column (screen_reset_tabs).
_TAB = 8
# A row that has no width of its own.
_ENDLESS = 1 << 30

# What an output may end with that `draws_lines` knows by its next byte only.
LINES_REACH = 2

# What vis(3) writes in C's manner; the others are three octal digits, or the character itself after the backslash.
_NAMED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b"s": b" "}
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
# Nearly all of it in a screen; a NUL stands for the backslash meanwhile, since no cell can hold one.
_USUAL = ((rb"\\", b"\0"), (rb"\033", b"\x1b"), (rb"\016", b"\x0e"), (rb"\017", b"\x0f"), (rb"\$", b"$"))


def unescaped(data: bytes) -> bytes:
    """Undo what `show-buffer` of tmux 3.3 does to a buffer (utf8_strvis, with VIS_OCTAL and VIS_CSTYLE)."""
    if b"\\" not in data:
        return data
    if b"\0" not in data:
        for escaped, plain in _USUAL:
            data = data.replace(escaped, plain)
        if b"\\" not in data:
            return data.replace(b"\0", b"\\")
        data = data.replace(b"\0", rb"\\")
    return _ESCAPED.sub(_unescaped_one, data)


def _unescaped_one(found: re.Match[bytes]) -> bytes:
    code = found[1]
    if len(code) > 1:
        return bytes((int(code, 8) & 0xFF,))
    return _NAMED.get(code, b"\0" if code == b"0" else code)


def draws_lines(output: RingBuffer, since: int) -> bool:
    """Whether output from an offset on may have switched to the line drawing set: as G0, or to what G1 holds."""
    if output.find(b"\x0e", since) >= 0:
        return True
    # In coloured output every ESC is a possible beginning; most has no "(", and rfind compares the last byte first.
    return output.find(b"(", since) >= 0 and output.rfind(b"\x1b(0", since) >= 0


def text_rows(lines: Sequence[bytes]) -> list[str]:
    """The text of a `capture-pane -e`, without the blanks at the rows' ends."""
    whole = b"\n".join(lines)
    if any(control in whole for control in _STATEFUL):
        return ["".join(cell.text for cell in row).rstrip(" ") for row in cell_rows(lines, 0)]
    text = whole.decode("utf-8", "replace")
    return [row.rstrip(" ") for row in (_ADDED.sub("", text) if "\x1b" in text else text).split("\n")]


def styled_lines(lines: Sequence[bytes]) -> list[list[Cell]]:
    """Any lines of a `capture-pane -e`, as long as they are, and without the blanks at their ends."""
    rows = cell_rows(lines, 0)
    for row in rows:
        while row and row[-1] == BLANK:
            row.pop()
    return rows


def cell_rows(lines: Sequence[bytes], columns: int) -> list[list[Cell]]:
    """The cells of a `capture-pane -e -N`, each row `columns` wide; 0: as wide as it is."""
    reader = _Reader(columns)
    for line in lines:
        reader.take(line.decode("utf-8", "replace"))
    return reader.rows


@final
@dataclass(frozen=True, slots=True)
class Wraps:
    """Which rows continue in the next one; not `certain` if some may, or do, whose text ends there all the same."""

    rows: list[bool]
    certain: bool


def wrapped_rows(rows: Sequence[bytes], joined: Sequence[bytes]) -> Wraps:
    """Which of the rows of a `capture-pane -N` continue in the next one, by the same with `-J`.

    A row that is joined with an empty one shows no trace of it but a line less.
    """
    if len(rows) == len(joined):
        return Wraps([False] * len(rows), certain=True)
    wrapped: list[bool] = []
    at, certain = 0, True
    for line in joined:
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


@final
class _Reader:
    """Reads lines; the style continues from one to the next. No `columns`: rows of any length."""

    def __init__(self, columns: int) -> None:
        self._columns = columns or _ENDLESS
        self._fills = bool(columns)
        self._pen, self._graphic = pen(PLAIN), False
        self._cells: list[Cell] = []
        self.rows: list[list[Cell]] = []

    def take(self, line: str) -> None:
        cells: list[Cell] = []
        self._cells = cells
        for token in _TOKEN.finditer(line):
            if token["style"] is not None:
                self._pen = changed(self._pen, token["style"])
            elif token["control"] in ("\x0e", "\x0f"):
                self._graphic = token["control"] == "\x0e"
            elif token["control"] == "\t":
                # One that was overwritten in part is printed as some: a guess, then.
                stop = min(len(cells) // _TAB * _TAB + _TAB, self._columns - 1)
                cells += [self._pen[" "]] * (stop - len(cells))
            elif token["text"]:
                self._text(token["text"])
        if self._fills:
            cells += [BLANK] * (self._columns - len(cells))
        self.rows.append(cells)

    def _text(self, text: str) -> None:
        if self._graphic:
            text = text.translate(GRAPHICS)
        if text.isascii() and len(self._cells) + len(text) <= self._columns:
            self._cells += map(self._pen.__getitem__, text)
            return
        for character in text:
            self._append(character)

    def _append(self, character: str) -> None:
        cells = self._cells
        columns = guessed_width(character)
        if columns == 0:
            if cells:
                at = -1 if cells[-1].text else -2
                cells[at] = cells[at]._replace(text=cells[at].text + character)
        elif len(cells) + columns <= self._columns:  # else half of a wide character stands at the row's end
            cells += [self._pen[character], self._pen[""]][:columns]
