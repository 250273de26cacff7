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
# Lines that are told apart also by those who do not see all colours.
COLOURS = ("#1a7f5a", "#b35900", "#3b5bdb", "#8c2f6b")
FOOT = 16
# The plane of a chart of lines: its side, and the room beside it for the lines' names.
SIDE, AXIS = 300, 60


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


def lines(title: str, series: Mapping[str, Sequence[Sequence[float]]], where: Mapping[str, str]) -> str:
    """Draw each cost against its size, both as multiples of the first, on log scales: linear is the diagonal."""
    spans = [math.log10(points[-1][0] / points[0][0]) for points in series.values()]
    decades = max(1.0, *spans)
    left, bottom = AXIS, TOP + SIDE
    parts = [
        f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{THEIRS}"/>',
        f'<line x1="{left}" y1="{bottom}" x2="{left + SIDE}" y2="{TOP}" stroke="{THEIRS}" stroke-dasharray="4"/>',
        f'<text x="{left + SIDE}" y="{bottom + 18}" text-anchor="end">{10**decades:,.0f} times the size</text>',
        f'<text x="{left - 6}" y="{bottom}" text-anchor="end">1</text>',
        f'<text x="{left - 6}" y="{TOP + 12}" text-anchor="end">{10**decades:,.0f}</text>',
    ]
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        drawn = [
            (
                left + math.log10(x / points[0][0]) / decades * SIDE,
                bottom - math.log10(y / points[0][1]) / decades * SIDE,
            )
            for x, y in points
        ]
        path = " ".join(f"{x:.0f},{min(max(y, TOP), bottom):.0f}" for x, y in drawn)
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{left + SIDE + 16}" y="{TOP + 16 + number * 22}" fill="{colour}">{escape(name)}</text>',
        ]
    return _framed(title, parts, (left + SIDE + _room(series) + 16, bottom + 50), where)


def _room(labels: Iterable[str]) -> int:
    """How wide a column of labels is."""
    return math.ceil(max(map(len, labels)) * LETTER) + AXIS // 2


def _framed(title: str, parts: Iterable[str], size_needed: tuple[int, int], where: Mapping[str, str]) -> str:
    """The parts on white under a title, over lines that say where the figures come from."""
    made = textwrap.wrap(", ".join(f"{name} {value}" for name, value in where.items() if value), FOOT_LETTERS)
    width = max(size_needed[0], *(math.ceil(len(line) * LETTER) + AXIS // 2 for line in (title, *made)))
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
