"""Whether the screen that a log leaves is proved: nothing that is not here can have changed it."""

from __future__ import annotations

import pytest

from muxwire.vt.past import PLAYED, PaneSize, is_sure, play_end

CLEAR, ALTERNATE = b"\x1b[H\x1b[2J", b"\x1b[?1049h"
LONG = b"x" * 70 + b"\r\n"
LONG *= PLAYED // len(LONG) + 1  # so much that what is played begins at the last empty screen
ROWS = b"row\r\n" * 2100  # more than are kept above the screen
SHOWN = b"shown\r\n$ "


@pytest.mark.parametrize(
    ("data", "size", "exact"),
    [
        (SHOWN, (40, 24), True),
        ("終\r\n".encode() + SHOWN, (40, 24), True),
        (LONG + CLEAR + SHOWN, (80, 24), True),
        (LONG + CLEAR + SHOWN, (80, 10), True),
        (LONG + CLEAR + SHOWN, (40, 24), False),  # rows above that were not played are laid out anew
        (LONG + ALTERNATE + SHOWN, (40, 24), True),  # not while the alternate screen is on
        (ROWS + SHOWN, (40, 24), True),
        (ROWS + CLEAR + SHOWN, (40, 24), False),
        ("終\r\n".encode() + ROWS + SHOWN, (40, 24), False),  # a row that is lost may move the cursor
        ("終\r\n".encode() + ROWS + SHOWN, (80, 10), True),
        (b"a\tb\r\n" + ROWS + SHOWN, (40, 24), True),
    ],
    ids=range(11),
)
def test_a_width_that_changes_after_rows_were_lost_is_not_exact(
    data: bytes, size: tuple[int, int], exact: bool
) -> None:
    sizes = [PaneSize(0, 80, 24), PaneSize(len(data), *size)]
    screen, proved = play_end(data, 0, sizes, first=True)
    assert (screen.columns, screen.lines) == size
    assert proved is exact
    assert play_end(data, 0, sizes[:1], first=True)[1]


# A person's terminal gets another size: tmux reports it a turn of its loop later than it lays out the pane anew.
@pytest.mark.parametrize(
    ("after", "exact"),
    [(b"", False), (SHOWN, False), (ALTERNATE, False), (LONG + CLEAR + SHOWN, True)],
    ids=["at once", "later", "on the other screen", "from an empty screen on"],
)
def test_a_screen_after_a_size_that_is_not_sure_is_not_exact(after: bytes, exact: bool) -> None:
    sizes = [PaneSize(0, 80, 24), PaneSize(len(SHOWN), 80, 20, sure=False)]
    assert play_end(SHOWN + after, 0, sizes, first=True)[1] is exact
    assert play_end(SHOWN[:-1], 0, sizes, first=True)[1]


def test_a_size_is_sure_after_an_answer_or_a_second_without_output() -> None:
    assert is_sure(now=10.0, last_output=9.9, answered_at=9.9)
    assert is_sure(now=10.0, last_output=8.9, answered_at=0.0)
    assert not is_sure(now=10.0, last_output=9.9, answered_at=9.8)


def test_a_log_that_begins_in_the_middle_is_exact_from_an_empty_screen_until_the_width_changes() -> None:
    data = b"\x1b[?1049l" + CLEAR + SHOWN
    sizes = [PaneSize(0, 80, 24), PaneSize(1005, 60, 24), PaneSize(1000 + len(data), 40, 24)]
    assert play_end(data, 1000, sizes[:2], first=True)[1]
    assert not play_end(data, 1000, sizes, first=True)[1]


@pytest.mark.parametrize("switch", [ALTERNATE, b"\x1b[?25;1049h", b"\x1b[?1047;7h"])
def test_the_alternate_screen_is_found_among_other_modes(switch: bytes) -> None:
    screen, proved = play_end(LONG + switch + CLEAR + SHOWN, 0, [PaneSize(0, 80, 24)], first=True)
    assert (screen.alternate, proved) == (True, True)
