"""Reading a big log's end, and the parser's own speed, without a terminal."""

from __future__ import annotations

from bench.scenario import Report, Scale, Target
from bench.volume import LINES, parse_rate, tail_of_big_log

BIG, BIG_SHORT = 2 << 30, 64 << 20


async def run(scale: Scale) -> Report:
    """A log of 2 GB is made and read; recorded control streams are parsed over and over."""
    tail = tail_of_big_log(scale.of(BIG, BIG_SHORT))
    parsed = parse_rate()
    return Report(
        "logs",
        "Volume without a terminal",
        ("what", "figure", "unit"),
        (
            (f"last {LINES} lines of a log of {tail.size >> 20} MiB", tail.milliseconds, "ms"),
            ("control stream parsed, recorded sessions", parsed.megabytes_per_second, "MB/s"),
        ),
        (Target(f"last {LINES} lines of a log of {tail.size >> 20} MiB", tail.milliseconds, 5, "ms"),),
    )
