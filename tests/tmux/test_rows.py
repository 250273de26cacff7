"""The rows of tmux's lists: names may hold whatever separates the fields elsewhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from muxwire.tmux.rows import ClientRow, PaneRow, panes_of

WORDS = "@1 %2 30 /dev/pts/4 80 24 $5 6 1 7 0 1 e30="
# tmux prints no control characters of a name.
NAMES = st.text(st.characters(exclude_categories=("Cc", "Cs")))


def line(*texts: str) -> bytes:
    """What tmux prints: `q:` puts a backslash before each of these."""
    return (WORDS + "".join("|" + re.sub(r"""[|&;<>()$`\\"'*?\[# =%]""", r"\\\g<0>", text) for text in texts)).encode()


@given(texts=st.tuples(NAMES, NAMES, NAMES, NAMES, NAMES))
def test_a_pane_is_read_whatever_the_names_are(texts: tuple[str, str, str, str, str]) -> None:
    row = PaneRow.parse(line(*texts))
    assert (row.window, row.pane, row.pid, row.tty, row.size) == ("@1", "%2", 30, "/dev/pts/4", (80, 24))
    assert (row.session, row.window_index, row.window_active, row.pane_index) == ("$5", 6, True, 7)
    assert (row.pane_active, row.dead, row.record) == (False, True, "e30=")
    assert (row.command, row.window_name, row.session_name, row.cwd, row.start_command) == texts


def test_a_name_may_hold_line_ends() -> None:
    several = [line("sh", "one", "two", "/a\n@1 %2 3 /\n\nb", "x\ny"), line("sh", "", "", "/", "z")]
    first, second = panes_of(b"\n".join(several).split(b"\n"))
    assert (first.cwd, first.start_command) == ("/a\n@1 %2 3 /\n\nb", "x\ny")
    assert (second.cwd, second.start_command) == ("/", "z")


def test_options_that_are_not_set_are_empty() -> None:
    row = PaneRow.parse(line("sh", "", "", "", "").replace(b" e30=|", b" |"))
    assert (row.record, row.command) == ("", "sh")


@pytest.mark.parametrize("told", [b"", b"@1 %1 1 tty 80 24", b"can't find pane"])
def test_another_line_is_refused(told: bytes) -> None:
    with pytest.raises(ValueError, match=r"unpack|id|int"):
        PaneRow.parse(told)


def test_a_client_is_read_with_the_name_of_its_session() -> None:
    row = ClientRow.parse(b"0 77 attached,focused,UTF-8 /dev/pts/1 $0 two words")
    assert row == ClientRow(False, 77, "attached,focused,UTF-8", "/dev/pts/1", "$0", "two words")
