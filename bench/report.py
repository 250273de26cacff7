"""A report as text for a terminal, and all of them as docs/benchmarks.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

INTRODUCTION = """\
# Benchmarks

Made by `python -m bench --docs`, all contenders of a table in turn and in one run. Times depend on the machine and on
what else it does; the ratios are what to look at. Nothing here is written by hand: run it, and compare.
"""


def as_text(report: Mapping[str, Any]) -> str:
    """The table, its targets and its notes, for a terminal."""
    rows = [tuple(map(_figure, row)) for row in report["rows"]]
    columns: Sequence[str] = report["columns"]
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    lines = [f"\n{report['title']}"]
    for row in (columns, *rows):
        first, *rest = zip(row, widths, strict=True)
        lines.append("  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip())
    lines += [f"  {_target(target)}" for target in report["targets"]]
    lines += [f"  {note}" for note in report["notes"]]
    return "\n".join(lines)


def as_markdown(machine: Mapping[str, str], reports: Iterable[Mapping[str, Any]]) -> str:
    """All reports as one page."""
    parts = [INTRODUCTION, ", ".join(f"{name} {value}" for name, value in machine.items() if value) + ".\n"]
    for report in reports:
        parts.append(f"## {report['title']}\n")
        parts.append("| " + " | ".join(report["columns"]) + " |")
        parts.append("|---|" + "---:|" * (len(report["columns"]) - 1))
        parts += ["| " + " | ".join(_escaped(_figure(cell)) for cell in row) + " |" for row in report["rows"]]
        parts.append("")
        parts += [f"- {_target(target)}" for target in report["targets"]]
        parts += [f"- {note}" for note in report["notes"]]
        if report["targets"] or report["notes"]:
            parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _figure(cell: str | float) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.3f}" if abs(cell) < 1 else f"{cell:.2f}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _target(target: Mapping[str, Any]) -> str:
    word = "at least" if target["at_least"] else "at most"
    verdict = "met" if target["met"] else "MISSED"
    unit = target["unit"]
    return f"{verdict}: {target['what']}: {_figure(target['value'])} {unit} ({word} {_figure(target['limit'])} {unit})"
