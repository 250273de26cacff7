"""Plays what a terminal got on a screen of `vt/replay.py`, in chunks that may be cut anywhere.

Sequences are taken apart by `vt/sequences.py` and looked up in tables, so that no unknown one and no surplus parameter
reaches pyte: whatever the bytes are, nothing is raised.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, final

from muxwire.vt.sequences import SequenceSplitter

if TYPE_CHECKING:
    from muxwire.vt.replay import ReplayScreen

# pyte's own bound of a parameter; nothing is bigger than a screen.
_PARAMETER_MAX = 9999

# The character sets that tmux knows (input.c, input_esc_dispatch): ASCII and line drawing.
_CHARSETS = {"B": "B", "0": "0"}

_CONTROLS = {
    "\b": "backspace", "\t": "tab", "\n": "linefeed", "\v": "linefeed", "\f": "linefeed", "\r": "carriage_return",
    "\x0e": "shift_out", "\x0f": "shift_in",
}  # fmt: skip
_ESCAPES = {
    "7": "save_cursor", "8": "restore_cursor", "D": "index", "E": "next_line", "H": "set_tab_stop",
    "M": "reverse_index", "c": "reset", "#8": "alignment_display",
}  # fmt: skip
# By final byte: what to call, and how many parameters it takes.
_SEQUENCES = {
    "@": ("insert_characters", 1), "A": ("cursor_up", 1), "B": ("cursor_down", 1), "C": ("cursor_forward", 1),
    "D": ("cursor_back", 1), "E": ("cursor_down1", 1), "F": ("cursor_up1", 1), "G": ("cursor_to_column", 1),
    "H": ("cursor_position", 2), "J": ("erase_in_display", 1), "K": ("erase_in_line", 1), "L": ("insert_lines", 1),
    "M": ("delete_lines", 1), "P": ("delete_characters", 1), "S": ("scroll_up", 1), "T": ("scroll_down", 1),
    "X": ("erase_characters", 1), "Z": ("tab_back", 1), "`": ("cursor_to_column", 1), "a": ("cursor_forward", 1),
    "b": ("repeat", 1), "d": ("cursor_to_line", 1), "e": ("cursor_down", 1), "f": ("cursor_position", 2),
    "g": ("clear_tab_stop", 1), "r": ("set_margins", 2),
    "s": ("save_cursor", 0), "u": ("restore_cursor", 0),
}  # fmt: skip
# Another prefix makes another sequence of it: `CSI > 4 m` is XTMODKEYS.
_STYLE = re.compile(r"[0-9:;]*")


@final
class Player:
    def __init__(self, screen: ReplayScreen) -> None:
        self.screen = screen
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._splitter = SequenceSplitter()

    def feed(self, data: bytes) -> None:
        self.play(self._decoder.decode(data))

    def play(self, text: str) -> None:
        screen = self.screen
        for kind, what in self._splitter.feed(text):
            if kind == "text":
                screen.draw(what)
                continue
            if kind == "control":
                if (name := _CONTROLS.get(what)) is not None:
                    getattr(screen, name)()
            elif kind == "csi":
                self._sequence(what[:-1], what[-1])
            elif kind == "escape":
                self._escape(what)
            else:
                screen.command(what)
            screen.last = ""

    def _escape(self, what: str) -> None:
        if what[0] in "()" and what[1:] in _CHARSETS:
            self.screen.define_charset(what[1:], mode=what[0])
        elif (name := _ESCAPES.get(what)) is not None:
            getattr(self.screen, name)()

    def _sequence(self, parameters: str, final: str) -> None:
        if final == "m":
            if _STYLE.fullmatch(parameters):
                self.screen.style(parameters)
            return
        private = parameters[:1] == "?"
        found = [_number(text) for text in parameters[private:].split(";")]
        numbers = [number for number in found if number is not None]
        if len(numbers) < len(found):
            return  # intermediates, other prefixes, or colons
        if final in "hl":
            (self.screen.set_mode if final == "h" else self.screen.reset_mode)(*numbers, private=private)
        elif not private and final in _SEQUENCES:
            name, count = _SEQUENCES[final]
            getattr(self.screen, name)(*numbers[:count])


def _number(text: str) -> int | None:
    if not text:
        return 0
    return min(int(text), _PARAMETER_MAX) if text.isdigit() else None
