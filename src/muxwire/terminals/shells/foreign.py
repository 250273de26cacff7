"""Level 3: a shell behind ssh or a container, where no file of ours can be read; all of it is typed."""

from __future__ import annotations

import re

# A tty in canonical mode takes at most 4095 bytes in a line; a piece grows to at most four times as much.
_PIECE = 700
_PLAIN = re.compile(rb"[^A-Za-z0-9 _./=,:@^+-]")


def probe(command_id: str) -> bytes:
    """The line that makes any POSIX-like shell, fish included, say H with this id."""
    return b" printf '\\033]7770;H;%s\\007' " + command_id.encode() + b"\r"


def foreign_wrap(command: bytes, command_id: str) -> list[bytes]:
    """The lines to type, each with its Enter."""
    mark = command_id.encode()
    pieces = [_octal(command[at : at + _PIECE]) for at in range(0, len(command), _PIECE)]
    lines = [b" __muxwire_b=\r"]
    lines += [b" __muxwire_b=$__muxwire_b'" + piece + b"'\r" for piece in pieces]
    lines.append(
        b" \\printf '\\033]7770;S;%s\\007' " + mark + b' >/dev/tty; eval "$(\\printf "$__muxwire_b")"; '
        b"{ \\printf '\\033]7770;E;%s;%s;%s;%s\\007' " + mark + b' "$?" "$PWD" ' + mark + b" >/dev/tty; } 2>/dev/null\r"
    )
    return lines


def _octal(text: bytes) -> bytes:
    return _PLAIN.sub(lambda match: b"\\%03o" % match[0][0], text)
