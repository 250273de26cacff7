"""The standard descriptors while a server speaks JSON-RPC on them: a private pair for it, harmless ones for the rest.

A print, a library's warning or a child that inherits fd 1 would break the stream, and a child that reads
fd 0 would steal requests. So the wire moves to private descriptors, fd 0 reads nothing and fd 1 is stderr.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import stat
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio  # only to name the running loop's type
    from collections.abc import Callable, Iterator

STDIN, STDOUT, STDERR = 0, 1, 2

# A duplicate must not land on a standard descriptor that happens to be closed.
FIRST_PRIVATE = 3

# How hosts and people end a server; all of them mean the same to us.
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def is_pipe(fd: int) -> bool:
    """Tell whether the descriptor can be awaited and made non-blocking: a pipe or a socket.

    A terminal is neither: its blocking mode is shared with the shell that started us.
    """
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextmanager
def private_wire() -> Iterator[tuple[int, int]]:
    """Yield private non-blocking descriptors of stdin and stdout; put everything back at the end."""
    sys.stdout.flush()
    reading = fcntl.fcntl(STDIN, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    writing = fcntl.fcntl(STDOUT, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    blocking = os.get_blocking(reading), os.get_blocking(writing)
    _divert()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    try:
        yield reading, writing
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()  # what was printed meanwhile is still stderr's
        os.set_blocking(reading, blocking[0])  # the mode belongs to the pipe, which others may hold too
        os.set_blocking(writing, blocking[1])
        os.dup2(reading, STDIN)
        os.dup2(writing, STDOUT)
        os.close(reading)
        os.close(writing)


def _divert() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, STDIN)
    try:
        os.dup2(STDERR, STDOUT)
    except OSError:  # stderr is closed
        os.dup2(null, STDOUT)
    if null > STDERR:
        os.close(null)


def peer_is_gone(fd: int) -> bool:
    """Tell, when a descriptor that we only write to became readable, whether nobody reads its other end."""
    if not stat.S_ISSOCK(os.fstat(fd).st_mode):
        return True  # the writing end of a pipe becomes readable only by its closing
    with socket.socket(fileno=os.dup(fd)) as duplicate:
        try:
            return not duplicate.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True


@contextmanager
def on_ending_signal(loop: asyncio.AbstractEventLoop, end: Callable[[int], None]) -> Iterator[None]:
    """Call `end` with the number of any signal that means "stop", for the time of the block."""
    installed = []
    if threading.current_thread() is threading.main_thread():
        for number in ENDING_SIGNALS:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup: whoever started us wants it ignored
            loop.add_signal_handler(number, end, number)
            installed.append(number)
    try:
        yield
    finally:
        for number in installed:
            loop.remove_signal_handler(number)
