"""What a snapshot costs beside a `capture-pane` process."""

from __future__ import annotations

from pathlib import Path

from bench.contenders import temporary_home
from bench.scenario import Report, Scale, Target
from bench.snapshots import snapshot_times

RUNS, RUNS_SHORT = 200, 20


async def run(scale: Scale) -> Report:
    """A look when nothing, a little, and 100 KB is new."""
    with temporary_home() as name:
        found = await snapshot_times(Path(name), scale.of(RUNS, RUNS_SHORT))
    process = found["capture-pane, a process"]
    return Report(
        "screen",
        "A look at a screen of 200 x 50",
        ("case", "p50 ms", "p99 ms", "p50/process"),
        tuple((one.name, one.p50, one.p99, one.p50 / process.p50) for one in found.values()),
        (
            Target("snapshot after 100 KB of new output, p50", found["100 KB new"].p50, 2, "ms"),
            Target("snapshot with nothing new, p50", found["nothing new"].p50, 0.3, "ms"),
        ),
    )
