"""A bar chart as SVG, drawn by hand: no dependency for one picture."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROW, LEFT, WIDTH, TOP = 30, 230, 420, 44
FONT = 'font-family="sans-serif" font-size="13"'
INK, OURS, THEIRS = "#24292f", "#1a7f5a", "#8c959f"


def bars(title: str, medians: Iterable[tuple[str, float]], where: Mapping[str, str]) -> str:
    """Draw the medians on a log scale; what is called muxwire is ours."""
    rows = sorted(medians, key=lambda row: row[1])
    low = math.log10(rows[0][1]) - 0.5
    high = math.log10(rows[-1][1])
    height = TOP + ROW * len(rows) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 90}" height="{height}" {FONT} fill="{INK}">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="24" font-size="15">{escape(title)}</text>',
    ]
    for number, (name, median) in enumerate(rows):
        y = TOP + number * ROW
        length = (math.log10(median) - low) / (high - low) * WIDTH
        colour = OURS if name.startswith("muxwire") else THEIRS
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{length:.0f}" height="20" fill="{colour}"/>',
            f'<text x="{LEFT + length + 6:.0f}" y="{y + 15}">{median:.2f}</text>',
        ]
    made = ", ".join(f"{name} {value}" for name, value in where.items() if value)
    parts.append(f'<text x="12" y="{height - 10}" font-size="11" fill="{THEIRS}">{escape(made)}</text></svg>')
    return "\n".join(parts) + "\n"
