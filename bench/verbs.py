"""Time of a verb of the command line on a named instance that runs already, compared with Python's own start.

With compiled modules, as an installed package has them: without these (PYTHONDONTWRITEBYTECODE in a source tree) each
verb compiles what it imports first.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.contenders import clean_environment, temporary_home
from bench.measure import timing
from bench.scenario import Report, Scale, Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUNS, RUNS_SHORT = 20, 1
NAME = ("--name", "bench")
PYTHON = "python -c pass"
VERBS: dict[str, Sequence[str]] = {
    PYTHON: (sys.executable, "-c", "pass"),
    **{
        " ".join(words): (sys.executable, "-m", "muxwire", words[0], *NAME, *words[1:])
        for words in (("ls",), ("run", "true"), ("snapshot",), ("logs",))
    },
}
# A verb takes at most so long, in seconds (docs/design.md).
VERB_SECONDS = 0.15


def took(argv: Sequence[str], environ: Mapping[str, str]) -> float:
    """Milliseconds of one run."""
    begun = time.perf_counter()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True, env=environ)
    return (time.perf_counter() - begun) * 1000


async def run(scale: Scale) -> Report:
    """All verbs in turn."""
    times: dict[str, list[float]] = {name: [] for name in VERBS}
    with temporary_home() as name:
        home = Path(name)
        environ = clean_environment(home) | {
            "MUXWIRE_STATE_DIR": str(home / "state"),
            "XDG_RUNTIME_DIR": str(home),
        }
        if not scale.short:
            environ["PYTHONPYCACHEPREFIX"] = str(home / "compiled")
        muxwire = (sys.executable, "-m", "muxwire")
        took((*muxwire, "new", *NAME), environ)
        try:
            for argv in () if scale.short else VERBS.values():  # compiles what it imports
                took(argv, environ)
            for _ in range(scale.of(RUNS, RUNS_SHORT)):
                for verb, argv in VERBS.items():
                    times[verb].append(took(argv, environ))
        finally:
            took((*muxwire, "kill", "--all", *NAME), environ)
    found = [timing(verb, values) for verb, values in times.items()]
    slowest = max(statistics.median(values) for verb, values in times.items() if verb != PYTHON)
    return Report(
        "verbs",
        "A verb of the command line on a running instance",
        ("verb", "p50 ms", "p99 ms"),
        tuple((one.name, one.p50, one.p99) for one in found),
        (Target("the slowest verb, p50", slowest / 1000, VERB_SECONDS, "s"),),
    )
