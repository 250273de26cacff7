"""How fast output becomes the text that a person would have read (`strip_ansi: true`), with and without playing."""

from __future__ import annotations

import time

from bench.scenario import Report, Scale
from bench.volume import LOG_BLOCK
from muxwire.vt.readable import readable

BYTES, BYTES_SHORT = 1 << 20, 1 << 14
REPEATS = 3
COLOURED = "".join(f"\x1b[32mworker\x1b[0m {n:06d} handled a \x1b[1mrequest\x1b[m in 12 ms\r\n" for n in range(16384))
PROGRESS = "".join(f"\r{n % 300 / 3:5.1f} % of the download, {n % 97} kB/s\x1b[K" for n in range(16384))
REDRAWN = "".join(f"\x1b[{n % 40 + 1};1Hline {n}\x1b[K" for n in range(16384))
CASES = {
    "lines of text": LOG_BLOCK.decode(),
    "lines in colours": COLOURED,
    "a progress bar": PROGRESS,
    "cursor moves over 40 rows": REDRAWN,
}


def rate(text: str, size: int) -> float:
    """MB/s; the best of some runs."""
    given = (text * (size // len(text) + 1))[:size]
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        readable(given)
        times.append(time.perf_counter() - begun)
    return size / min(times) / 1e6


async def run(scale: Scale) -> Report:
    """Each kind of output."""
    size = scale.of(BYTES, BYTES_SHORT)
    return Report(
        "plain",
        f"Readable text of {size >> 10} KiB of output",
        ("output", "MB/s"),
        tuple((name, rate(text, size)) for name, text in CASES.items()),
    )
