"""What of a log is played for a screen of the past, in which sizes, and whether nothing else can have changed it."""

from __future__ import annotations

import pytest

from muxwire.logs.sizes import PaneSize, is_sure
from muxwire.tmux.past import scene

CLEAR, ON, OFF = b"\x1b[H\x1b[2J", b"\x1b[?1049h", b"\x1b[?1049l"
SHOWN = b"shown\r\n$ "
FIRST = PaneSize(0, 80, 24)


@pytest.mark.parametrize(
    ("base", "data", "first", "played", "exact"),
    [
        (0, SHOWN + CLEAR + SHOWN, b"", SHOWN + CLEAR + SHOWN, True),  # all of it
        (9, SHOWN, b"", SHOWN, False),
        (9, SHOWN + CLEAR + ON + SHOWN, b"", SHOWN + CLEAR + ON + SHOWN, False),
        (9, b"a" + OFF + SHOWN, ON, b"a" + OFF + SHOWN, False),  # a program had gone to the other screen before
    ],
    ids=range(4),
)
def test_it_is_played_from_its_beginning_as_far_as_that_is_here(
    base: int, data: bytes, first: bytes, played: bytes, exact: bool
) -> None:
    shown = scene(data, base, [FIRST])
    assert (shown.first, shown.pieces, shown.at) == (first, ((FIRST, played),), base + len(data))
    assert shown.exact is exact


def test_each_piece_has_its_size() -> None:
    sizes = [PaneSize(0, 70, 20), PaneSize(4, 60, 12), PaneSize(4, 50, 12), PaneSize(9, 10, 10)]
    shown = scene(b"abcdefgh", 0, sizes)
    assert shown.pieces == ((sizes[0], b"abcd"), (sizes[1], b""), (sizes[2], b"efgh"))
    assert shown.exact
    assert scene(b"ab", 0, []).pieces == ((PaneSize(0, 120, 30), b"ab"),)  # that of tabs, which is not written down


@pytest.mark.parametrize(
    ("base", "data", "sizes", "exact"),
    [
        (0, SHOWN, [PaneSize(0, 80, 24, blank=False)], False),  # the pane was used before its log began
        (0, SHOWN, [FIRST, PaneSize(3, 80, 20)], True),
        (0, SHOWN, [FIRST, PaneSize(3, 80, 20, sure=False)], False),
        (0, SHOWN, [FIRST, PaneSize(30, 80, 20, sure=False)], True),  # later
        (5, CLEAR + SHOWN, [FIRST], False),  # rows that are not here may come back
    ],
    ids=range(5),
)
def test_what_makes_it_uncertain(base: int, data: bytes, sizes: list[PaneSize], exact: bool) -> None:
    assert scene(data, base, sizes).exact is exact


def test_a_size_is_sure_after_an_answer_or_a_second_without_output() -> None:
    assert is_sure(now=10.0, last_output=9.9, answered_at=9.9)
    assert is_sure(now=10.0, last_output=8.9, answered_at=0.0)
    assert not is_sure(now=10.0, last_output=9.9, answered_at=9.8)
