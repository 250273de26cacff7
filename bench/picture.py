"""A bar chart as SVG, drawn by hand: no dependency for one picture."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bench.measure import Timing

ROW, LEFT, WIDTH, TOP = 30, 230, 420, 44
FONT = 'font-family="sans-serif" font-size="13"'
INK, OURS, THEIRS = "#24292f", "#1a7f5a", "#8c959f"


def bars(title: str, timings: Iterable[Timing], where: Mapping[str, str]) -> str:
    """Draw the medians on a log scale; what is called muxwire is ours."""
    rows = sorted(timings, key=lambda one: one.p50)
    low = math.log10(min(one.p50 for one in rows)) - 0.5
    high = math.log10(max(one.p50 for one in rows))
    height = TOP + ROW * len(rows) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 90}" height="{height}" {FONT} fill="{INK}">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="24" font-size="15">{escape(title)}</text>',
    ]
    for row, one in enumerate(rows):
        y = TOP + row * ROW
        length = (math.log10(one.p50) - low) / (high - low) * WIDTH
        colour = OURS if one.name.startswith("muxwire") else THEIRS
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{escape(one.name)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{length:.0f}" height="20" fill="{colour}"/>',
            f'<text x="{LEFT + length + 6:.0f}" y="{y + 15}">{one.p50:.2f}</text>',
        ]
    made = ", ".join(f"{name} {value}" for name, value in where.items() if value)
    parts.append(f'<text x="12" y="{height - 10}" font-size="11" fill="{THEIRS}">{escape(made)}</text></svg>')
    return "\n".join(parts) + "\n"
