"""Other programs' processes: stopping them for a while, and waiting for their end, which nothing reports."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, AnyStr

import anyio
import anyio.to_thread

from muxwire import Terminals
from muxwire.client.watchdog import process_table
from tests.deadline import until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Iterator

    from muxwire.client.client import ControlClient

_LOOK_SECONDS = 0.02
_OWNER_SECONDS = 50
# What the command line of a watchdog has in it.
WATCHDOG = b"watchdog.py"


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Have a process do nothing meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def limited(what: int, most: int) -> Iterator[None]:
    """Have the kernel grant this process less of a resource (`resource.RLIMIT_*`) meanwhile."""
    before = resource.getrlimit(what)
    resource.setrlimit(what, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


async def line_of(process: subprocess.Popen[AnyStr]) -> AnyStr:
    """The next line that a program prints; an empty one if it has ended."""
    assert process.stdout is not None
    return await anyio.to_thread.run_sync(process.stdout.readline, abandon_on_cancel=True)


def end_owner(runtime: Path, name: str) -> None:
    """Ask the owner of a named instance to end, if there is one, and return when it has; its tmux stays."""
    path, deadline = runtime / f"{name}.owner", time.monotonic() + _OWNER_SECONDS
    with socket.socket(socket.AF_UNIX) as made, suppress(OSError):
        made.connect(str(path))
        os.kill(struct.unpack("3i", made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0], signal.SIGTERM)
    while path.exists():
        assert time.monotonic() < deadline
        time.sleep(_LOOK_SECONDS)


async def gone(pids: Iterable[int], *paths: Path) -> None:
    """Return when none of them, with all its threads, runs or is there; zombies are what the system has yet to bury."""
    for pid in pids:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            try:
                await anyio.wait_readable(descriptor)
            finally:
                os.close(descriptor)
    await until(lambda: not any(path.exists() for path in paths))


async def appeared(path: Path) -> None:
    """Return when a program has made that file."""
    await until(path.exists)


async def server_pid(of: Terminals | ControlClient) -> int:
    """The process of the tmux server of an instance, or of a client."""
    client = (await of.server()).client if isinstance(of, Terminals) else of
    (answer,) = await client.command("display-message", "-p", "#{pid}")
    return int(answer)


def file_of(pid: int, name: str) -> bytes:
    """What the kernel says of a process in `/proc/PID/NAME`; nothing if it has ended, or is another user's."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def command_line(pid: int) -> bytes:
    """The arguments of a process, each ended by NUL; none if it has ended since it was listed."""
    return file_of(pid, "cmdline")


def children_of(pid: int, word: bytes = b"") -> set[int]:
    """The processes that it started and that run, with that in their command lines."""
    return {child for child, row in process_table().items() if row.parent == pid and word in command_line(child)}
