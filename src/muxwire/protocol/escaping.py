"""The octal escapes of %output: tmux writes a byte below 0x20 and a backslash as `\\ooo`, all else raw.

`control_append_data` in tmux's control.c is the other side.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Bytes that an escape takes on the wire beyond the one that it stands for: `\012` is four for one.
_ESCAPE_OVERHEAD = 3

_ESCAPE = re.compile(rb"\\([0-3][0-7][0-7])")
_CUT_ESCAPE = re.compile(rb"\\[0-7]{0,2}\Z")


def unescape(data: bytes) -> bytes:
    """Return the bytes that the pane wrote; text that tmux cannot have sent is kept as it is.

    `codecs.escape_decode` does 900 MB/s where a `re.sub` does 47. It also knows Python's other escapes,
    so its result counts only if every backslash stood for exactly one byte.
    """
    escapes = data.count(b"\\")
    if not escapes:
        return data
    try:
        decoded = codecs.escape_decode(data)[0]
    except (ValueError, DeprecationWarning):  # a cut escape; a foreign one, where warnings are errors
        return _unescape_carefully(data)
    if len(decoded) != len(data) - _ESCAPE_OVERHEAD * escapes:
        return _unescape_carefully(data)
    return decoded


def _unescape_carefully(data: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: bytes((int(match[1], 8),)), data)


def without_cut_escape(data: bytes) -> bytes:
    """Drop an escape that the end of the stream cut through."""
    return _CUT_ESCAPE.sub(b"", data)


_WIRE = tuple(b"\\%03o" % byte if byte < 0x20 or byte == 0x5C else bytes((byte,)) for byte in range(256))


def escape(data: bytes) -> bytes:
    """Return `data` as tmux would put it into %output."""
    return b"".join(map(_WIRE.__getitem__, data))


# utf8_strvis of tmux 3.4, which all that it prints goes through; from 3.5 on only what is quoted for its own parser.
_DOLLAR = re.compile(rb"\\(?=\$[A-Za-z_{])")
DOLLAR_VERSION = (3, 4)


def undo_dollars(lines: Sequence[bytes]) -> tuple[bytes, ...]:
    """What tmux 3.4 meant by a line in which it put a backslash before each `$` of a name."""
    return tuple(_DOLLAR.sub(b"", line) for line in lines)
