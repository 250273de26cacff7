"""The text that a person would have read of an output: escape sequences gone, and what was drawn over not there.

A scan decides whether anything has to be played at all: a CR that ends no line, a backspace, a cursor that moves
anywhere else than on. Most outputs have none, and are stripped (`vt/text.py`). Of the others only what lies around such
places is played, on a screen as wide as the pane, so that rows which the terminal wrapped are found and joined again.
Rows that scroll off and screens that are cleared stay in the text. What was drawn on the alternate screen is left out.
What is played ends each line at its last visible character; the last one, which is not ended, keeps a prompt's blank.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, AnyStr, final

from muxwire.vt.screens import ANY_SWITCH, SWITCH, SWITCH_BEGIN, SWITCH_MAX
from muxwire.vt.text import BEHIND_ESCAPE, begun, strip_ansi

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muxwire.vt.player import Page

# Columns and rows.
Size = tuple[int, int]
# Those of a screen whose size is not known: those of new tabs (tmux/start.py).
SIZE: Size = (120, 30)
# Playing takes one to two seconds for this many characters; what is longer is stripped.
PLAYED_MAX = 1 << 20

# Each pattern is compiled when it is first needed, which takes some ms. Each branch begins with a character and not
# with an assertion, so that `re` looks for those characters first: ten times as fast.
_compiled = functools.cache(re.compile)

_ALTERNATE = rf"(?s:{SWITCH}h.*?(?:{SWITCH}l|\Z))"
_BEGIN_ALTERNATE = "\x1b[?1049h"

# What makes it necessary to play a text: what moves the cursor, or edits what is there. Erasures to the right change
# nothing where the cursor is at the end.
_N = "[0-9]{0,9}+"
_MOVES = rf"(?:[78DEMc]|[()]0|\[(?:[12][JK]|\?7l|4h|[su]|{_N}(?:[@-GLMPX`ade]|(?:;{_N})?[Hfr])))"
_PLAYED = rf"\r(?<!\r\r)\r*+(?!\n|\Z)|\x08|\v|\f|\x0e|\x1b{_MOVES}"
# Those of them that go beyond the line.
_BETWEEN = rf"\v|\f|\x1b(?:[78DEMc]|\[(?:[12]J|[su]|{_N}(?:[ABEFLMde]|(?:;{_N})?[Hfr])))"
# What empties the screen: what was read before that stays read.
_HOME = r"\x1b\[(?:1?;?1?)?[Hf]"
_CLEARED = rf"{_HOME}\x1b\[[02]?J|\x1b\[2J(?:{_HOME})?|\x1bc"
# Controls and sequences that are not played, whatever they hold: all but those above, and those that end what they
# begin. So pyte is given nothing that it does not know.
_UNREAD = rf"\x1b(?!{_MOVES}|[()]B|\[(?:0?[JK]|\?7h|4l)){BEHIND_ESCAPE}|[\x00-\x07\x10-\x1a\x1c-\x1f\x7f-\x9f]"
_REGION = rb"\x1b\[[0-9]{0,9}(?:;([0-9]{0,9}))?r"
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
    """Whether `readable` has to play the text, which takes a second or two for a MiB, and not only strip sequences."""
    plain = "\x1b" not in text and not any(control in text for control in _MOVING_CONTROLS)
    if plain and text.count("\r") == text.count("\r\n"):
        return False
    return _compiled(_PLAYED).search(text) is not None


def readable(text: str, size: Size = SIZE, *, alternate: bool = False) -> Readable:
    """Play an output as the terminal got it: a line ends with CR LF there, and with LF in the text.

    `alternate`: it begins on the alternate screen.
    """
    left_out = alternate or _compiled(ANY_SWITCH).search(text) is not None
    if left_out:
        text = _compiled(_ALTERNATE).sub("", (_BEGIN_ALTERNATE if alternate else "") + text)
    if not needs_playing(text):
        return Readable(_stripped(text), left_out)
    text = _compiled(_UNREAD).sub("", text)
    reach = size[1] if _compiled(_BETWEEN).search(text) else 0
    parts: list[str] = []
    done = played = 0
    while found := _compiled(_PLAYED).search(text, done):
        begin = _lines_back(text, "\n", found.start(), reach, done)
        parts.append(_stripped(text[done:begin]))
        end = _end_of_play(text, found.end(), 2 * reach)
        if played + end - begin > PLAYED_MAX:
            end = max(begin, begin + PLAYED_MAX - played)
        parts.append(_play(text[begin:end], size))
        played += end - begin
        done = end
        if played >= PLAYED_MAX:
            break
    parts.append(_stripped(text[done:]))
    return Readable("".join(parts), left_out, len(text) - done if played >= PLAYED_MAX else 0)


def without_drawing(text: str, *, alternate: bool = False) -> Readable:
    """`text` without what was drawn on the alternate screen, and with all other escape sequences."""
    if not alternate and _compiled(ANY_SWITCH).search(text) is None:
        return Readable(text)
    return Readable(_compiled(_ALTERNATE).sub("", (_BEGIN_ALTERNATE if alternate else "") + text), left_out=True)


def few_empty_lines(text: str) -> str:
    """`text` with at most two empty lines in a row: a program that draws leaves screens of them."""
    return _compiled(r"(\A|\n)\n{3,}").sub(r"\1\n\n", text) if "\n\n\n" in text else text


def continued(before: str, piece: str, size: Size, *, alternate: bool = False) -> Readable:
    """What `piece` adds to the text of what came before it, of which a screen's height is enough.

    A line that was shown before it was whole continues; one that was drawn over since comes again, on a line of its
    own.
    """
    if not before:
        return readable(piece, size, alternate=alternate)
    shown = readable(before, size, alternate=alternate).text
    now = readable(before + piece, size, alternate=alternate)
    for known in (shown, shown.rstrip(" ")):
        if now.text.startswith(known):
            return Readable(now.text[len(known) :], now.left_out, now.unplayed)
    same = now.text.rfind("\n", 0, _common(shown, now.text)) + 1
    own_line = "" if shown.endswith("\n") else "\n"
    return Readable(own_line + now.text[same:], now.left_out, now.unplayed)


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def lines_before(data: bytes, lines: int) -> int:
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


def opened(data: bytes, rows: int) -> bytes:
    """What of `data` still lasts at its end: a scroll region, and the introducer of a string that it does not end."""
    regions = list(_compiled(_REGION).finditer(data))[-1:]
    region = b"".join(region[0] for region in regions if 0 < int(region[1] or 0) < rows)
    introducer = data[(at := begun(data)) : at + 2]
    return region + (introducer if introducer[1:] in (b"]", b"P", b"X", b"^", b"_", b"k") else b"")


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


def _play(text: str, size: Size) -> str:
    """All that a person has read of `text`; each time that the screen was emptied, another one begins."""
    *cleared, last = (page.text() for page in _pages(text, size))
    return "".join(part if part.endswith("\n") or not part else part + "\n" for part in cleared) + last


def _pages(text: str, size: Size) -> Iterator[Page]:
    from muxwire.vt.player import Page  # late: importing pyte takes some 20 ms, and few outputs need it

    text = _compiled(_UNREAD).sub("", text).replace("\x1b[s", "\x1b7").replace("\x1b[u", "\x1b8")
    return (Page(*size, part) for part in _compiled(_CLEARED).split(text))


def before_cursor(text: str, size: Size) -> str:
    """What stands before the cursor in its row once `text` was drawn on an empty screen."""
    *_, page = _pages(text, size)
    return page.before_cursor()
