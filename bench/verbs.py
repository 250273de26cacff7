"""Time of a verb of the command line on a named instance that runs already, compared with Python's own start.

With compiled modules, as an installed package has them: without these (PYTHONDONTWRITEBYTECODE in a source tree) each
verb compiles what it imports first.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from bench.stopwatch import timed
from bench.timing import timing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RUNS, RUNS_SHORT = 20, 1
TABS = (1, 40)
NAME = ("--name", "bench")
PYTHON = "python -c pass"
MUXWIRE = (sys.executable, "-m", "muxwire")
VERBS: dict[str, Sequence[str]] = {
    PYTHON: (sys.executable, "-c", "pass"),
    **{
        " ".join(words): (*MUXWIRE, words[0], *NAME, *words[1:])
        for words in (("ls",), ("run", "true"), ("snapshot",), ("logs",))
    },
}
# What a verb may take, as a multiple of Python's own start.
OVER_PYTHON = 2.5


def run_verb(argv: Sequence[str], environ: Mapping[str, str]) -> None:
    """Run one to its end."""
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True, env=environ)


@contextmanager
def named_instance(environ: Mapping[str, str]) -> Iterator[None]:
    """Have an instance of that name, with a tab."""
    run_verb((*MUXWIRE, "new", *NAME), environ)
    try:
        yield
    finally:
        run_verb((*MUXWIRE, "kill", "--all", *NAME), environ)


async def run(scale: Scale) -> Report:
    """All verbs in turn, with one tab and with many."""
    rows: list[tuple[str | float, ...]] = []
    targets = []
    with temporary_home() as home:
        environ = clean_environment(home)
        if not scale.short:
            environ["PYTHONPYCACHEPREFIX"] = str(home / "compiled")
        with named_instance(environ):
            for tabs in TABS[: scale.of(2, 1)]:
                for _ in range(tabs - 1):  # one is there
                    run_verb((*MUXWIRE, "new", *NAME), environ)
                times: dict[str, list[float]] = {verb: [] for verb in VERBS}
                for _ in range(1 + scale.of(RUNS, RUNS_SHORT)):
                    for verb, argv in VERBS.items():
                        with timed(times[verb]):
                            run_verb(argv, environ)
                found = [timing(verb, values[1:]) for verb, values in times.items()]  # the first compiles its imports
                python = found[0].p50
                rows += [(one.name, tabs, one.p50, one.p99, one.p50 / python) for one in found]
                slowest = max(one.p50 for one in found[1:])
                targets.append(
                    Target(f"the slowest verb, {tabs} tabs, p50 over Python's", slowest / python, OVER_PYTHON)
                )
    return Report(
        "verbs",
        "A verb of the command line on a running instance",
        ("verb", "tabs", "p50 ms", "p99 ms", "times Python's start"),
        tuple(rows),
        tuple(targets),
    )
