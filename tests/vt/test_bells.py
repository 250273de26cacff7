"""Bells are heard, ends of titles are not, titles are read, however the bytes are cut; many of them are one."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, strategies as st

from muxwire.vt.bells import TITLE_MAX, BellScanner, Signal, progress

# What is found in one piece: bells by how many they are, the end of the first and of the last; titles.
CASES: dict[bytes, list[tuple[int, int, int] | bytes]] = {
    b"plain": [],
    b"a\x07b": [(1, 2, 2)],
    b"a\x07b\x1b[31m\x07": [(2, 2, 9)],
    b"\x1b]0;title\x07\x07": [b"title", (1, 11, 11)],
    b"\x07\x1b]0;title\x07\x07": [(2, 1, 12), b"title"],
    b"\x1b]2;ti\xc3\xa4tle\x1b\\x": [b"ti\xc3\xa4tle"],
    b"\x1b]1;icon\x07": [],
    b"\x1b]8;;http://x\x1b\\\x07": [(1, 16, 16)],
    b"\x1bP data\x07 \x1b\\\x07": [(1, 12, 12)],
    b"\x1b[31m\x07": [(1, 6, 6)],
    b"\x1b]0;cut\x18\x07": [(1, 9, 9)],
    b"\x1b]7770;P;0123\x07": [],
    b"\x1b]0;a\x1b]0;b\x07\x07": [b"b", (1, 12, 12)],
    b"\x1b]0;a\x07x\x1b]2;b\x07\x1b]0;c\x07y": [b"c"],
    b"\x07\x1b]7770;a\x07\x07\x1b]0;t\x07": [(1, 1, 1), (1, 11, 11), b"t"],
    b"\x1bktitle\x07x\x1b\\\x07\x07": [(2, 12, 13)],
    b"\x1b]0;" + b"x" * 2000 + b"\x07": [b"x" * TITLE_MAX],
    b"\x07" * 5000: [(5000, 1, 5000)],
    # tmux sets a title when the ESC arrives, not when the byte after it does (input.c: the exit of a state).
    b"\x1b]0;\x1b": [b""],
    b"\x1b]0;a\x1b": [b"a"],
    b"\x1bP data\x1b": [],
}


@pytest.mark.parametrize(
    ("data", "reports"),
    [
        (b"\x1b]9;4;1;40\x07", [b"1;40"]),
        (b"\x1b]9;4;3\x1b\\x\x1b]9;4;1;5\x07\x1b]9;4;0\x07", [b"0"]),
        (b"\x1b]9;4;1;5\x07\x1b]7770;a\x07\x1b]9;4;0;\x07", [b"1;5", b"0;"]),
        (b"\x1b]9;a notification\x07", []),
    ],
)
def test_of_reports_of_progress_the_last_one_counts(data: bytes, reports: list[bytes]) -> None:
    assert [signal.text for signal in BellScanner().feed(data)] == reports
    scanner = BellScanner()
    cut = [signal for at in range(len(data)) for signal in scanner.feed(data[at : at + 1])]
    assert [signal.text for signal in cut][-1:] == reports[-1:]
    assert {signal.kind for signal in cut} <= {"progress"}


def told(found: list[Signal]) -> list[tuple[int, int, int] | bytes]:
    return [signal.text if signal.kind == "title" else (signal.count, signal.first, signal.end) for signal in found]


@pytest.mark.parametrize("data", CASES, ids=range(len(CASES)))
def test_bells_and_titles(data: bytes) -> None:
    assert told(BellScanner().feed(data)) == CASES[data]


# The same machine, a step for each byte that counts.
_TOKEN = re.compile(rb"\x1b[\]PX^_k]|[\x07\x18\x1a\x1b]")


def one_by_one(data: bytes) -> tuple[list[int], list[bytes]]:
    """The end of each bell, and each title."""
    bells, titles, string, at = [], [], b"", 0
    for token in _TOKEN.finditer(data):
        text = data[at : token.start()]
        if string == b"]" and token[0][:1] in (b"\x07", b"\x1b") and text.startswith((b"0;", b"2;")):
            titles.append(text[2 : 2 + TITLE_MAX])
        if token[0] == b"\x07" and not string:
            bells.append(token.end())
        if len(token[0]) > 1:
            string = token[0][1:]
        elif token[0] in (b"\x18", b"\x1a", b"\x1b") or string == b"]":
            string = b""
        at = token.end()
    return bells, titles


PIECES = st.sampled_from(
    [b"\x07", b"\x1b", b"\x1b]0;", b"\x1b]2;b", b"\x1b]8;;", b"\x1b\\", b"\x1bP", b"\x1bk", b"\x18", b"x", b"\x1b[m",
     b"]0;", b"\x1b]7770;P;1\x07", b"\x1b]7770;", b"\x1b]0;t\x07"]
)  # fmt: skip


@example(b"\x1b]0;\x1b", [])
@given(st.lists(PIECES, max_size=20).map(b"".join), st.lists(st.integers(0, 60), max_size=4))
def test_no_bell_and_no_last_title_is_missed_in_any_split(data: bytes, cuts: list[int]) -> None:
    bells, titles = one_by_one(data)
    scanner, found, at = BellScanner(100), [], 0
    for cut in [*sorted(cuts), len(data)]:
        found += scanner.feed(data[at:cut])
        at = max(at, cut)
    rung = [signal for signal in found if signal.kind == "bell"]
    assert sum(signal.count for signal in rung) == len(bells)
    assert all(first.end < second.first for first, second in pairwise(rung))
    assert {signal.first - 100 for signal in rung} | {signal.end - 100 for signal in rung} <= set(bells)
    assert [rung[0].first - 100, rung[-1].end - 100] == [bells[0], bells[-1]] if bells else not rung
    assert [signal.text for signal in found if signal.kind == "title"][-1:] == titles[-1:]
    assert scanner.offset == 100 + len(data)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (b"1;40", ("normal", 40)), (b"2", ("error", 0)), (b"4;250", ("paused", 100)), (b"3;7", ("indeterminate", None)),
        (b"0;", ("removed", None)), (b"", None), (b"5;1", None), (b"1;-3", None), (b"1;1;1", None),
    ],
)  # fmt: skip
def test_what_a_report_of_progress_says(report: bytes, said: tuple[str, int | None] | None) -> None:
    assert progress(report) == said
