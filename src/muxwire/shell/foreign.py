"""Level 3: a shell over ssh or in a container, where no file of ours can be read; all of it is typed.

There is no key to clear the line with and no prompt mark: type only where a probe was answered. `$?` is what a person
would find: the probe reports it before it changes it, and what follows leaves it as the command did.
"""

from __future__ import annotations

import re

from muxwire.shell.quoting import printf_format

# A tty in canonical mode takes at most 4095 bytes in a line; a piece grows to at most four times as much.
_PIECE = 700
_PLAIN = re.compile(rb"[^A-Za-z0-9 _./=,:@^+-]")
# fish returns a status from functions only; sh from a subshell, in a list that `set -e` lets fail.
_FISH_RETURNS = b"function __muxwire_r; return $argv; end; "


def probe(probe_id: str) -> bytes:
    """Return the line that makes any POSIX-like shell, and fish, say H with `probe_id` and its last status.

    In fish a quoted backslash hides the quote after it, so that it takes the second word of `$status`, and sh that of
    `$?`, which fish refuses to read; the first word shows which it was. The redirections are there because a shell
    without /dev/tty, or one that takes them for something else (csh), could not run a command between marks: it says
    nothing.
    """
    words = b"""'\\' "$?" ' $status \\'"""
    return b" \\printf '\\033]7770;H;%s;%%.1s;%%s%%.0s\\007' %s >/dev/tty 2>/dev/null\r" % (probe_id.encode(), words)


def foreign_end(command_id: str, before: bytes, *, fish: bool = False) -> bytes:
    """Return the line that prints `before`, and E with the last status: C-c threw the rest of a typed line away."""
    returns = _FISH_RETURNS if fish else b""
    return b" " + _end(command_id.encode(), before, fish=fish, returns=returns) + b"\r"


def foreign_wrap(
    command: bytes, command_id: str, *, fish: bool = False, before: bytes = b"", status: int = 0
) -> list[bytes]:
    """Return the lines to type, each with its Enter: the command in octal, in pieces, then `before` and S, `eval`, E.

    `before` is printed verbatim; if it is not empty, B between two pieces shows a reader that they are ours.
    `status` is what the command finds as the last one.
    """
    mark = command_id.encode()
    pieces = [_octal(command[at : at + _PIECE]) for at in range(0, len(command), _PIECE)]
    lines = []
    body = b"'" + b"".join(pieces) + b"'"
    if len(pieces) > 1:
        sets, empty = (b" set -g __muxwire_b ", b"''") if fish else (b" __muxwire_b=", b"")
        goes_on = b"; \\printf '\\033]7770;B;" + mark + b";2\\007' >/dev/tty" if before else b""
        lines = [sets + empty + b"\r"]
        lines += [sets + b"$__muxwire_b'" + piece + b"'" + goes_on + b"\r" for piece in pieces]
        body = b'"$__muxwire_b"'
    start = b"\\printf '" + printf_format(before) + b"\\033]7770;S;" + mark + b"\\007' >/dev/tty; "
    if fish:
        line = b" set -g __muxwire_b (\\printf " + body + b" | string collect); " + _FISH_RETURNS + start
        line += b"__muxwire_r %d; eval $__muxwire_b; " % status
    else:
        line = b' __muxwire_b="$(\\printf ' + body + b')"; { ' + start
        line += b"(\\exit %d) && :; " % status if status else b""
        line += b'} 2>/dev/null; \\eval "$__muxwire_b"; '
    return [*lines, line + _end(mark, b"", fish=fish, returns=b"") + b"\r"]


def _end(mark: bytes, before: bytes, *, fish: bool, returns: bytes) -> bytes:
    # The status is quoted because IFS may hold digits; the braces keep a trace out of the output.
    end = b"\\printf '" + printf_format(before) + b"\\033]7770;E;%s;%s;%s;%s\\007' " + mark
    if fish:
        keep = b"set -g __muxwire_s $status; "
        return keep + returns + end + b' $__muxwire_s "$PWD" ' + mark + b" >/dev/tty; __muxwire_r $__muxwire_s"
    keep = b'{ __muxwire_s="$?"; '
    return keep + end + b' "$__muxwire_s" "$PWD" ' + mark + b' >/dev/tty; (\\exit "$__muxwire_s") && :; } 2>/dev/null'


def _octal(text: bytes) -> bytes:
    return _PLAIN.sub(lambda match: b"\\%03o" % match[0][0], text)
