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
    left = _room(name for name, _ in rows)
    parts = []
    for number, (name, median) in enumerate(rows):
        y = TOP + number * ROW
        length = (math.log10(median) - low) / (high - low) * WIDTH
        colour = OURS if name.startswith("muxwire") else THEIRS
        parts += [
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{left}" y="{y}" width="{length:.0f}" height="20" fill="{colour}"/>',
            f'<text x="{left + length + 6:.0f}" y="{y + 15}">{median:.2f}</text>',
        ]
    return _framed(title, parts, (left + WIDTH + FIGURE, TOP + ROW * len(rows) + 30), where)


def shares(title: str, parts_of: Sequence[tuple[str, int, int]], where: Mapping[str, str]) -> str:
    """Draw each part as a share of its whole."""
    left, parts = _room(name for name, _, _ in parts_of), []
    for number, (name, part, whole) in enumerate(parts_of):
        y = TOP + number * ROW
        parts += [
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{left}" y="{y}" width="{WIDTH}" height="20" fill="none" stroke="{THEIRS}" stroke-width="0.5"/>',
            f'<rect x="{left}" y="{y}" width="{part / max(whole, 1) * WIDTH:.0f}" height="20" fill="{THEIRS}"/>',
            f'<text x="{left + WIDTH + 6}" y="{y + 15}">{part} of {whole}</text>',
        ]
    return _framed(title, parts, (left + WIDTH + FIGURE, TOP + ROW * len(parts_of) + 30), where)


def _room(labels: Iterable[str]) -> int:
    """How wide a column of labels is."""
    return math.ceil(max(map(len, labels)) * LETTER) + MARGIN


def _framed(title: str, parts: Iterable[str], size_needed: tuple[int, int], where: Mapping[str, str]) -> str:
    """The parts on white under a title, over lines that say where the figures come from."""
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
