"""What a pane is called."""

from __future__ import annotations

import pytest

from muxwire.tabs.pane_ids import pane_of_window


@pytest.mark.parametrize(
    ("inside", "first", "running", "named"),
    [
        (["%3", "%1"], "%3", ["%1", "%3"], "%3"),  # it is there still
        (["%10", "%9"], "%1", ["%1", "%9", "%10"], "%9"),  # it was moved away
        (["%2", "%3"], "%1", ["%2", "%3"], None),  # it has ended
        (["%2", "%3"], "", ["%2", "%3"], None),  # it had ended before
        (["%3", "%2"], None, ["%1", "%2", "%3"], "%2"),  # a window that a pane was moved into
        ([], "%1", ["%1"], None),
    ],
)
def test_which_pane_goes_by_the_id_of_its_window(
    inside: list[str], first: str | None, running: list[str], named: str | None
) -> None:
    assert pane_of_window(inside, first, running) == named
