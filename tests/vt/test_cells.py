"""What a style is after `CSI parameters m`; `library/screens/test_random_sequences.py` compares it with tmux's."""

from __future__ import annotations

import pytest

from muxwire.vt.cells import PLAIN, Style, styled


@pytest.mark.parametrize(("parameters", "wanted"), [
    ("1;38;5;200", Style(bold=True, fg="colour200")),
    ("48;2;1;2;3", Style(bg="#010203")),
    ("38;2;1;2;300", Style(bold=True, dim=True)),  # no colour: what follows its 2 are codes of their own
    ("38:2:1:2:3", Style(fg="#010203")),
    ("38:2::1:2:3", Style(fg="#010203")),  # with an empty colour space
    ("38:2:1:2:300", PLAIN),
    ("38:5:300", PLAIN),
    ("4:3", Style(underline=True)),
    ("1;4:9", Style(bold=True)),
    ("38;2;1;2;3;97;58;5;9", Style(fg="brightwhite")),
    ("1;2;31;22;39", PLAIN),
    ("31;38;5;300", PLAIN),
    ("1;", PLAIN),
    ("48:5:12", Style(bg="brightblue")),
    ("4;4:9;4:0:1", Style(underline=True)),
    ("58;5;1", PLAIN),  # an underline's colour is not kept
])  # fmt: skip
def test_styled__is_what_tmux_makes_of_the_parameters(parameters: str, wanted: Style) -> None:
    assert styled(PLAIN, parameters) == wanted
