"""What was measured as text for a terminal, as docs/benchmarks.md and its pictures, and as figures in other pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bench.picture import bars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    # A report, or all that a run found, as JSON has it.
    Document = Mapping[str, Any]

INTRODUCTION = """\
# Benchmarks

`python -m bench --docs` made this page in one run; nothing here is written by hand. Times depend on the machine and on
what else it does, so compare the ratios. [Performance](performance.md) says what the tables mean. A target is listed
below its table if it was missed; `bench/published.json` has all targets, notes and tables.
"""
# Questions whose answer is the one figure that the page on performance quotes. Their tables are for who changes the
# code, in the run's own file; what they missed is said here too.
QUOTED_ONLY = {"startup", "verbs", "throughput", "tabs", "idle", "waits", "jobs"}
# A page has so many notes of a report, and so many characters of a note; the run's own file has all.
MOST_NOTES, LONGEST_NOTE = 3, 160
# What a picture says of where it comes from; the page says more.
SOURCE = ("muxwire", "commit", "date", "tmux", "processor")
# The pages that quote figures of the run: between `<!-- run: NAME -->` and `<!-- -->` stands what was measured.
QUOTING = ("README.md", "docs/performance.md")
_QUOTED = re.compile(r"(<!-- run: (.*?) -->)(.*?)(<!-- -->)", re.DOTALL)
# By name: the report, how the row begins, the column.
FIGURES = {
    "library": ("peers", ("muxwire library",), "`true` p50 ms"),
    "library over floor": ("latency", ("true", "muxwire library"), "p50/floor"),
    "mcp": ("peers", ("muxwire serve",), "`true` p50 ms"),
    "sdk": ("peers", ("a tool that does nothing",), "`true` p50 ms"),
    "libtmux-mcp": ("peers", ("libtmux-mcp",), "`true` p50 ms"),
    "tmux-mcp": ("peers", ("tmux-mcp (PyPI)",), "`true` p50 ms"),
    "Desktop Commander": ("peers", ("Desktop Commander",), "`true` p50 ms"),
    "exact": ("peers", ("muxwire serve",), "output exact"),
    "exact of libtmux-mcp": ("peers", ("libtmux-mcp",), "output exact"),
    "libtmux-mcp contains": ("peers", ("libtmux-mcp",), "contains it"),
    "exact of tmux-mcp": ("peers", ("tmux-mcp (PyPI)",), "output exact"),
    "exact of Desktop Commander": ("peers", ("Desktop Commander",), "output exact"),
    "exact of bash": ("peers", ("`bash -c`",), "output exact"),
    "exact of pexpect": ("peers", ("pexpect",), "output exact"),
    "handshake": ("startup", ("`serve`: spawn to handshake",), "ms"),
    "wait": ("waits", ("a line, waited for as a text",), "p50 ms"),
    "verb": ("verbs", ("run true", 1), "p50 ms"),
    "rate": ("throughput", ("muxwire",), "MB/s"),
    "wake-ups": ("idle", ("muxwire",), "wake-ups"),
    "idle processor": ("idle", ("muxwire",), "CPU ms"),
    "calls": ("jobs", ("all",), "calls"),
    "characters": ("jobs", ("all",), "characters"),
    "tools bytes": ("peers", ("muxwire serve",), "tools/list bytes"),
}


def as_text(report: Document) -> str:
    """The table, its targets and its notes, for a terminal."""
    below = (f"  {line}" for line in (*map(_target, report["targets"]), *report["notes"]))
    return "\n".join([f"\n{report['title']}", *_table(report), *below])


def _table(report: Document) -> Iterator[str]:
    """Its lines, with columns of one width: as they are read on a terminal and on a page."""
    rows = [tuple(map(_figure, row)) for row in report["rows"]]
    columns: Sequence[str] = report["columns"]
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        first, *rest = zip(row, widths, strict=True)
        yield "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip()


def as_markdown(found: Document, drawn: Mapping[str, str], introduction: str = INTRODUCTION) -> str:
    """All reports as one page; `drawn` names the picture of a report."""
    parts = [introduction, ", ".join(f"{name} {value}" for name, value in found["machine"].items()) + ".\n"]
    if found["broken"]:
        parts.append("Broken in this run, and so missing here: " + "; ".join(found["broken"]) + ".\n")
    for report in found["reports"]:
        parts.append(f"## {report['title']}\n")
        if report["name"] in drawn:
            parts.append(f"![{report['title']}]({drawn[report['name']]})\n")
        parts += ["```text", *_table(report), "```"]
        notes = [note if len(note) <= LONGEST_NOTE else f"{note[:LONGEST_NOTE]} ..." for note in report["notes"]]
        missed = [target for target in report["targets"] if not target["met"]]
        below = [f"- {line}" for line in (*map(_target, missed), *notes[:MOST_NOTES])]
        parts += ["", *below, ""] if below else [""]
    return "\n".join(parts).rstrip() + "\n"


def write(root: Path, found: Document) -> None:
    """Make the page and its picture, and put the figures into the pages that quote them."""
    docs, drawn = root / "docs", {"peers": "pictures/latency.svg"}
    for report in found["reports"]:
        if report["name"] == "peers":
            medians = [(str(row[0]), float(row[2])) for row in report["rows"]]
            where = {name: found["machine"].get(name, "") for name in SOURCE}
            (docs / drawn["peers"]).write_text(bars("`true`, ms at the median, on a logarithmic scale", medians, where))
    shown = [report for report in found["reports"] if report["name"] not in QUOTED_ONLY]
    page = as_markdown({**found, "reports": shown}, drawn)
    missed = [
        f"- {report['title']}: {_target(target)}"
        for report in found["reports"]
        for target in report["targets"]
        if report not in shown and not target["met"]
    ]
    if missed:
        page += "\n".join(["\n## What else was missed", "", *missed, ""])
    (docs / "benchmarks.md").write_text(page)
    for page in QUOTING:
        (root / page).write_text(quoted((root / page).read_text(), found))


def quoted(page: str, found: Document) -> str:
    """A page with the figures of this run. KeyError where it names one that there is not."""
    return _QUOTED.sub(lambda match: match[1] + figure(match[2], found) + match[4], page)


def figure(name: str, found: Document) -> str:
    """One figure, as a page has it; of `A / B` how many times as much A is."""
    first, *second = (_measured(one, found) for one in name.split(" / "))
    return f"{first / second[0]:.0f}" if second else _figure(first)


def _measured(name: str, found: Document) -> Any:  # noqa: ANN401 - a text or a number
    report_name, begins, column = FIGURES[name]
    report = next(report for report in found["reports"] if report["name"] == report_name)
    row = next(row for row in report["rows"] if all(str(cell).startswith(str(b)) for cell, b in zip(row, begins)))  # noqa: B905 - the beginning
    return row[report["columns"].index(column)]


def _figure(cell: str | float) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.2f}" if abs(cell) < 10 else f"{cell:.1f}"


def _target(target: Document) -> str:
    word = "at least" if target["at_least"] else "at most"
    verdict = "met" if target["met"] else "MISSED"
    return (
        f"{verdict}: {target['what']}: {_figure(target['value'])} {target['unit']} "
        f"({word} {_figure(target['limit'])} {target['unit']})"
    )
