"""The first line of a client: who calls, from where, and what for."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import anyio

from muxwire_reach import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    instance with, `program` its Python. `directory` is "" if that was
    removed. `sizes` are those of the terminals that stdin, stdout and stderr are, `terminal` the path of the first.
    """

    version: str
    program: str
    kind: str
    words: list[str]
    directory: str
    sizes: tuple[Size | None, Size | None, Size | None]
    terminal: str
    environ: dict[str, str]

    def is_newer_than(self, version: str) -> bool:
        return numbers(self.version) > numbers(version)


def numbers(version: str) -> list[int]:
    """The numbers of a version, for a comparison of releases."""
    return [int(number) for number in re.findall(r"[0-9]+", version)]


def read_hello(line: bytes) -> Hello | None:
    """What a line says; None for what no client of this protocol has written."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match said:
        case {
            "muxwire": int(protocol),
            "version": str(version),
            "program": str(program),
            "kind": ("verb" | "mcp" | "library") as kind,
            "words": list(words),
            "directory": str(directory),
            "sizes": [_, _, _] as sizes,
            "terminal": str(terminal),
            "environ": dict(environ),
        } if protocol == PROTOCOL and _all_texts(words) and _all_texts(environ.values()) and all(map(_is_size, sizes)):
            stdin, stdout, stderr = (None if size is None else (size[0], size[1]) for size in sizes)
            read = (stdin, stdout, stderr)
            return Hello(version, program, kind, words, directory, read, terminal, environ)
        case _:
            return None


def _all_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_size(size: object) -> bool:
    match size:
        case None | [int(), int()]:
            return True
        case _:
            return False


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
