"""Bells are heard, ends of titles are not, however the bytes are cut."""

from __future__ import annotations

import pytest

from muxwire.pane.bell import BellScanner

CASES = {
    b"plain": [],
    b"a\x07b": [2],
    b"\x1b]0;title\x07\x07": [11],
    b"\x1b]8;;http://x\x1b\\\x07": [16],
    b"\x1bP data\x07 \x1b\\\x07": [12],
    b"\x1b[31m\x07": [6],
    b"\x1b]0;cut\x18\x07": [9],
    b"\x1b]7770;P;0123\x07": [],
    b"\x1b]0;a\x1b]0;b\x07\x07": [12],
    b"\x1bktitle\x07x\x1b\\\x07\x07": [12, 13],
}


@pytest.mark.parametrize("data", CASES)
def test_bells(data: bytes) -> None:
    assert BellScanner().feed(data) == CASES[data]
    single = BellScanner()
    assert [bell for byte in data for bell in single.feed(bytes((byte,)))] == CASES[data]
    for cut in range(len(data)):
        scanner = BellScanner(100)
        found = scanner.feed(data[:cut]) + scanner.feed(data[cut:])
        assert found == [100 + bell for bell in CASES[data]]
        assert scanner.offset == 100 + len(data)
