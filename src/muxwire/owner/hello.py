"""The first line of a client: who calls, from where, and what for."""

from __future__ import annotations

import re
import socket
from ast import literal_eval
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import anyio

from muxwire_reach import PROTOCOL

if TYPE_CHECKING:
    Size = tuple[int, int]

# An environment has some kilobytes; the kernel allows a program some megabytes of it.
HELLO_MAX = 4 << 20
HELLO_SECONDS = 5.0
_PIECE = 1 << 16


@final
@dataclass(frozen=True, slots=True)
class Hello:
    """What a client says of the process that it is.

    `kind` is "verb", "mcp" or "library"; `words` is what stands behind `muxwire`, or what a program has opened the
    instance with. `directory` is "" if that was removed. `sizes` are those of the terminals that stdin, stdout and
    stderr are, `terminal` the path of the first.
    """

    version: str
    kind: str
    words: list[str]
    directory: str
    sizes: tuple[Size | None, Size | None, Size | None]
    terminal: str
    environ: dict[str, str]


def is_newer(version: str, than: str) -> bool:
    """Whether a release is newer than another one, by their numbers."""
    one, other = (list(map(int, re.findall(r"[0-9]+", text))) for text in (version, than))
    return one > other


def read_hello(line: bytes) -> Hello | None:
    """What a line says; None for what no client of this protocol has written.

    It is a literal of Python, which a client can write without an import. What has another type than it should have is
    an error of that client's call, and of no other's.
    """
    try:
        protocol, said = literal_eval(line.decode("ascii"))
        return Hello(**said) if protocol == PROTOCOL else None
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


async def receive_hello(connection: socket.socket) -> bytes:
    """The first line of a connection, and no byte after it: that is of MCP, or a frame. b"" if it does not come.

    Nothing comes after a line that is too long, after HELLO_SECONDS, or if the client hangs up.
    """
    line = b""
    with anyio.move_on_after(HELLO_SECONDS):
        while not line.endswith(b"\n") and len(line) <= HELLO_MAX:
            await anyio.wait_readable(connection)
            seen = connection.recv(_PIECE, socket.MSG_PEEK)
            if not seen:
                break
            line += connection.recv(seen.find(b"\n") + 1 or len(seen))
    return line if line.endswith(b"\n") else b""
