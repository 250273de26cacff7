"""Bytes as shell words: quoting, and the text of the marks that a wrapper prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

# What stands for itself inside a printf format in either kind of quotes, in every shell; and what stands for the rest.
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _./:,=@^+;[]?>#-"
_ESCAPED = {byte: f"\\{byte:03o}" for byte in range(256) if byte not in _PLAIN} | {ord("%"): "%%"}
# bash's stdio sends a terminal at most this much in one write(2): st_blksize of a pty.
_ONE_WRITE = 1000


def posix_quote(text: bytes) -> bytes:
    """One word for a POSIX shell."""
    return b"'" + text.replace(b"'", b"'\\''") + b"'"


def fish_quote(text: bytes) -> bytes:
    """One word for fish, whose single quotes know `\\\\` and `\\'`."""
    return b"'" + text.replace(b"\\", b"\\\\").replace(b"'", b"\\'") + b"'"


def folder_word(folder: str, quote: Callable[[bytes], bytes]) -> bytes:
    """A directory as one word, in which `~` at its beginning is the home of whose shell it is."""
    home = folder == "~" or folder.startswith("~/")
    return b'"$HOME"' * home + quote(os_bytes(folder[home:]))


def typed_path(path: PurePath, *, fish: bool = False) -> bytes:
    """A path as one word that can be typed: `printf` makes it where a line editor would take a byte of it for a key."""
    name = os_bytes(str(path))
    if str(path).isprintable():
        return fish_quote(name) if fish else posix_quote(name)
    words = b"\\printf '" + printf_format(name) + b"'"
    return b"(" + words + b" | string collect)" if fish else b'"$(' + words + b')"'


def printf_format(text: bytes) -> bytes:
    """A printf format that prints `text`; safe inside single and double quotes."""
    return text.decode("latin-1").translate(_ESCAPED).encode("latin-1")


def start_texts(redraw: bytes, command_id: bytes) -> tuple[bytes, ...]:
    """The texts of `redraw` and S, to be printed one after the other, so that each mark is within one write(2)."""
    start = b"\x1b]7770;S;" + command_id + b"\x07"
    if len(redraw) < _ONE_WRITE - len(start):
        return (redraw + start,)
    head, mark, tail = redraw.rpartition(b"\x1b]7770;")
    return head, mark + tail + start


def end_format(command_id: bytes) -> bytes:
    """The printf format of E; its two arguments are the status and the working directory."""
    return b"\\033]7770;E;" + command_id + b";%s;%s;" + command_id + b"\\007"


def os_bytes(text: str) -> bytes:
    """A path or an environment value as the system sees it."""
    return text.encode("utf-8", "surrogateescape")
