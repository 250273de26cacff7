"""Charts as SVG, drawn by hand: no dependency for three pictures."""

from __future__ import annotations

import math
import textwrap
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROW, WIDTH, TOP = 30, 420, 44
# At most so wide is a character of a sans-serif font of 13 px on average, so that no label is cut off; a line of 11 px
# text holds so many.
LETTER, FOOT_LETTERS = 7.5, 110
# Room for a figure to the right of the longest bar.
FIGURE = 80
FONT = 'font-family="sans-serif" font-size="13"'
INK, OURS, THEIRS = "#24292f", "#1a7f5a", "#8c959f"
FOOT = 16
# The room beside the longest label of a line.
MARGIN = 30


def bars(title: str, medians: Iterable[tuple[str, float]], where: Mapping[str, str]) -> str:
    """Draw the medians on a log scale; what is called muxwire is ours."""
    rows = sorted(medians, key=lambda row: row[1])
    low = math.log10(rows[0][1]) - 0.5
    high = max(math.log10(rows[-1][1]), low + 1)
    drawn = [(name, (math.log10(median) - low) / (high - low), f"{median:.2f}") for name, median in rows]
    return _drawn(title, drawn, where, outlined=False)


def shares(title: str, parts_of: Sequence[tuple[str, int, int]], where: Mapping[str, str]) -> str:
    """Draw each part as a share of its whole."""
    drawn = [(name, part / max(whole, 1), f"{part} of {whole}") for name, part, whole in parts_of]
    return _drawn(title, drawn, where, outlined=True)


def _drawn(title: str, bars_of: Sequence[tuple[str, float, str]], where: Mapping[str, str], *, outlined: bool) -> str:
    """Bars, each with its label, its length as a share of WIDTH, and its figure, on white under a title.

    Below them stands where the figures come from. `outlined`: the whole of each is drawn too, with the figures behind.
    """
    left, parts = math.ceil(max(len(name) for name, _, _ in bars_of) * LETTER) + MARGIN, []
    for number, (name, share, figure) in enumerate(bars_of):
        y, length, colour = TOP + number * ROW, share * WIDTH, THEIRS
        parts.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>')
        if outlined:
            around = f'fill="none" stroke="{THEIRS}" stroke-width="0.5"'
            parts.append(f'<rect x="{left}" y="{y}" width="{WIDTH}" height="20" {around}/>')
        elif name.startswith("muxwire"):
            colour = OURS
        parts += [
            f'<rect x="{left}" y="{y}" width="{length:.0f}" height="20" fill="{colour}"/>',
            f'<text x="{left + (WIDTH if outlined else length) + 6:.0f}" y="{y + 15}">{figure}</text>',
        ]
    size_needed = left + WIDTH + FIGURE, TOP + ROW * len(bars_of) + 30
    made = textwrap.wrap(", ".join(f"{name} {value}" for name, value in where.items() if value), FOOT_LETTERS)
    width = max(size_needed[0], *(math.ceil(len(line) * LETTER) + MARGIN for line in (title, *made)))
    height = size_needed[1] + FOOT * len(made)
    size = f'width="{width}" height="{height}"'
    foot = [
        f'<text x="12" y="{size_needed[1] + FOOT * number}" font-size="11" fill="{THEIRS}">{escape(line)}</text>'
        for number, line in enumerate(made)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT} fill="{INK}">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="12" y="24" font-size="15">{escape(title)}</text>',
            *parts,
            *foot,
            "</svg>",
            "",
        ]
    )
