"""Level 3: a shell behind ssh or a container, where no file of ours can be read; all of it is typed.

There is no key to clear the line with and no prompt mark: type only where a probe was answered.
"""

from __future__ import annotations

import re

# A tty in canonical mode takes at most 4095 bytes in a line; a piece grows to at most four times as much.
_PIECE = 700
_PLAIN = re.compile(rb"[^A-Za-z0-9 _./=,:@^+-]")
_START = b"\\printf '\\033]7770;S;%s\\007' "
_END = b"\\printf '\\033]7770;E;%s;%s;%s;%s\\007' "


def probe(probe_id: str, fish_id: str) -> bytes:
    """Return the line that makes any POSIX-like shell say H with `probe_id`, and fish with `fish_id` before that.

    In fish a quoted backslash needs a second one too. The redirections are there because a shell without /dev/tty, or
    one that takes them for something else (csh), could not run a command between marks: it says nothing.
    """
    say = b"\\printf '\\033]7770;H;%s\\007' "
    fish = b" test '\\\\' = \\\\ && " + say + fish_id.encode() + b" >/dev/tty; "
    return fish + say + probe_id.encode() + b" >/dev/tty 2>/dev/null\r"


def foreign_end(command_id: str, *, fish: bool = False) -> bytes:
    """Return the line that prints E with the last status: after C-c the rest of a typed line is not run."""
    return b" " + _end(command_id.encode(), fish=fish) + b"\r"


def foreign_wrap(command: bytes, command_id: str, *, fish: bool = False) -> list[bytes]:
    """Return the lines to type, each with its Enter: the command in octal, in pieces, then S, `eval` and E."""
    mark = command_id.encode()
    pieces = [_octal(command[at : at + _PIECE]) for at in range(0, len(command), _PIECE)]
    lines = []
    body = b"'" + b"".join(pieces) + b"'"
    if len(pieces) > 1:
        empty, more = (b"set __muxwire_b ''", b"set __muxwire_b $") if fish else (b"__muxwire_b=", b"__muxwire_b=$")
        lines = [b" " + empty + b"\r"]
        lines += [b" " + more + b"__muxwire_b'" + piece + b"'\r" for piece in pieces]
        body = b'"$__muxwire_b"'
    take = b"(printf " + body + b" | string collect)" if fish else b'"$(\\printf ' + body + b')"'
    start = _START + mark + b" >/dev/tty; eval " + take
    return [*lines, b" " + start + b"; " + _end(mark, fish=fish) + b"\r"]


def _end(mark: bytes, *, fish: bool) -> bytes:
    # The status is quoted because IFS may hold digits; the braces keep a trace out of the output.
    if fish:
        return _END + mark + b' $status "$PWD" ' + mark + b" >/dev/tty"
    return b"{ " + _END + mark + b' "$?" "$PWD" ' + mark + b" >/dev/tty; } 2>/dev/null"


def _octal(text: bytes) -> bytes:
    return _PLAIN.sub(lambda match: b"\\%03o" % match[0][0], text)
