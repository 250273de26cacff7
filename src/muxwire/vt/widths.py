"""How many columns a character takes."""

from __future__ import annotations

from functools import lru_cache

# What a screen shows is a few hundred different characters, thousands in Chinese.
_KEPT = 8192


@lru_cache(maxsize=_KEPT)
def guessed_width(character: str) -> int:
    """Columns of one character: 0 (it combines with the one before), 1 or 2; the likeliest where terminals disagree.

    tmux takes widths from the C library, from utf8proc or from a table of its own, each of another year's Unicode.
    """
    if " " <= character <= "~":
        return 1
    from wcwidth import wcwidth  # late: to import its tables takes 7 ms

    return max(wcwidth(character), 0)


# The line drawing characters of the VT100 (DEC special graphics), 0x60 to 0x7e.
GRAPHICS = dict(zip(range(0x60, 0x7F), "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))
