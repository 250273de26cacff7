"""The bench gives its tables in a short run and leaves nothing running; what it published stands in the pages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import PUBLISHED, SCENARIOS
from bench.pages import FIGURES, QUOTING, figure, quoted, write
from bench.peers.cases import CASES, Answer, Judged, Score
from bench.peers.marks import between, end_mark, typed
from bench.timing import Contender

ROOT = Path(__file__).parents[2]
DEADLINE_S = 300
# What gives its table in some seconds; all others run with them by night.
QUICK = ("latency", "waits", "idle", "jobs")


@pytest.mark.timeout(DEADLINE_S)
def test_a_short_run__gives_tables_and_leaves_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    argv = [sys.executable, "-m", "bench", *QUICK, "--short", "--json", str(kept)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reports = {report["name"]: report for report in json.loads(kept.read_text())["reports"]}
    assert set(reports) == set(QUICK)
    assert all(report["rows"] and report["title"] in done.stdout for report in reports.values())
    assert all(target["met"] for target in reports["jobs"]["targets"]), reports["jobs"]
    assert "left behind" not in done.stderr


def test_a_contender__that_has_gone_answers_so_and_leaves_nothing(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import os; print(input(), flush=True); os.fork(); import time; time.sleep(1000)"]
    one = Contender("gone", argv, tmp_path)
    belongings = one._belongings
    assert one.ask({"runs": 1}) == {"runs": 1}
    assert "error" in one.ask({"runs": 1}, 0.1)
    assert list(belongings.pids())
    one.close()
    assert not list(belongings.pids())


def test_the_published_page__is_that_of_the_published_run(tmp_path: Path) -> None:
    found = json.loads(PUBLISHED.read_text())
    assert not found["short"]
    assert [report["name"] for report in found["reports"]] == list(SCENARIOS)
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    for page in QUOTING:
        shutil.copy(ROOT / page, tmp_path / page)
    write(tmp_path, found)
    for page in ("docs/benchmarks.md", "docs/pictures/latency.svg", *QUOTING):
        assert (tmp_path / page).read_text() == (ROOT / page).read_text(), f"python -m bench --docs-again: {page}"
    assert all(figure(name, found) for name in FIGURES)


def test_a_quoted_figure__is_replaced_and_an_unknown_one_is_an_error() -> None:
    report = {"name": "idle", "columns": ["process", "wake-ups", "CPU ms"], "rows": [["muxwire", 3, 7.6]]}
    page = "<!-- run: wake-ups -->{0}<!-- --> wake-ups, <!-- run: idle processor / wake-ups -->{0}<!-- --> ms each"
    assert quoted(page.format(0), {"reports": [report]}) == page.format(3)
    with pytest.raises(KeyError):
        quoted("<!-- run: no such -->0<!-- -->", {"reports": [report]})


@pytest.mark.parametrize(
    ("output", "exact", "within"),
    [
        ("hi", True, False),
        ("hi\r\n", True, False),
        ("hi\n\n", False, True),
        ("$ echo hi\nhi\n$ ", False, True),
        ("h i", False, False),
    ],
)
def test_an_output__is_exact_or_contains_it_or_neither(output: str, exact: bool, within: bool) -> None:
    judged = Judged(CASES[0], Answer(output, 0))
    assert (judged.exact, judged.within) == (exact, within)
    assert Score((judged,)).cells == (f"{int(exact)} of 1", int(within), "1 of 1")


@pytest.mark.parametrize(
    ("screen", "found"),
    [
        ("$ echo\r\nbegin-7\r\nhi\r\nend-7-0\r\n$ ", ("hi", 0)),
        ("begin-7\nno newlineend-7-1\n", ("no newline", 1)),
        ("begin-7\n\n\nend-7-0", ("\n", 0)),
        ("begin-6\nx\nend-6-0\n", None),
        ("cut off\nend-7-0\n", None),
        (typed("true", 7), None),
    ],
)
def test_what_stands_between_the_marks(screen: str, found: tuple[str, int] | None) -> None:
    assert between(screen, 7) == found
    assert end_mark(7) not in typed("cat <<'X'\nX", 7)
