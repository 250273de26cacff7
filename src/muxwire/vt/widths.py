"""How many columns a character takes, and of which characters terminals disagree."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# What a screen shows is a few hundred different characters, thousands in Chinese.
_KEPT = 8192

# tmux takes widths from the C library, from utf8proc or from a table of its own, each of another year's Unicode, and
# from 3.5 on it composes some sequences. Here they differ, or may: format characters and joiners, Hangul's parts and
# fillers, hands that carry skin tones, the hexagrams that became wide in Unicode 16, variation selectors, flags.
_CONTESTED = (
    (0x00AD, 0x00AD), (0x0600, 0x0605), (0x06DD, 0x06DD), (0x070F, 0x070F), (0x0890, 0x0891), (0x08E2, 0x08E2),
    (0x1100, 0x11FF), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x2630, 0x2637),
    (0x261D, 0x261D), (0x268A, 0x268F), (0x26F9, 0x26F9), (0x270C, 0x270D), (0x2FFC, 0x2FFF), (0x302A, 0x302F),
    (0x3099, 0x309A), (0x3164, 0x3164), (0x31E4, 0x31EF), (0x3248, 0x324F), (0x4DC0, 0x4DFF), (0xA960, 0xA97C),
    (0xD7B0, 0xD7FF), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFF), (0x1F1E6, 0x1F1FF),
    (0x1F3FB, 0x1F3FF), (0xE0000, 0x10FFFF),
)  # fmt: skip
# Not assigned, surrogates, controls; and marks that take a column or none (glibc: one, Unicode's newer rules: none).
_DISPUTED = ("Cn", "Cs", "Cc", "Mc")
# Beyond the basic plane only wide characters are certain: ideographs, and emoji that are wide by themselves.
_ASTRAL = 0x10000


@lru_cache(maxsize=_KEPT)
def width(character: str) -> int | None:
    """Columns of one character: 0 (it combines with the one before), 1 or 2; None if terminals disagree."""
    code = ord(character)
    if any(first <= code <= last for first, last in _CONTESTED) or unicodedata.category(character) in _DISPUTED:
        return None
    columns = _columns(character)
    return None if columns < 0 or (code >= _ASTRAL and columns != 2) else columns


@lru_cache(maxsize=_KEPT)
def guessed_width(character: str) -> int:
    """The same, or the likeliest."""
    return max(_columns(character), 0)


def _columns(character: str) -> int:
    if " " <= character <= "~":
        return 1
    from wcwidth import wcwidth  # its tables take 7 ms, of every start

    return wcwidth(character)


# The line drawing characters of the VT100 (DEC special graphics), 0x60 to 0x7e.
GRAPHICS = dict(zip(range(0x60, 0x7F), "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))
