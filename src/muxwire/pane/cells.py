"""Cells of a screen: a character, and its style as SGR says it (ECMA-48, xterm's colours)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NamedTuple, final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


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

    def told(self) -> dict[str, str | bool]:
        """What differs from the default."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}


PLAIN = Style()


class Cell(NamedTuple):
    """One column: `text` is "" for the second column of a wide character."""

    text: str
    style: Style


BLANK = Cell(" ", PLAIN)

_ON: dict[int, dict[str, bool]] = {
    1: {"bold": True}, 2: {"dim": True}, 3: {"italic": True}, 4: {"underline": True}, 5: {"blink": True},
    6: {"blink": True}, 7: {"reverse": True}, 8: {"hidden": True}, 9: {"strike": True}, 21: {"underline": True},
    22: {"bold": False, "dim": False}, 23: {"italic": False}, 24: {"underline": False}, 25: {"blink": False},
    27: {"reverse": False}, 28: {"hidden": False}, 29: {"strike": False},
}  # fmt: skip


def _colours() -> dict[int, dict[str, str]]:
    table: dict[int, dict[str, str]] = {39: {"fg": ""}, 49: {"bg": ""}}
    for number, name in enumerate(_NAMES):
        table |= {30 + number: {"fg": name}, 40 + number: {"bg": name}}
        table |= {90 + number: {"fg": f"bright{name}"}, 100 + number: {"bg": f"bright{name}"}}
    return table


_COLOURS = _colours()
_EXTENDED = {38: "fg", 48: "bg"}
_UNDERLINE_COLOUR = 58


def styled(style: Style, parameters: str) -> Style:
    """Return `style` after `CSI parameters m`; what is unknown changes nothing."""
    groups = [group.split(":") for group in parameters.split(";")]
    index = 0
    while index < len(groups):
        group = groups[index]
        code = int(group[0] or 0)
        index += 1
        if code in _EXTENDED or code == _UNDERLINE_COLOUR:
            if len(group) > 1:
                colour = _extended(group[1:])
            else:
                rest = [one[0] for one in groups[index:]]
                colour = _extended(rest)
                index += 2 if rest[:1] == ["5"] else 4 if rest[:1] == ["2"] else 0
            if colour and code in _EXTENDED:
                style = replace(style, fg=colour) if code == 38 else replace(style, bg=colour)
        elif code == 0:
            style = PLAIN
        elif code == 4 and group[1:] == ["0"]:
            style = replace(style, underline=False)
        elif code in _ON:
            style = replace(style, **_ON[code])  # type: ignore[arg-type]
        elif code in _COLOURS:
            style = replace(style, **_COLOURS[code])  # type: ignore[arg-type]
    return style


def _extended(parts: Sequence[str]) -> str:
    """The colour of `5;N` or `2;R;G;B`; with colons there may be a colour space before R."""
    try:
        numbers = [int(part or 0) for part in parts]
    except ValueError:
        return ""
    if numbers[:1] == [5] and len(numbers) > 1 and numbers[1] < 256:
        number = numbers[1]
        if number < 16:
            return _NAMES[number] if number < 8 else f"bright{_NAMES[number - 8]}"
        return f"colour{number}"
    if numbers[:1] == [2] and len(numbers) > 3:
        red, green, blue = numbers[2:5] if len(numbers) == 5 else numbers[1:4]
        return f"#{red & 255:02x}{green & 255:02x}{blue & 255:02x}"
    return ""


@final
@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring columns of row `y`, from column `x` on, that look the same and not like the default."""

    y: int
    x: int
    length: int
    style: Style


def runs(rows: Sequence[Sequence[Cell]]) -> Iterator[Run]:
    """The sparse styles of a screen."""
    for y, row in enumerate(rows):
        begin = 0
        for x in range(1, len(row) + 1):
            if x == len(row) or row[x].style != row[begin].style:
                if row[begin].style != PLAIN:
                    yield Run(y, begin, x - begin, row[begin].style)
                begin = x


def text_of(row: Sequence[Cell]) -> str:
    """The text of a row, without the blanks at its end."""
    return "".join(cell.text for cell in row).rstrip(" ")
