"""What a run found becomes a page and pictures, which say where they come from and what is missing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bench import __main__ as command
from bench.machine import machine
from bench.pages import write
from bench.processes import WORD, Belongings
from bench.scenario import Report, Scale, Target

ROOT = Path(__file__).parents[2]


def found(**changed: object) -> dict[str, Any]:
    """What a run of three scenarios finds."""
    polling = Report(
        "polling", "By polling", ("approach", "p50 ms", "output exact", "code right"),
        (("muxwire library", 0.5, "1 of 1", "1 of 1"), ("poll | all", 5.0, "0 of 1", "1 of 1")),
        (Target("slower", 10.0, 12, at_least=True),), ("one note",),
    )  # fmt: skip
    peers = Report(
        "peers", "Servers", ("server", "from", "p50 ms"), (("muxwire", "here", 1.0), ("<other>", "npm", 9.0))
    )
    growth = Report("growth", "Growth", ("against",), (("bytes",),), data={"bytes": [[10, 1.0], [1000, 90.0]]})
    reports = [json.loads(json.dumps(report.document())) for report in (polling, peers, growth)]
    return {"machine": machine(), "short": False, "broken": [], "reports": reports, **changed}


@pytest.fixture
def page(tmp_path: Path) -> str:
    write(tmp_path, found())
    return (tmp_path / "benchmarks.md").read_text()


def test_the_page_says_machine_versions_and_date(page: str) -> None:
    assert re.search(r"date 20\d\d-\d\d-\d\d \d\d:\d\d UTC", page)
    for name in ("muxwire", "tmux", "Python", "bash", "system", "cores", "memory"):
        assert re.search(rf"\b{name} \S+", page), name


def test_the_page_has_tables_targets_and_notes(page: str) -> None:
    assert "| poll \\| all | 5.00 |" in page
    assert "- MISSED: slower: 10.00 x (at least 12 x)" in page
    assert "- one note" in page
    assert "short run" not in page
    assert "Broken" not in page


def test_every_picture_on_the_page_is_there_and_is_well_formed(page: str, tmp_path: Path) -> None:
    names = re.findall(r"!\[[^]]*\]\(([^)]+)\)", page)
    assert names == ["pictures/latency.svg", "pictures/peers.svg", "pictures/growth.svg"]
    for name in names:
        text = "".join(ET.fromstring((tmp_path / name).read_text()).itertext())
        assert machine()["tmux"] in text
        assert machine()["date"][:10] in text


def test_the_page_answers_a_users_questions_first(tmp_path: Path) -> None:
    idle = Report("idle", "Idle", ("process", "wake-ups", "CPU ms"), (("muxwire", 0, 0.75),), (Target("wakes", 1, 0),))
    write(tmp_path, found(reports=[found()["reports"][0], idle.document()]))
    short = (tmp_path / "benchmarks.md").read_text().partition("## In short")[2].partition("## By polling")[0]
    assert "| How exact is what comes back? | outputs 1 of 1, exit codes 1 of 1 | By polling |" in short
    assert "| 0 wake-ups, 0.750 ms of processor time | Idle |" in short
    assert "Of 2 targets 2 were missed" in short
    assert "How long" not in short


def test_a_short_run_and_a_broken_scenario_are_told_of(tmp_path: Path) -> None:
    write(tmp_path, found(short=True, broken=["tabs: OSError"]))
    page = (tmp_path / "benchmarks.md").read_text()
    assert "**This is a short run**" in page
    assert "Broken in this run, and so missing here: tabs: OSError." in page


def test_a_broken_scenario_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(_scale: Scale) -> Report:
        raise OSError("no tmux")

    async def whole(scale: Scale) -> Report:
        return Report("whole", "Whole", ("what",), ((f"short {scale.short}",),))

    monkeypatch.setattr(command, "SCENARIOS", {"broken": broken, "whole": whole})
    monkeypatch.setattr(command, "DOCS", tmp_path)
    monkeypatch.delenv(WORD, raising=False)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert command.main(["--short", "--json", str(tmp_path / "found.json"), "--docs"]) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
        os.environ.pop(WORD, None)
    kept = json.loads((tmp_path / "found.json").read_text())
    assert [report["name"] for report in kept["reports"]] == ["whole"]
    assert kept["broken"] == ["broken: OSError"]
    assert "short True" in (tmp_path / "benchmarks.md").read_text()
    assert "no tmux" in capsys.readouterr().err
    (tmp_path / "benchmarks.md").unlink()
    assert command.main(["--docs-from", str(tmp_path / "found.json")]) == 0
    assert "short True" in (tmp_path / "benchmarks.md").read_text()


def run_of(names: list[str], **differs: object) -> dict[str, object]:
    machine = {"commit": "1234567", "date": "2026-01-02"}
    return {"machine": machine, "short": False, "broken": [], "reports": [{"name": name} for name in names], **differs}


def test_runs_of_some_scenarios_each_make_one_page() -> None:
    later, earlier = run_of(["latency"], broken=["idle: OSError"]), run_of(["jobs", "tabs"])
    earlier["machine"] = {"commit": "1234567", "date": "2026-01-01"}
    one = command.joined([later, earlier])
    assert [report["name"] for report in one["reports"]] == ["latency", "tabs", "jobs"]
    assert (one["broken"], one["machine"]["date"]) == (["idle: OSError"], "2026-01-01")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (run_of(["jobs"], machine={"commit": "7654321", "date": "2026-01-02"}), "not of one commit"),
        (run_of(["jobs"], short=True), "not of one commit"),
        (run_of(["jobs", "tabs"]), "tabs: in more than one"),
    ],
)
def test_runs_that_do_not_belong_together_make_no_page(second: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        command.joined([run_of(["tabs"]), second])


@pytest.mark.parametrize("argv", [["--docs", "idle"], ["no-such-scenario"]])
def test_what_makes_no_sense_is_refused(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "DOCS", tmp_path)
    with pytest.raises(SystemExit) as refused:
        command.main(argv)
    assert refused.value.code == 2
    assert "error:" in capsys.readouterr().err


@pytest.mark.timeout(120)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_told_to_end_it_leaves_nothing(how: signal.Signals, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "bench", "idle", "--json", str(tmp_path / "found.json")]
    # A process group of its own: what we end by its word must have inherited it from the bench, not from us.
    process = subprocess.Popen(
        argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    until = time.monotonic() + 60
    while not (words := started_by(process.pid)):
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.05)  # a look reads the environment of every process
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert not [pid for word in words for pid in Belongings(word).pids()]
    assert not (tmp_path / "found.json").exists()


def started_by(pid: int) -> set[str]:
    """The word of the tmux server that a bench has started; none as long as there is none."""
    words = set()
    for folder in Path("/proc").iterdir():
        try:
            environ = dict(
                entry.split(b"=", 1) for entry in (folder / "environ").read_bytes().split(b"\0") if b"=" in entry
            )
            program = (folder / "comm").read_text()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if program.startswith("tmux") and WORD.encode() in environ and parent == pid:
            words.add(environ[WORD.encode()].decode())
    return words
