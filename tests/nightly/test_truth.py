"""What is wrong with a log is seen by the judge of the soak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muxwire.logs.segments import record, segment_path
from tests.nightly.truth import Truth, expected, judge

if TYPE_CHECKING:
    from pathlib import Path

LINES = expected("t1", 1, 100).replace("\n", "\r\n").encode()
LINE_50 = b"t1 50\r\n"


def judged(path: Path, raw: bytes, *, whole: bool = True) -> tuple[int, int, int]:
    path.write_bytes(raw)
    found = judge(path, Truth("t1", 100, whole=whole))
    return found.lost, found.doubled, found.in_gaps


def test_what_is_wrong_with_lines_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "pane-@1.log"
    assert judged(path, b"$ typed\r\n\x1b]7770;S;0\x07" + LINES + b"\x1b]7770;X;0;0\x07") == (0, 0, 0)
    assert judged(path, LINES.replace(LINE_50, b"")) == (1, 0, 0)
    assert judged(path, LINES.replace(LINE_50, b"t1 5\r\n")) == (1, 1, 0)
    assert judged(path, LINES.replace(LINE_50, LINE_50 * 3)) == (0, 2, 0)
    assert judged(path, LINES[:-10]) == (2, 0, 0)
    assert judged(path, LINES[:-10], whole=False) == (0, 0, 0)
    assert judged(path, LINES.replace(LINE_50, b"t1 50 t1 51\r\n"), whole=False)[0] == 1
    assert judged(path, LINES + b"t1 101\r\n", whole=False)[1] == 1


def test_lines_in_a_recorded_gap_are_no_others(tmp_path: Path) -> None:
    path = tmp_path / "pane-@1.log"
    before, after = LINES[: LINES.index(LINE_50)], LINES[LINES.index(b"t1 60\r\n") :]
    record(path, offset=len(before), size=1)
    assert judged(path, before + b"\0" + after) == (0, 0, 10)
    assert judged(path, before + b"\0" + after.replace(b"t1 70\r\n", b"")) == (1, 0, 10)
    assert judged(path, before + b"\0") == (0, 0, 51)


@pytest.mark.parametrize("whole", [False, True])
def test_lines_in_a_gap_at_the_beginning_are_no_others_either(tmp_path: Path, whole: bool) -> None:
    path = tmp_path / "pane-@1.log"
    record(path, offset=0, size=1)
    after = LINES[LINES.index(b"t1 60\r\n") :]
    assert judged(path, b"\0" + after, whole=whole) == (0, 0, 59)
    assert judged(path, b"\0" + after.replace(b"t1 70\r\n", b""), whole=whole) == (1, 0, 59)
    assert judged(path, b"\0", whole=whole) == (0, 0, 100 if whole else 0)


def test_what_is_wrong_with_bytes_and_segments_is_seen(tmp_path: Path) -> None:
    path, file = tmp_path / "pane-@1.log", tmp_path / "file"
    data = bytes(range(256)) * 20
    file.write_bytes(data)

    def lost(raw: bytes, *, whole: bool) -> int:
        path.write_bytes(raw)
        return judge(path, Truth("t1", 1, file=file, whole=whole)).lost

    mark = b"\x1b]7770;X;0;0\x07"
    assert lost(data + mark, whole=True) == 0
    assert lost(data[:99] + data[100:] + mark, whole=True) == 1
    assert lost(data[:99] + mark, whole=True) == 1
    assert lost(data[:99] + mark, whole=False) == 0
    assert lost(data[:99] + data[:9] + mark, whole=False) == 1
    record(path)
    segment_path(path, 0).write_bytes(data[:1000])
    assert lost(data[1000:] + mark, whole=True) == 0
    assert lost(data[1001:] + mark, whole=True) == 1
