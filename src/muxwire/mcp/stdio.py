"""A connection on the standard descriptors, and every way of ending it.

A print, a library's warning or a child that inherits fd 1 would break the stream, and a child that reads fd 0 would
steal requests. So the wire moves to private descriptors, fd 0 reads nothing and fd 1 is stderr.
"""

from __future__ import annotations

import fcntl
import gc
import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import InvalidArgument
from muxwire.mcp.connection import load, serve_connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.mcp.offer import Offer
    from muxwire.mcp.wire import OnEnd

    # It is given what is to be called when a signal comes.
    OnSignal = Callable[[Callable[[], None]], None]

STDIN, STDOUT, STDERR = 0, 1, 2

# A duplicate must not land on a standard descriptor that happens to be closed.
FIRST_PRIVATE = 3


async def run_on_stdio(offer: Offer, terminals: LazyTerminals, on_end: OnEnd, on_signal: OnSignal) -> None:
    """Serve until stdin ends, stdout is closed, or a signal comes; then close what runs with the server, in order.

    `on_end` is called before the calls that are under way are cancelled. However a host or a person ends a server, the
    effect is the same; `on_signal` as `serve` has it.
    """

    def end() -> None:
        on_end()
        serving.cancel()

    with private_wire() as (reading, writing), anyio.CancelScope() as serving:
        on_signal(end)
        # Some hundred thousand objects, all to stay: to look for garbage while they are made takes a third of that
        # time, and to look among them later 20 ms of a call.
        gc.disable()
        await load()
        gc.freeze()
        gc.enable()
        await serve_connection(offer, terminals, reading, writing, on_end)


@contextmanager
def private_wire() -> Iterator[tuple[int, int]]:
    """Yield private descriptors of stdin and stdout; put everything back at the end. InvalidArgument."""
    if sys.stdout is None or not (is_pipe(STDIN) and is_pipe(STDOUT)):  # None: it was closed when Python started
        raise InvalidArgument(
            "an MCP client starts this, with pipes as stdin and stdout", remedy="`cat requests | muxwire serve | cat`"
        )
    sys.stdout.flush()
    reading = fcntl.fcntl(STDIN, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    writing = fcntl.fcntl(STDOUT, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    _divert()
    try:
        yield reading, writing
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()  # what was printed meanwhile goes to stderr, as fd 1 still does
        for private, standard in ((reading, STDIN), (writing, STDOUT)):
            os.set_blocking(private, True)  # the mode belongs to the pipe, which others may hold too
            os.dup2(private, standard)
            os.close(private)


def _divert() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, STDIN)
    try:
        os.dup2(STDERR, STDOUT)
    except OSError:  # stderr is closed
        os.dup2(null, STDOUT)
    if null > STDERR:
        os.close(null)


def is_pipe(fd: int) -> bool:
    """Tell whether the descriptor can be awaited, and be set not to block: a pipe or a socket.

    A file is always ready, and the mode of a terminal is shared with the shell that started us.
    """
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
