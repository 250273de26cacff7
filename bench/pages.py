"""What was measured as text for a terminal, as docs/benchmarks.md, and as the pictures beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.picture import bars, lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    # A report, or all that a run found, as JSON has it.
    Document = Mapping[str, Any]

INTRODUCTION = """\
# Benchmarks

Made by `python -m bench --docs`, all contenders of a table in turn and in one run. Times depend on the machine and on
what else it does; compare the ratios. Nothing here is written by hand.
"""
SHORT = """\
**This is a short run**: fewer repeats, smaller sizes, and nothing of others was installed. It says little of times.
"""
# What a picture says of where it comes from; the page says more.
SOURCE = ("muxwire", "commit", "date", "tmux", "processor")

# What a user asks first: the question, the report that answers it, how the row of it begins, the columns, the answer.
QUESTIONS = (
    ("How long does a short command take, called from Python?", "latency", ("true", "muxwire library"),
     ("p50 ms", "p99 ms"), "{} ms at the median, {} at the 99th percentile"),
    ("The same, called by an agent (MCP)?", "latency", ("true", "muxwire MCP execute_command"),
     ("p50 ms", "p99 ms"), "{} ms, {}"),
    ("The same on another machine, 50 ms away?", "remote", ("50 ms",), ("`execute` p50 ms",), "{} ms"),
    ("How exact is what comes back?", "polling", ("muxwire library",),
     ("output exact", "code right"), "outputs {}, exit codes {}"),
    ("How soon is the first command in the first tab done?", "startup",
     ("first create_tab to the end of its first command",), ("ms",), "after {} ms"),
    ("How late does a wait for a text end?", "waits", ("wait_for, from write to return",), ("p50 ms",), "{} ms"),
    ("How long does a picture of the screen take?", "screen", ("100 KB new",), ("p50 ms",), "{} ms"),
    ("How long does a verb of the command line take?", "verbs", ("run true",), ("p50 ms",), "{} ms"),
    ("How fast does long output arrive?", "throughput", ("muxwire",), ("MB/s",), "{} MB/s"),
    ("What does it cost while nothing happens?", "idle", ("muxwire",),
     ("wake-ups", "CPU ms"), "{} wake-ups, {} ms of processor time"),
)  # fmt: skip


def as_text(report: Document) -> str:
    """The table, its targets and its notes, for a terminal."""
    rows = [tuple(map(_figure, row)) for row in report["rows"]]
    columns: Sequence[str] = report["columns"]
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    told = [f"\n{report['title']}"]
    for row in (columns, *rows):
        first, *rest = zip(row, widths, strict=True)
        told.append("  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip())
    told += [f"  {_target(target)}" for target in report["targets"]]
    told += [f"  {note}" for note in report["notes"]]
    return "\n".join(told)


def as_markdown(found: Document, drawn: Mapping[str, str], introduction: str = INTRODUCTION) -> str:
    """All reports as one page; `drawn` names the picture of a report."""
    parts = [introduction, ", ".join(f"{name} {value}" for name, value in found["machine"].items()) + ".\n"]
    if found["short"]:
        parts.append(SHORT)
    if found["broken"]:
        parts.append("Broken in this run, and so missing here: " + "; ".join(found["broken"]) + ".\n")
    parts += answers(found["reports"])
    for report in found["reports"]:
        parts.append(f"## {report['title']}\n")
        if report["name"] in drawn:
            parts.append(f"![{report['title']}]({drawn[report['name']]})\n")
        parts.append("| " + " | ".join(report["columns"]) + " |")
        parts.append("|---|" + "---:|" * (len(report["columns"]) - 1))
        parts += ["| " + " | ".join(_escaped(_figure(cell)) for cell in row) + " |" for row in report["rows"]]
        parts.append("")
        parts += [f"- {_target(target)}" for target in report["targets"]]
        parts += [f"- {note}" for note in report["notes"]]
        if report["targets"] or report["notes"]:
            parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def answers(reports: Sequence[Document]) -> list[str]:
    """A table of what a user asks first, with this run's figures; what was not measured in it is left out."""
    by_name = {report["name"]: report for report in reports}
    rows = []
    for question, name, begins, columns, answer in QUESTIONS:
        report = by_name.get(name, {"rows": ()})
        for row in report["rows"]:
            if tuple(row[: len(begins)]) == begins:
                figures = [_figure(row[report["columns"].index(column)]) for column in columns]
                rows.append(f"| {question} | {answer.format(*figures)} | {report['title']} |")
    if not rows:
        return []
    targets = [target for report in reports for target in report["targets"]]
    missed = sum(not target["met"] for target in targets)
    told = f"Of {len(targets)} targets {missed} were missed; the tables name them.\n"
    return ["## In short\n", "| question | answer | table |", "|---|---|---|", *rows, "", told]


def pictures(found: Document) -> dict[str, tuple[str, str]]:
    """By the report's name: the picture's file, and what is in it."""
    where = {name: value for name, value in found["machine"].items() if name in SOURCE}
    drawn = {}
    for report in found["reports"]:
        if not report["rows"]:
            continue
        if report["name"] == "polling":
            medians = [(row[0], row[1]) for row in report["rows"]]
            drawn["polling"] = "latency.svg", bars(report["title"] + ", p50 in ms (log scale)", medians, where)
        elif report["name"] == "peers":
            medians = [(row[0], row[2]) for row in report["rows"]]
            drawn["peers"] = "peers.svg", bars("`true` by an MCP server, p50 in ms (log scale)", medians, where)
        elif report["name"] == "growth":
            drawn["growth"] = "growth.svg", lines(report["title"] + ": ms against size", report["data"], where)
    return drawn


def write(docs: Path, found: Document) -> None:
    """Make the page and its pictures."""
    drawn = pictures(found)
    folder = docs / "pictures"
    folder.mkdir(exist_ok=True)
    for name, content in drawn.values():
        (folder / name).write_text(content)
    page = as_markdown(found, {report: f"pictures/{name}" for report, (name, _) in drawn.items()})
    (docs / "benchmarks.md").write_text(page)


def _figure(cell: str | float) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.3f}" if abs(cell) < 1 else f"{cell:.2f}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _target(target: Document) -> str:
    word = "at least" if target["at_least"] else "at most"
    verdict = "met" if target["met"] else "MISSED"
    unit = target["unit"]
    return f"{verdict}: {target['what']}: {_figure(target['value'])} {unit} ({word} {_figure(target['limit'])} {unit})"
