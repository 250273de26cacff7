"""Cells of a screen: a character, and its style as SGR says it (ECMA-48, xterm's colours)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, final

from muxwire.values import FLAT
from muxwire.vt.widths import GRAPHICS, guessed_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muxwire.vt.ring import RingBuffer


COLOUR_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")

# Programs use a few dozen combinations; a picture shown in true colours has a thousand.
_STYLES_KEPT = 4096
# tmux ignores a sequence whose parameters are longer, or more (input.c, param_buf and param_list).
PARAMETERS_LENGTH, PARAMETERS_COUNT = 63, 23
_INT_MAX = (1 << 31) - 1
_ON: dict[int, dict[str, bool]] = {
    1: {"bold": True}, 2: {"dim": True}, 3: {"italic": True}, 4: {"underline": True}, 5: {"blink": True},
    6: {"blink": True}, 7: {"reverse": True}, 8: {"hidden": True}, 9: {"strike": True}, 21: {"underline": True},
    22: {"bold": False, "dim": False}, 23: {"italic": False}, 24: {"underline": False}, 25: {"blink": False},
    27: {"reverse": False}, 28: {"hidden": False}, 29: {"strike": False},
}  # fmt: skip
_FOREGROUND, _BACKGROUND, _UNDERLINE = 38, 48, 58
_EXTENDED = (_FOREGROUND, _BACKGROUND, _UNDERLINE)
# The kinds of underline that `4:N` chooses from; `Style` does not distinguish them.
_UNDERLINES = range(1, 6)
_TEXT = itemgetter(0)


@final
@dataclass(frozen=True, slots=True)
class Style:
    """How a cell looks. A colour is "" (the default), a name, `bright` and a name, `colour16` to 255, or `#rrggbb`."""

    fg: str = ""
    bg: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    blink: bool = False
    reverse: bool = False
    hidden: bool = False
    strike: bool = False


PLAIN = Style()


class Cell(NamedTuple):
    """One column: `text` is "" for the second column of a wide character."""

    text: str
    style: Style


BLANK = Cell(" ", PLAIN)


@final
class Pen(dict[str, Cell]):
    """The cells that one style writes, by their text."""

    def __init__(self, style: Style) -> None:
        super().__init__()
        self.style = PLAIN if style == PLAIN else style  # one object for all plain cells is compared at once

    def __missing__(self, text: str) -> Cell:
        made = self[text] = Cell(text, self.style)
        return made

    # One object for each style: to hash all fields at every sequence would cost more than all the rest.
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


pen = lru_cache(maxsize=_STYLES_KEPT)(Pen)


@lru_cache(maxsize=_STYLES_KEPT)
def changed(before: Pen, parameters: str) -> Pen:
    return pen(styled(before.style, parameters))


def _colours() -> dict[int, dict[str, str]]:
    table: dict[int, dict[str, str]] = {39: {"fg": ""}, 49: {"bg": ""}}
    for number, name in enumerate(COLOUR_NAMES):
        table |= {30 + number: {"fg": name}, 40 + number: {"bg": name}}
        table |= {90 + number: {"fg": f"bright{name}"}, 100 + number: {"bg": f"bright{name}"}}
    return table


_COLOURS = _colours()


def styled(style: Style, parameters: str) -> Style:
    """Return `style` after `CSI parameters m`, by the rules of tmux's input.c; what is unknown changes nothing."""
    if len(parameters) > PARAMETERS_LENGTH or parameters.count(";") >= PARAMETERS_COUNT:
        return style
    groups = parameters.split(";")
    if any(group.isdigit() and int(group) > _INT_MAX for group in groups):
        return style
    index = 0
    while index < len(groups):
        group = groups[index]
        index += 1
        if ":" in group:
            style = _by_colons(style, group)
            continue
        code = int(group or 0)
        if code in _EXTENDED:
            style, used = _by_semicolons(style, code, groups[index : index + 4])
            index += used
        elif code == 0:
            style = PLAIN
        elif code in _ON:
            style = replace(style, **_ON[code])  # type: ignore[arg-type]
        elif code in _COLOURS:
            style = replace(style, **_COLOURS[code])  # type: ignore[arg-type]
    return style


def _by_semicolons(style: Style, code: int, rest: Sequence[str]) -> tuple[Style, int]:
    """A colour as `38;5;N` or `38;2;R;G;B`, and how many parameters of `rest` belong to it."""
    numbers = [int(one) if one.isdigit() else -1 for one in rest] + [-1] * (4 - len(rest))
    if numbers[0] == 5:
        return _coloured(style, code, _indexed(numbers[1])), 2
    if numbers[0] == 2 and all(0 <= number <= 255 for number in numbers[1:4]):
        return _coloured(style, code, "#{:02x}{:02x}{:02x}".format(*numbers[1:4])), 4
    # If it is no valid colour, tmux takes the parameters after the first one for codes of their own.
    return style, 1


def _by_colons(style: Style, group: str) -> Style:
    numbers = [int(one) if one else -1 for one in group.split(":")]
    if len(numbers) > 7 or max(numbers) > _INT_MAX:
        return style
    if numbers[0] == 4:
        if len(numbers) != 2 or (numbers[1] != 0 and numbers[1] not in _UNDERLINES):
            return style
        return replace(style, underline=numbers[1] != 0)
    if numbers[0] not in _EXTENDED or len(numbers) < 3:
        return style
    if numbers[1] == 5:
        return _coloured(style, numbers[0], _indexed(numbers[2]))
    # There may be a colour space before the three.
    rgb = numbers[2:5] if len(numbers) == 5 else numbers[3:6]
    if numbers[1] == 2 and len(rgb) == 3 and all(0 <= number <= 255 for number in rgb):
        return _coloured(style, numbers[0], "#{:02x}{:02x}{:02x}".format(*rgb))
    return style


def _coloured(style: Style, code: int, colour: str) -> Style:
    if code == _UNDERLINE:
        return style
    return replace(style, fg=colour) if code == _FOREGROUND else replace(style, bg=colour)


def _indexed(number: int) -> str:
    if not 0 <= number <= 255:
        return ""
    if number < 16:
        return COLOUR_NAMES[number] if number < 8 else f"bright{COLOUR_NAMES[number - 8]}"
    return f"colour{number}"


@final
@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring columns of row `y`, from column `x` on, that look the same."""

    y: int
    x: int
    length: int
    style: Style = field(metadata=FLAT)


def runs(rows: Sequence[Sequence[Cell]]) -> Iterator[Run]:
    """What differs from the default on a screen."""
    for y, row in enumerate(rows):
        begin = 0
        for x in range(1, len(row) + 1):
            if x == len(row) or row[x].style != row[begin].style:
                if row[begin].style != PLAIN:
                    yield Run(y, begin, x - begin, row[begin].style)
                begin = x


def text_of(row: Sequence[Cell]) -> str:
    """The text of a row, without the blanks at its end."""
    return "".join(map(_TEXT, row)).rstrip(" ")


# A screen as tmux prints it: the rows of `capture-pane -e`, as text and as cells, and which of them continue.

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)|\x1b\[(?P<style>[0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(?P<control>[\x00-\x1a])"
)
# What `-e` adds to a row: styles, and from tmux 3.4 on links.
_ADDED = re.compile(r"\x1b\[[0-9;:]*m|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")
# Controls that change the text: to and from the line drawing set, also in the rows after, and a tab, which tmux prints
# as a tab from 3.6 on.
_STATEFUL = (b"\t", b"\x0e", b"\x0f")
# tmux sets a stop at every eighth column (screen_reset_tabs).
_TAB = 8
# A row that has no width of its own.
_ENDLESS = 1 << 30

# So many bytes at the end of an output may be the beginning of a sequence that `draws_lines` looks for.
LINES_REACH = 2

# What vis(3) writes in C's manner; the others are three octal digits, or the character itself after the backslash.
_NAMED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b"s": b" "}
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
# Nearly all escapes that a screen has; a NUL stands for the backslash meanwhile, since no cell can hold one.
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
    """Whether output from an offset on may have switched to the line drawing set: by `ESC ( 0`, or by SO, to G1."""
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
    """Which rows continue in the next one; not `certain` if the output of tmux does not tell it for every row."""

    rows: list[bool]
    certain: bool


def wrapped_rows(rows: Sequence[bytes], joined: Sequence[bytes]) -> Wraps:
    """Which of the rows of a `capture-pane -N` continue in the next one, by the output with `-J`.

    A row that is joined with an empty one has the same text: there is only a line less.
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
                # tmux prints a tab that was overwritten in part as several: this is a guess then.
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
