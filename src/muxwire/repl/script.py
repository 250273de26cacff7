"""The REPL without a terminal: lines from a pipe or a file, run one after the other, everything as plain text.

The exit code is 1 if one of the lines failed. All are run: what a script wants to stop at, it can see.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from muxwire.repl.entries import run_entries
from muxwire.repl.showing import plain
from muxwire.repl.tmux_parser import is_unfinished, is_word

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from muxwire.repl.showing import Line
    from muxwire.repl.state import Session

_READ_BYTES = 65_536
_STDOUT = 1
FAILED = 1


async def write_lines(lines: Sequence[Line]) -> None:
    await anyio.to_thread.run_sync(_write, "".join(f"{plain(line)}\n" for line in lines))


def _write(text: str) -> None:
    rest = memoryview(text.encode("utf-8", "backslashreplace"))
    while rest:
        rest = rest[os.write(_STDOUT, rest) :]


async def run_script(session: Session, descriptor: int) -> int:
    """Run what `descriptor` gives, until its end or `:quit`; return the exit code."""
    code = 0
    held: list[str] = []
    async for line in read_lines(descriptor):
        held.append(line)
        entry = "\n".join(held)
        if not is_word(entry) and is_unfinished(entry):
            continue
        held.clear()
        code = code if await run_entries(session, entry) else FAILED
        await session.printer.flushed()
        if session.over:
            break
    if held:
        code = code if await run_entries(session, "\n".join(held)) else FAILED
    await session.printer.flushed()
    return code


async def read_lines(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines of a pipe, a terminal or a file, each as soon as it is there."""
    # A file is always ready, and the kernel refuses to tell when it is (epoll: EPERM).
    waits = not stat.S_ISREG(os.fstat(descriptor).st_mode)
    rest = b""
    while True:
        if waits:
            await anyio.wait_readable(descriptor)
        data = os.read(descriptor, _READ_BYTES)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "surrogateescape")
        if not data:
            if rest:
                yield rest.decode("utf-8", "surrogateescape")
            return
