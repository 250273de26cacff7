"""Keys as people write them: understood before anything is typed, and told from text that only looks like them."""

from __future__ import annotations

import pytest

from muxwire.shell.keys import KeyModes, key_bytes, strokes

MODES = KeyModes()


@pytest.mark.parametrize(
    ("written", "tmux"),
    [
        ("Esc", "Escape"), ("ESC", "Escape"), ("<Esc>", "Escape"), ("Return", "Enter"), ("<CR>", "Enter"),
        ("ENTER", "Enter"), ("Ctrl-C", "C-c"), ("Ctrl+C", "C-c"), ("ctrl-c", "C-c"), ("Control-c", "C-c"),
        ("CTRL+D", "C-d"), ("<C-c>", "C-c"), ("C-c", "C-c"), ("PageUp", "PPage"), ("PageDown", "NPage"),
        ("Page_Up", "PPage"), ("Del", "DC"), ("Backspace", "BSpace"), ("<BS>", "BSpace"), ("Alt-x", "M-x"),
        ("Alt+Enter", "M-Enter"), ("Meta-x", "M-x"), ("Shift-Tab", "BTab"), ("Shift+Up", "S-Up"), ("ArrowUp", "Up"),
        ("Ctrl+Left", "C-Left"), ("Ctrl-Shift-Left", "C-S-Left"), ("Ins", "IC"), ("<Up>", "Up"), ("<F5>", "F5"),
        ("Ctrl-[", "Escape"), ("Ctrl+Space", "C-Space"),
    ],
)  # fmt: skip
def test_a_key_is_understood(written: str, tmux: str) -> None:
    expected = key_bytes(tmux, MODES)
    assert expected is not None
    assert (key_bytes(written, MODES), strokes([written], MODES, paste=False)[0].data) == (expected, expected)


@pytest.mark.parametrize(
    "text",
    ["return", "esc", "enter", "UP", "DEL", "END", "C+c", "a-b", "c-d", "<b>", "<div>", "<-", "->", "Esc now", "x", "-",
     "Control", "Ctrl", "Ctrl-", "shift", "meta-data", "Meta-data", "<html>", "S-", "Delicious"],
)  # fmt: skip
def test_text_stays_text(text: str) -> None:
    assert key_bytes(text, MODES) is None
    assert strokes([text], MODES, paste=False)[0].data == text.encode()


def test_literal_presses_no_keys_and_paste_does() -> None:
    for paste, literal, data in ((False, True, b"EnterCtrl-C"), (True, True, b"EnterCtrl-C"), (True, False, b"\r\x03")):
        made = strokes(["Enter", "Ctrl-C"], MODES, paste=paste, literal=literal)
        assert b"".join(stroke.data for stroke in made) == data
    assert [stroke.data for stroke in strokes(["text"], MODES, paste=True, enter=True)] == [b"text", b"\r"]
