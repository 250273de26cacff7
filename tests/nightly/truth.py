"""What a pane of the soak must have written, byte for byte, and what its log says instead."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muxwire.logs.read import LogFileReader
from muxwire.logs.segments import layout_of

if TYPE_CHECKING:
    from pathlib import Path

# Lines come in two widths: most of tmux's time goes per line for short ones, and per byte for long ones.
WIDE = " " + "x" * 90


@dataclass(frozen=True)
class Truth:
    """The numbered lines of one pane: `name` in front of each, `first` to `last`, or a file's bytes in their place.

    `whole`: the pane was let to its end. Else its log must be a beginning of that.
    """

    name: str
    lines: int
    wide: bool = False
    file: Path | None = None
    whole: bool = True


def printing(name: str, first: int, last: int, *, wide: bool = False) -> str:
    """The shell command that prints these lines."""
    return f"seq -f '{name} %.0f{WIDE if wide else ''}' {first} {last}"


def expected(name: str, first: int, last: int, *, wide: bool = False) -> str:
    """What that prints, as execute_command returns it."""
    tail = WIDE if wide else ""
    return "".join(f"{name} {number}{tail}\n" for number in range(first, last + 1))


def judge(path: Path, truth: Truth) -> Counter[str]:
    """Compare a log with the truth: bytes, lines, segments and gaps, what lies `in_gaps`, is lost or doubled."""
    with LogFileReader(path) as log:
        parts = [log.pread(first, last) for first, last in log.ranges]
        found = Counter({"bytes": log.end, "segments": len(layout_of(path).older)})
        # A hole at the very end, or the beginning, has nothing on its other side.
        begin, end = (log.ranges[0][0], log.ranges[-1][1]) if log.ranges else (log.end, 0)
        parts = [b""] * (begin > 0) + parts + [b""] * (end < log.end)
        found["gaps"] = max(0, len(parts) - 1)
    if truth.file is not None:
        _judge_bytes(b"".join(parts), truth, found)
    else:
        _judge_lines(parts, truth, found)
    return found


def _judge_lines(parts: list[bytes], truth: Truth, found: Counter[str]) -> None:
    # Behind the end of a line, or of a mark, which is invisible.
    line = re.compile(rb"(?:\A|(?<=[\n\x07]))" + truth.name.encode() + rb" ([0-9]+)(?: x+)?\r?\n")
    due = 1
    for index, part in enumerate(parts):
        crossed = index > 0
        for match in line.finditer(part):
            number = int(match[1])
            found["lines"] += 1
            if number < due:
                found["doubled"] += 1
                continue
            if crossed:
                found["in_gaps"] += number - due
            else:
                found["lost"] += number - due
            due, crossed = number + 1, False
    if truth.whole:
        missing = truth.lines + 1 - due
        # The last lines can only have fallen into a gap if one lies behind the last line that is here.
        if found["gaps"] and not line.search(parts[-1]):
            found["in_gaps"] += missing
        else:
            found["lost"] += missing
    elif due > truth.lines + 1:
        found["doubled"] += due - truth.lines - 1


def _judge_bytes(raw: bytes, truth: Truth, found: Counter[str]) -> None:
    assert truth.file is not None
    wanted = truth.file.read_bytes()
    found["lines"] += 1
    if found["gaps"]:
        found["in_gaps"] += 1
        return
    # A program that was killed in the middle: what it wrote, then our mark of its end.
    begun = raw[: raw.rfind(b"\x1b]7770;X;")]
    same = raw.startswith(wanted) if truth.whole else wanted.startswith((raw[: len(wanted)], begun))
    if not same:
        found["lost"] += 1
