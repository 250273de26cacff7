"""What is said of programs that work and of programs that wait for input: the table of `tests/nightly/claims.py`."""

from __future__ import annotations

import statistics
from dataclasses import replace

from bench.report import Report, Scale, Target
from tests.nightly.claims import ALONE, BESIDE, PROGRAMS, Plan, claims, details

# How often each runs: by itself, and inside each relay; a short run needs nothing to be set up for all users.
FULL = Plan(3, 1, (0, BESIDE))
SHORT = Plan(1, 1, (0,), tuple(one for one in PROGRAMS if one.name in ("sleep", "cat")), (ALONE, "script -qc"))


async def run(scale: Scale) -> Report:
    """Run all of them, and count."""
    found, shown, skipped = await claims(SHORT if scale.short else replace(FULL, installed=scale.installed))
    rows = []
    for name, one in found.items():
        wrong = one.wrong
        noticed = statistics.median(one.noticed) if one.noticed else "-"
        rows.append((name, one.worked, wrong["waits"] + wrong["early"], wrong["ended"] + wrong["refused"],
                     one.waited, len(one.noticed) - one.late, one.late, one.told + one.hidden, noticed))  # fmt: skip
    all_wrong = sum(one.wrong.total() for one in found.values())
    missed = sum(one.late + one.told + one.hidden for name, one in found.items() if shown[name])
    hidden = ", ".join(name for name, one in shown.items() if not one)
    return Report(
        "claims",
        "What is said of programs that work, and of programs that wait for input",
        ("where", "work", "wrongly said to wait", "wrong end", "wait", "noticed in time", "later", "not noticed",
         "p50 s"),
        tuple(rows),
        (
            Target("false claims and wrong ends", all_wrong, 0, ""),
            Target("questions that the kernel shows, and that were not noticed in time", missed, 0, ""),
        ),
        (
            *details(found),
            *([f"what waits is not shown by this machine's kernel: {hidden}"] if hidden else []),
            *(f"skipped: {what}" for what in skipped),
        ),
    )  # fmt: skip
