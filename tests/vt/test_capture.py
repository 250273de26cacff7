"""What tmux prints of a screen, read back: text, cells and styles, which rows go on, and what show-buffer escapes."""

from __future__ import annotations

import pytest

from muxwire.values import to_dict
from muxwire.vt.cells import (
    PLAIN,
    Cell,
    Style,
    Wraps,
    cell_rows,
    draws_lines,
    runs,
    styled_lines,
    text_of,
    text_rows,
    unescaped,
    wrapped_rows,
)
from muxwire.vt.ring import RingBuffer


def test_runs_of_cells() -> None:
    rows = cell_rows([b"a\x1b[7mbc\x1b[0m \x1b[44m      "], 10)
    assert [to_dict(run) for run in runs(rows)] == [
        {"y": 0, "x": 1, "length": 2, "reverse": True},
        {"y": 0, "x": 4, "length": 6, "bg": "blue"},
    ]


def test_rows_become_text_and_cells() -> None:
    rows = [
        "終a\x0eq\x0f  ".encode(),
        b"\x1b[1mb",
        b"\x1b]8;;http://e/\x1b\\c\x1b]8;;\x1b\\\x1b[0m",
        b"a\tb",
        "e\u0301x".encode(),
    ]
    lines = ["終a─", "b", "c", "a       b", "e\u0301x"]
    assert text_rows(rows) == lines
    assert [text_rows([row]) for row in rows] == [[line] for line in lines]
    cells = cell_rows(rows, 10)
    assert [text_of(row) for row in cells] == lines
    assert all(len(row) == 10 for row in cells)
    assert cells[0][:4] == [Cell("終", PLAIN), Cell("", PLAIN), Cell("a", PLAIN), Cell("─", PLAIN)]
    assert cells[1][0].style == cells[2][0].style == Style(bold=True)
    assert cells[3][0].style == PLAIN
    # Half of a wide character at a row's end is left out.
    assert text_of(cell_rows(["abc終".encode()], 4)[0]) == "abc"
    assert [text_of(row) for row in styled_lines([b"x" * 300, b"y  "])] == ["x" * 300, "y"]


@pytest.mark.parametrize("output", [b"\x0e", b"a\x1b(0q", b"\x1b)0\x0eq"])
def test_letters_may_stand_for_lines(output: bytes) -> None:
    ring = RingBuffer(64, start=7)
    ring.append(output + b"\x1b(B\x1b[0mq\x0f\r\n")
    assert draws_lines(ring, 0)
    assert not draws_lines(ring, 7 + len(output))


@pytest.mark.parametrize(
    ("shown", "data"),
    [
        (rb"a\\b \\033[31m", rb"a\b \033[31m"),
        (rb"\033[1mx\016q\017", b"\x1b[1mx\x0eq\x0f"),
        (rb"\$HOME \\\$x $1", rb"$HOME \$x $1"),
        (rb"\t\b\a\s\0\303\251\q", b"\t\b\a \x00\xc3\xa9q"),
        (b"\x00\\\\\\033", b"\x00\\\x1b"),
        ("終 é\n\\\\".encode(), "終 é\n\\".encode()),
    ],
)
def test_what_show_buffer_escapes(shown: bytes, data: bytes) -> None:
    assert unescaped(shown) == data


ROWS = [b"abcd", b"ef", b"", b"x"]


@pytest.mark.parametrize(
    ("single", "joined", "wraps"),
    [
        (ROWS, [b"abcdef", b"", b"x"], Wraps([True, False, False, False], certain=True)),
        (ROWS, ROWS, Wraps([False] * 4, certain=True)),
        # A wrapped row whose next one is empty: a line less, and nobody knows which.
        (ROWS, [b"abcd", b"ef", b"x"], Wraps([False] * 4, certain=False)),
        (
            [b"ab", b"", b"", b"cd", b"e"],
            [b"ab", b"", b"cde"],
            Wraps([False, False, False, True, False], certain=False),
        ),
        (ROWS, [b"abcd", b"zz", b"x"], Wraps([False] * 4, certain=False)),
        (ROWS, ROWS[:3], Wraps([False] * 4, certain=False)),
    ],
)
def test_rows_that_go_on(single: list[bytes], joined: list[bytes], wraps: Wraps) -> None:
    assert wrapped_rows(single, joined) == wraps
