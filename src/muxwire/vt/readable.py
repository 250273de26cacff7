"""The text that a person would have read of an output: escape sequences gone, and what was drawn over not there.

A scan decides whether anything has to be played at all: a CR that ends no line, a backspace, a cursor that moves
anywhere else than on. Most outputs have none, and are stripped (`vt/text.py`). Of the others only what lies around such
places is played, on a screen as wide as the pane, so that rows which the terminal wrapped are found and joined again.
Rows that scroll off and screens that are cleared stay in the text. What was drawn on the alternate screen is left out.
A line ends at its last visible character; the last one, which is not ended, keeps the blank of a prompt.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, AnyStr, final

from muxwire.values import dataclass
from muxwire.vt.screens import ANY_SWITCH, SWITCH, SWITCH_BEGIN, SWITCH_MAX
from muxwire.vt.text import SEQUENCE_MAX, strip_ansi

if TYPE_CHECKING:
    from collections.abc import Sequence

# The size of a screen whose size is not known: that of new tabs (tmux/start.py).
COLUMNS, ROWS = 200, 50
# Playing takes about a second for this many characters; what is longer is stripped.
PLAYED_MAX = 1 << 20

# Each pattern is compiled when it is first needed, which takes some ms. Each branch begins with a character and not
# with an assertion, so that `re` looks for those characters first: ten times as fast.
_compiled = functools.cache(re.compile)

# What a person does not read, whatever it holds: strings, and colours, which are most of the sequences that there are.
# A string that is longer than `SEQUENCE_MAX` is not matched here.
_UNREAD = (
    rf"\x1b\][^\x07\x1b\x18\x1a]{{0,{SEQUENCE_MAX}}}(?:\x07|(?=[\x1b\x18\x1a])|\Z)"
    rf"|\x1b[PX^_k][^\x1b\x18\x1a]{{0,{SEQUENCE_MAX}}}(?:(?=[\x1b\x18\x1a])|\Z)"
    r"|\x1b\[[0-9;:]*m|\x1b\\"
)
_ALTERNATE = rf"(?s:{SWITCH}h.*?(?:{SWITCH}l|\Z))"
_BEGIN_ALTERNATE = "\x1b[?1049h"
_STRING_INTRODUCERS = (b"P", b"X", b"]", b"^", b"_", b"k")

# Cursor moves within the line, and edits of it; erasures to the right change nothing where the cursor is at the end.
_WITHIN = (
    r"\r(?<!\r\r)\r*+(?!\n|\Z)|\x08|\x0e|\x1b[()]0"
    r"|\x1b\[[0-9;]*[CDG`aPX@bZ]|\x1b\[[12]K|\x1b\[\?7l|\x1b\[[0-9;]*4h"
)
# Cursor moves between lines.
_BETWEEN = r"\v|\f|\x1b[78DEMc]|\x1b\[[0-9;]*[ABEFHLMSTdefrsu]|\x1b\[[123]J|\x1b\[\?6h|\x1b#8"
_PLAYED = f"{_WITHIN}|{_BETWEEN}"
_LINE_END = r"\r(?<!\r\r)\r*+\n"
_MOVING_CONTROLS = "\b\x0e\v\f"


# The note on a text without what was drawn.
LEFT_OUT = "what was drawn on the alternate screen is left out of the text"


@final
@dataclass(frozen=True, slots=True)
class Readable:
    """A text; whether an alternate screen was left out of it; how many characters were too many to be played."""

    text: str
    left_out: bool = False
    unplayed: int = 0

    @property
    def note(self) -> str:
        """What there is to say of it, "" if nothing."""
        notes = [LEFT_OUT] if self.left_out else []
        if self.unplayed:
            notes.append(
                f"its last {self.unplayed} characters are too many to be played on a screen: "
                "they still have the text that was overwritten"
            )
        return "; ".join(notes)


def needs_playing(text: str) -> bool:
    """Whether `readable` has to play the text, which takes about a second per MiB, and not only strip sequences."""
    plain = "\x1b" not in text and not any(control in text for control in _MOVING_CONTROLS)
    if plain and text.count("\r") == text.count("\r\n"):
        return False
    return _compiled(_PLAYED).search(text) is not None


def readable(text: str, *, columns: int = COLUMNS, rows: int = ROWS, alternate: bool = False) -> Readable:
    """Play an output as the terminal got it: a line ends with CR LF there, and with LF in the text.

    `alternate`: it begins on the alternate screen.
    """
    left_out = alternate or _compiled(ANY_SWITCH).search(text) is not None
    if left_out:
        text = _compiled(_ALTERNATE).sub("", (_BEGIN_ALTERNATE if alternate else "") + text)
    if not needs_playing(text):
        return Readable(_visible_ends(_stripped(text)), left_out)
    text = _compiled(_UNREAD).sub("", text)
    reach = rows if _compiled(_BETWEEN).search(text) else 0
    parts: list[str] = []
    done = played = 0
    while found := _compiled(_PLAYED).search(text, done):
        begin = _lines_back(text, "\n", found.start(), reach, done)
        parts.append(_stripped(text[done:begin]))
        end = _end_of_play(text, found.end(), 2 * reach)
        if played + end - begin > PLAYED_MAX:
            end = max(begin, begin + PLAYED_MAX - played)
        parts.append(_play(text[begin:end], columns, rows))
        played += end - begin
        done = end
        if played >= PLAYED_MAX:
            break
    parts.append(_stripped(text[done:]))
    return Readable(_visible_ends("".join(parts)), left_out, len(text) - done if played >= PLAYED_MAX else 0)


def _visible_ends(text: str) -> str:
    return _compiled(r" +(?=\n)").sub("", text) if " \n" in text else text


def without_drawing(text: str, *, alternate: bool = False) -> Readable:
    """`text` without what was drawn on the alternate screen, and with all other escape sequences."""
    if not alternate and _compiled(ANY_SWITCH).search(text) is None:
        return Readable(text)
    return Readable(_compiled(_ALTERNATE).sub("", (_BEGIN_ALTERNATE if alternate else "") + text), left_out=True)


def few_empty_lines(text: str) -> str:
    """`text` with at most two empty lines in a row: a program that draws leaves screens of them."""
    return _compiled(r"(\A|\n)\n{3,}").sub(r"\1\n\n", text) if "\n\n\n" in text else text


def continued(before: str, piece: str, *, columns: int, alternate: bool = False) -> Readable:
    """What `piece` adds to the text of what came before it, of which a screen's height is enough.

    A line that was shown before it was whole continues; one that was drawn over since comes again, on a line of its
    own.
    """
    if not before:
        return readable(piece, columns=columns, alternate=alternate)
    shown = readable(before, columns=columns, alternate=alternate).text
    now = readable(before + piece, columns=columns, alternate=alternate)
    for known in (shown, shown.rstrip(" ")):
        if now.text.startswith(known):
            return Readable(now.text[len(known) :], now.left_out, now.unplayed)
    same = now.text.rfind("\n", 0, _common(shown, now.text)) + 1
    own_line = "" if shown.endswith("\n") else "\n"
    return Readable(own_line + now.text[same:], now.left_out, now.unplayed)


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def lines_before(data: bytes, lines: int = ROWS) -> int:
    """Where the last `lines` lines of `data` begin, not counting a last line that has no end yet."""
    return _lines_back(data, b"\n", len(data), lines)


def main_screen(parts: list[tuple[int, bytes]], *, alternate: bool) -> list[tuple[int, bytes]]:
    """Parts of a log, each after its offset, without what was drawn on the alternate screen, on which they may begin.

    No switch may lie in two parts.
    """
    kept: list[tuple[int, bytes]] = []
    for offset, data in parts:
        at = 0
        for switch in _compiled(ANY_SWITCH.encode()).finditer(data):
            if not alternate:
                kept.append((offset + at, data[at : switch.start()]))
            alternate, at = switch[1] == b"h", switch.end()
        if not alternate:
            kept.append((offset + at, data[at:]))
    return kept


def may_switch(parts: Sequence[bytes]) -> bool:
    """Whether a switch to or from the alternate screen may begin in what lies in these parts."""
    before, reach = b"", len(SWITCH_BEGIN) - 1
    for part in parts:
        if SWITCH_BEGIN in part or SWITCH_BEGIN in before + part[:reach]:
            return True
        before = (before + part[-reach:])[-reach:]
    return False


def first_switch(data: bytes) -> bool | None:
    """Whether the first thing that `data` does about the alternate screen is to enter it; None if it does nothing."""
    if b"\x1b[?" not in data:
        return None
    first = _compiled(ANY_SWITCH.encode()).search(data)
    return None if first is None else first[1] == b"h"


def switches(parts: Sequence[bytes]) -> bool:
    """Whether what lies in these parts switches to or from the alternate screen."""
    before = b""
    for part in parts:
        if any(first_switch(piece) is not None for piece in (part, before + part[:SWITCH_MAX])):
            return True
        before = (before + part[-SWITCH_MAX:])[-SWITCH_MAX:]
    return False


def open_string(data: bytes) -> bytes:
    """What `data` ends within: the introducer of a string (DCS, OSC, ...) that it does not end; b"" if none."""
    escape = data.rfind(b"\x1b")
    if escape < 0 or data[escape + 1 : escape + 2] not in _STRING_INTRODUCERS:
        return b""
    introducer = data[escape : escape + 2]
    ends = (b"\x07", b"\x18", b"\x1a") if introducer == b"\x1b]" else (b"\x18", b"\x1a")
    return b"" if any(data.find(end, escape) >= 0 for end in ends) else introducer


def began_alternate(text: str) -> bool:
    """Whether the first thing that `text` does about the alternate screen is to leave it."""
    first = _compiled(ANY_SWITCH).search(text)
    return first is not None and first[1] == "l"


def _stripped(text: str) -> str:
    text = strip_ansi(text)
    text = text.replace("\r\n", "\n")
    return _compiled(_LINE_END).sub("\n", text).rstrip("\r") if "\r" in text else text


def _lines_back(text: AnyStr, newline: AnyStr, position: int, lines: int, least: int = 0) -> int:
    for _ in range(lines + 1):
        position = text.rfind(newline, least, position)
        if position < 0:
            return least
    return position + 1


def _end_of_play(text: str, position: int, gap: int) -> int:
    """The end of a line after which nothing has to be played for `gap` lines."""
    while True:
        end = text.find("\n", position) + 1
        if not end:
            return len(text)
        following = _compiled(_PLAYED).search(text, end)
        if following is None:
            return _lines_on(text, end, gap // 2)
        if text.count("\n", end, following.start()) > gap:
            return _lines_on(text, end, gap // 2)
        position = following.end()


def _lines_on(text: str, position: int, lines: int) -> int:
    """After so many lines: a cursor that was left above the last line has come down to it."""
    for _ in range(lines):
        end = text.find("\n", position) + 1
        if not end:
            return len(text)
        position = end
    return position


def _play(text: str, columns: int, rows: int) -> str:
    from muxwire.vt.replay import (
        Player,
        TextScreen,  # late: importing pyte takes some 20 ms, and few outputs need it
    )

    screen = TextScreen(columns, rows)
    Player(screen).play(text)
    return screen.text()
