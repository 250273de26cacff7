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


BEFORE, AFTER = LINES[: LINES.index(LINE_50)], LINES[LINES.index(b"t1 60\r\n") :]
LATE = AFTER.replace(b"t1 70\r\n", b"")


@pytest.mark.parametrize(
    ("raw", "gap", "whole", "found"),  # a gap of one byte from there on; what is lost, doubled, and in the gap
    [
        (b"$ typed\r\n\x1b]7770;S;0\x07" + LINES + b"\x1b]7770;X;0;0\x07", None, True, (0, 0, 0)),
        (LINES.replace(LINE_50, b""), None, True, (1, 0, 0)),
        (LINES.replace(LINE_50, b"t1 5\r\n"), None, True, (1, 1, 0)),
        (LINES.replace(LINE_50, LINE_50 * 3), None, True, (0, 2, 0)),
        (LINES[:-10], None, True, (2, 0, 0)),
        (LINES[:-10], None, False, (0, 0, 0)),
        (LINES.replace(LINE_50, b"t1 50 t1 51\r\n"), None, False, (1, 0, 0)),
        (LINES + b"t1 101\r\n", None, False, (0, 1, 0)),
        (BEFORE + b"\0" + AFTER, len(BEFORE), True, (0, 0, 10)),
        (BEFORE + b"\0" + LATE, len(BEFORE), True, (1, 0, 10)),
        (BEFORE + b"\0", len(BEFORE), True, (0, 0, 51)),
        (b"\0" + AFTER, 0, False, (0, 0, 59)),
        (b"\0" + AFTER, 0, True, (0, 0, 59)),
        (b"\0" + LATE, 0, False, (1, 0, 59)),
        (b"\0" + LATE, 0, True, (1, 0, 59)),
        (b"\0", 0, False, (0, 0, 0)),
        (b"\0", 0, True, (0, 0, 100)),
    ],
)
def test_judge__sees_what_is_wrong_with_lines(
    tmp_path: Path, raw: bytes, gap: int | None, whole: bool, found: tuple[int, int, int]
) -> None:
    path = tmp_path / "pane-@1.log"
    path.write_bytes(raw)
    if gap is not None:
        record(path, offset=gap, size=1)
    verdict = judge(path, Truth("t1", 100, whole=whole))
    assert (verdict["lost"], verdict["doubled"], verdict["in_gaps"]) == found


DATA = bytes(range(256)) * 20


@pytest.mark.parametrize(
    ("older", "raw", "whole", "lost"),
    [
        (b"", DATA, True, 0),
        (b"", DATA[:99] + DATA[100:], True, 1),
        (b"", DATA[:99], True, 1),
        (b"", DATA[:99], False, 0),
        (b"", DATA[:99] + DATA[:9], False, 1),
        (DATA[:1000], DATA[1000:], True, 0),
        (DATA[:1000], DATA[1001:], True, 1),
    ],
)
def test_judge__sees_what_is_wrong_with_bytes_and_segments(
    tmp_path: Path, older: bytes, raw: bytes, whole: bool, lost: int
) -> None:
    path, file = tmp_path / "pane-@1.log", tmp_path / "file"
    file.write_bytes(DATA)
    path.write_bytes(raw + b"\x1b]7770;X;0;0\x07")
    if older:
        record(path)
        segment_path(path, 0).write_bytes(older)
    assert judge(path, Truth("t1", 1, file=file, whole=whole))["lost"] == lost
