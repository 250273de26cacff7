"""A picture of a screen for people: SVG, drawn from lines and runs, with nothing that a viewer would have to load."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape  # xml.sax.saxutils would import urllib, which takes longer than this module
from itertools import groupby
from typing import TYPE_CHECKING, final

from muxwire.vt.cells import COLOUR_NAMES, PLAIN, Style
from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muxwire.vt.cells import Run

# Pixels of one cell, and where a letter of that font stands in it.
_WIDTH, _HEIGHT, _BASELINE, _FONT_SIZE = 8.4, 18, 13.5, 14
_MARGIN = 10
_FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


@final
@dataclass(frozen=True, slots=True)
class Theme:
    """What a terminal chooses for itself: its two default colours, and the sixteen that programs call by name."""

    background: str
    foreground: str
    sixteen: Mapping[str, str]


_SIXTEEN = (*COLOUR_NAMES, *(f"bright{name}" for name in COLOUR_NAMES))


def _sixteen(*colours: str) -> dict[str, str]:
    return dict(zip(_SIXTEEN, colours, strict=True))


# All of these can be distinguished on their background.
DARK = Theme("#16181d", "#d8dbe2", _sixteen(
    "#30343c", "#e06c75", "#98c379", "#d9a95b", "#61a0ef", "#c678dd", "#56b6c2", "#c8ccd4",
    "#7f8794", "#ff8c95", "#b5e890", "#f3cf80", "#8ec2ff", "#e6a3fa", "#7fe0ec", "#ffffff",
))  # fmt: skip
# Dark letters, white ones too: programs write them on whatever the background is.
LIGHT = Theme("#ffffff", "#24292f", _sixteen(
    "#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#6e7781",
    "#57606a", "#a40e26", "#1a7f37", "#633c01", "#1f75d8", "#8f4fe6", "#23788c", "#6a737d",
))  # fmt: skip
# xterm's 256 colours: after the sixteen a cube of six steps a side, then 24 greys.
_CUBE, _GREYS = 16, 232
_STEPS = (0, 95, 135, 175, 215, 255)
# What XML 1.0 cannot hold, as a character or as a reference.
_FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)), " ")


def svg(
    lines: Sequence[str],
    runs: Sequence[Run],
    *,
    columns: int,
    rows: int,
    cursor: tuple[int, int] | None = None,
    title: str = "",
    light: bool = False,
) -> str:
    """Draw `lines` and the styled `runs` in them; a line that is too long for `columns` continues in the next row.

    On a dark background, or on a `light` one.
    """
    theme = LIGHT if light else DARK
    cells = placed(lines, columns, rows)
    styles = [[PLAIN] * columns for _ in range(rows)]
    for run in runs:
        if run.y < rows:
            styles[run.y][run.x : run.x + run.length] = [run.style] * min(run.length, columns - run.x)
    width, height = columns * _WIDTH + 2 * _MARGIN, rows * _HEIGHT + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="{_FONTS}"',
        f' width="{width:g}" height="{height:g}" font-size="{_FONT_SIZE}">',
        f"<title>{_text(title)}</title>",
        f'<rect width="100%" height="100%" rx="6" fill="{theme.background}"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})" shape-rendering="crispEdges">',  # no seams between backgrounds
    ]
    for y in range(rows):
        parts += _row(y, cells[y], styles[y], theme)
    if cursor is not None:
        x, y = cursor
        parts.append(
            f'<rect x="{x * _WIDTH:g}" y="{y * _HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" fill="{theme.foreground}"'
            ' fill-opacity="0.35"/>'
        )
    return "\n".join([*parts, "</g>", "</svg>", ""])


def placed(lines: Sequence[str], columns: int, rows: int) -> list[list[str]]:
    """The text of each cell, "" in the second of a wide character."""
    placed: list[list[str]] = []
    for line in lines:
        row: list[str] = []
        for character in line:
            wide = guessed_width(character)
            if wide == 0:
                if row:
                    at = -1 if row[-1] else -2
                    row[at] += character
                continue
            if len(row) + wide > columns:
                placed.append(row)
                row = []
            row += [character, ""][:wide]
        placed.append(row)
    placed = [row + [" "] * (columns - len(row)) for row in placed[:rows]]
    return placed + [[" "] * columns for _ in range(rows - len(placed))]


def _row(y: int, cells: Sequence[str], styles: Sequence[Style], theme: Theme) -> Iterator[str]:
    spans = [list(span) for _, span in groupby(range(len(cells)), key=lambda x: styles[x])]
    for span in spans:
        _, back = colours(styles[span[0]], theme)
        if back:
            yield (
                f'<rect x="{span[0] * _WIDTH:g}" y="{y * _HEIGHT}" width="{len(span) * _WIDTH:g}" height="{_HEIGHT}"'
                f' fill="{back}"/>'
            )
    for span in spans:
        style = styles[span[0]]
        # A wide character stands by itself: its font may be of another width.
        for piece in _pieces(cells, span):
            text = "".join(cells[x] for x in piece)
            drawn = text.strip(" ") or style.underline or style.strike
            if drawn and not style.hidden:
                yield _letters(text, piece, y, style, theme)


def _pieces(cells: Sequence[str], span: Sequence[int]) -> Iterator[list[int]]:
    piece: list[int] = []
    for x in span:
        wide = x + 1 < len(cells) and not cells[x + 1]
        if wide and piece:
            yield piece
            piece = []
        piece.append(x)
        if not cells[x]:
            yield piece
            piece = []
    if piece:
        yield piece


def _letters(text: str, piece: Sequence[int], y: int, style: Style, theme: Theme) -> str:
    fore, _ = colours(style, theme)
    attributes = [f'fill="{fore}"']
    attributes += ['font-weight="bold"'] if style.bold else []
    attributes += ['font-style="italic"'] if style.italic else []
    attributes += ['fill-opacity="0.6"'] if style.dim else []
    lines = [name for name, on in (("underline", style.underline), ("line-through", style.strike)) if on]
    attributes += [f'text-decoration="{" ".join(lines)}"'] if lines else []
    return (
        f'<text x="{piece[0] * _WIDTH:g}" y="{y * _HEIGHT + _BASELINE:g}" textLength="{len(piece) * _WIDTH:g}"'
        f' lengthAdjust="spacingAndGlyphs" xml:space="preserve" {" ".join(attributes)}>{_text(text)}</text>'
    )


def colours(style: Style, theme: Theme) -> tuple[str, str]:
    """Of the letters and of what is behind them, "" for the default one."""
    fore, back = colour(style.fg, theme) or theme.foreground, colour(style.bg, theme)
    return (back or theme.background, fore) if style.reverse else (fore, back)


def colour(name: str, theme: Theme = DARK) -> str:
    """A colour of a `Style` as `#rrggbb`; "" for the default."""
    if name.startswith("colour"):
        number = int(name.removeprefix("colour"))
        if number >= _GREYS:
            return "#" + f"{8 + 10 * (number - _GREYS):02x}" * 3
        number -= _CUBE
        return "#" + "".join(f"{_STEPS[number // side % 6]:02x}" for side in (36, 6, 1))
    return theme.sixteen.get(name, name)


def _text(text: str) -> str:
    return escape(text.translate(_FORBIDDEN), quote=False)
