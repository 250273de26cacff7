"""Bells are heard, ends of titles are not, titles are read, however the bytes are cut."""

from __future__ import annotations

import pytest

from muxwire.vt.bells import TITLE_MAX, BellScanner, Signal

CASES: dict[bytes, list[tuple[int, bytes]]] = {
    b"plain": [],
    b"a\x07b": [(2, b"")],
    b"\x1b]0;title\x07\x07": [(10, b"title"), (11, b"")],
    b"\x1b]2;ti\xc3\xa4tle\x1b\\x": [(12, b"ti\xc3\xa4tle")],
    b"\x1b]1;icon\x07": [],
    b"\x1b]8;;http://x\x1b\\\x07": [(16, b"")],
    b"\x1bP data\x07 \x1b\\\x07": [(12, b"")],
    b"\x1b[31m\x07": [(6, b"")],
    b"\x1b]0;cut\x18\x07": [(9, b"")],
    b"\x1b]7770;P;0123\x07": [],
    b"\x1b]0;a\x1b]0;b\x07\x07": [(7, b"a"), (11, b"b"), (12, b"")],
    b"\x1bktitle\x07x\x1b\\\x07\x07": [(12, b""), (13, b"")],
    b"\x1b]0;" + b"x" * 2000 + b"\x07": [(2005, b"x" * TITLE_MAX)],
}


def told(found: list[Signal]) -> list[tuple[int, bytes]]:
    assert all((signal.kind == "title") == bool(signal.text) for signal in found)
    return [(signal.end, signal.text) for signal in found]


@pytest.mark.parametrize("data", CASES, ids=range(len(CASES)))
def test_bells_and_titles(data: bytes) -> None:
    assert told(BellScanner().feed(data)) == CASES[data]
    single = BellScanner()
    by_bytes = [signal for byte in data for signal in single.feed(bytes((byte,)))]
    # An ESC that is cut off is known only with the byte behind it, and so is what it ends.
    assert [text for _, text in told(by_bytes)] == [text for _, text in CASES[data]]
    for cut in range(len(data)):
        scanner = BellScanner(100)
        found = scanner.feed(data[:cut]) + scanner.feed(data[cut:])
        assert [text for _, text in told(found)] == [text for _, text in CASES[data]]
        assert [end for end, text in told(found) if not text] == [100 + end for end, text in CASES[data] if not text]
        assert scanner.offset == 100 + len(data)
