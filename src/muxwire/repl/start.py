"""Which REPL: on a terminal or a pipe, on an instance or a recording.

Without a terminal, lines are read from a pipe or a file and run one after the other, with everything as plain text. The
exit code is 1 if one of them failed. All are run, also after a failure: a script that wants to stop there can read the
answers, and end its input.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from muxwire.host.folders import folders_for, private_folder
from muxwire.repl.live import Live
from muxwire.repl.showing import plain
from muxwire.repl.state import Recording, Session
from muxwire.repl.words import run_entries
from muxwire.repl.words_stream import load_transcript, play
from muxwire.repl.writers import Printer, write_all

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from muxwire.instance.connect import Wrap
    from muxwire.library.terminals import Terminals
    from muxwire.repl.showing import Line
    from muxwire.tmux.server import TmuxServer

    # Opens the instance, with something around its transport.
    Open = Callable[[Wrap], AbstractAsyncContextManager[Terminals]]
    Loop = Callable[[Session], Awaitable[int]]

_READ_BYTES = 65_536
_STDOUT = 1
FAILED = 1
HISTORY = "repl-history"
# A pipe is read by a program, which wants all of it: so many lines may wait to be written.
PIPE_ROOM = 100_000


async def write_lines(lines: Sequence[Line]) -> None:
    text = "".join(f"{plain(line)}\n" for line in lines)
    await anyio.to_thread.run_sync(write_all, _STDOUT, text.encode("utf-8", "backslashreplace"))


async def run_script(session: Session, descriptor: int) -> int:
    """Run what `descriptor` gives, until its end or `:quit`; return the exit code."""
    code = 0
    async for line in read_lines(descriptor):
        code = code if await run_entries(session, line) else FAILED
        await session.printer.flushed()
        if session.over:
            break
    await session.printer.flushed()
    return code


async def read_lines(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines of a pipe, a terminal or a file, each as soon as it is there."""
    # A file and /dev/null are always ready, and the kernel refuses to tell when they are (epoll: EPERM).
    kind = os.fstat(descriptor).st_mode
    waits = not (stat.S_ISREG(kind) or (stat.S_ISCHR(kind) and not os.isatty(descriptor)))
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


def main(open_instance: Open) -> int:
    """Run the REPL on an instance, over standard input and output; return the exit code."""

    async def work(session: Session, loop: Loop) -> int:
        async with open_instance(session.wrap) as terminals:
            session.live = Live(terminals, lambda server, version: _greet(session, server, version))
            await session.live.server()
            code = await loop(session)
            if session.recorder is not None:
                session.recorder.stop()
                await session.recorder.finished.wait()
        return code

    return _run(work)


def replay(path: str, *, speed: float = 0.0) -> int:
    """Run the REPL on a transcript's file; `speed` 1 plays it as fast as it was, 0 at once. InvalidArgument."""
    recording = Recording(path, load_transcript(path))

    async def work(session: Session, loop: Loop) -> int:
        await play(session, path, recording.transcript, speed)
        return await loop(session)

    return _run(work, recording)


def _run(work: Callable[[Session, Loop], Awaitable[int]], recording: Recording | None = None) -> int:
    """Choose how to write and how to read lines, and do `work` with that; errors may come in an ExceptionGroup."""

    async def run() -> int:
        async with anyio.create_task_group() as tasks:
            printer, loop = _ways()
            session = Session(printer, tasks, recording=recording)
            tasks.start_soon(printer.run)
            code = await work(session, loop)
            tasks.cancel_scope.cancel()
        return code

    return anyio.run(run)


def _ways() -> tuple[Printer, Loop]:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Printer(write_lines, room=PIPE_ROOM, pause=0), lambda session: run_script(session, sys.stdin.fileno())

    # Late: it takes 0.1 s to import, and a script needs none of it.
    from muxwire.repl import terminal

    return Printer(terminal.write_lines), lambda session: terminal.run_prompt(session, history_file())


def history_file() -> Path:
    """Where the prompt's history is kept: next to the logs, since both hold what was typed. InstanceUnavailable."""
    folder = folders_for("repl", os.environ).state
    private_folder(folder, only_ours=False)
    return folder / HISTORY


def _greet(session: Session, server: TmuxServer, version: str) -> None:
    socket, role = server.folders.socket_path, server.access.role
    life = f", its tmux server was started {server.generation} times" if server.generation > 1 else ""
    session.say(
        f"instance {server.folders.instance} ({role}{life}), tmux {version}, socket {socket}",
        "a tmux command, or help; C-d ends",
    )
