"""A picture of a screen for people: SVG, drawn from lines and runs, with nothing that a viewer would have to load."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from muxwire.vt.cells import PLAIN, Style
from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muxwire.vt.cells import Run

# Pixels of one cell, and where a letter of that font stands in it.
_WIDTH, _HEIGHT, _BASELINE, _FONT_SIZE = 8.4, 18, 13.5, 14
_MARGIN = 10
_FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_BACKGROUND, _FOREGROUND = "#16181d", "#d8dbe2"
# The sixteen colours, which every terminal chooses for itself; these can be distinguished on that background.
_SIXTEEN = {
    "black": "#30343c", "red": "#e06c75", "green": "#98c379", "yellow": "#d9a95b", "blue": "#61a0ef",
    "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#c8ccd4", "brightblack": "#7f8794", "brightred": "#ff8c95",
    "brightgreen": "#b5e890", "brightyellow": "#f3cf80", "brightblue": "#8ec2ff", "brightmagenta": "#e6a3fa",
    "brightcyan": "#7fe0ec", "brightwhite": "#ffffff",
}  # fmt: skip
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
) -> str:
    """Draw `lines` and the styled `runs` in them; a line that is too long for `columns` continues in the next row."""
    cells = _placed(lines, columns, rows)
    styles = [[PLAIN] * columns for _ in range(rows)]
    for run in runs:
        if run.y < rows:
            styles[run.y][run.x : run.x + run.length] = [run.style] * min(run.length, columns - run.x)
    width, height = columns * _WIDTH + 2 * _MARGIN, rows * _HEIGHT + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="{_FONTS}"',
        f' width="{width:g}" height="{height:g}" font-size="{_FONT_SIZE}">',
        f"<title>{_text(title)}</title>",
        f'<rect width="100%" height="100%" rx="6" fill="{_BACKGROUND}"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
    ]
    for y in range(rows):
        parts += _row(y, cells[y], styles[y])
    if cursor is not None:
        x, y = cursor
        parts.append(
            f'<rect x="{x * _WIDTH:g}" y="{y * _HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" fill="{_FOREGROUND}"'
            ' fill-opacity="0.35"/>'
        )
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _placed(lines: Sequence[str], columns: int, rows: int) -> list[list[str]]:
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


def _row(y: int, cells: Sequence[str], styles: Sequence[Style]) -> Iterator[str]:
    spans = [list(span) for _, span in groupby(range(len(cells)), key=lambda x: styles[x])]
    for span in spans:
        _, back = _colours(styles[span[0]])
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
                yield _letters(text, piece, y, style)


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


def _letters(text: str, piece: Sequence[int], y: int, style: Style) -> str:
    fore, _ = _colours(style)
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


def _colours(style: Style) -> tuple[str, str]:
    fore, back = colour(style.fg) or _FOREGROUND, colour(style.bg)
    return (back or _BACKGROUND, fore) if style.reverse else (fore, back)


def colour(name: str) -> str:
    """A colour of a `Style` as `#rrggbb`; "" for the default."""
    if name.startswith("colour"):
        number = int(name.removeprefix("colour"))
        if number >= _GREYS:
            return "#" + f"{8 + 10 * (number - _GREYS):02x}" * 3
        number -= _CUBE
        return "#" + "".join(f"{_STEPS[number // side % 6]:02x}" for side in (36, 6, 1))
    return _SIXTEEN.get(name, name)


def _text(text: str) -> str:
    return escape(text.translate(_FORBIDDEN))
