"""Which REPL: on a terminal or a pipe, on an instance or a recording."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import MuxwireError
from muxwire.host.folders import folders_for, private_folder
from muxwire.repl import script
from muxwire.repl.live import Live
from muxwire.repl.printer import Printer
from muxwire.repl.state import Recording, Session
from muxwire.repl.words_stream import load_transcript, play

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from muxwire.instance.connect import Wrap
    from muxwire.library.terminals import Terminals
    from muxwire.tmux.server import TmuxServer

    # Opens the instance, with something around its transport.
    Open = Callable[[Wrap], AbstractAsyncContextManager[Terminals]]
    Loop = Callable[[Session], Awaitable[int]]

HISTORY = "repl-history"
# A pipe is read by a program, which wants all of it: a hundred screens may wait.
PIPE_ROOM = 100_000


def main(open_instance: Open) -> int:
    """Run the REPL on an instance, over standard input and output; return the exit code.

    Raises what opening raises: TmuxUnavailable, InstanceUnavailable.
    """

    async def run() -> int:
        failure: Exception | None = None
        code = 0
        async with anyio.create_task_group() as tasks:
            printer, loop = _face()
            session = Session(printer, tasks)
            tasks.start_soon(printer.run)
            try:
                async with open_instance(session.wrap) as terminals, _attached(terminals):
                    session.live = Live(terminals, lambda server, version: _greet(session, server, version))
                    await session.live.server()
                    code = await loop(session)
                    await _finish_recording(session)
            except MuxwireError as error:
                failure = error  # raised below, outside of the group that would wrap it
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return code

    return anyio.run(run)


def replay(path: str, *, speed: float = 0.0) -> int:
    """Run the REPL on a transcript's file; `speed` 1 plays it as fast as it was, 0 at once. InvalidArgument."""
    recording = Recording(path, load_transcript(path))

    async def run() -> int:
        async with anyio.create_task_group() as tasks:
            printer, loop = _face()
            session = Session(printer, tasks, recording=recording)
            tasks.start_soon(printer.run)
            await play(session, path, recording.transcript, speed)
            code = await loop(session)
            tasks.cancel_scope.cancel()
        return code

    return anyio.run(run)


def _face() -> tuple[Printer, Loop]:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Printer(script.write_lines, room=PIPE_ROOM, pause=0), lambda session: script.run_script(
            session, sys.stdin.fileno()
        )

    # Late: it takes 0.1 s to import, and a script needs none of it.
    from muxwire.repl import terminal

    return Printer(terminal.write_lines), lambda session: terminal.run_prompt(session, history_file())


def history_file() -> Path:
    """Where the prompt's history is kept: next to the logs, since both hold what was typed. InstanceUnavailable."""
    folder = folders_for("repl", os.environ).state
    private_folder(folder, only_ours=False)
    return folder / HISTORY


@asynccontextmanager
async def _attached(terminals: Terminals) -> AsyncIterator[None]:
    """Stay attached to a person's first session, which is otherwise let go of after each call."""
    if terminals.role == "adopted":
        async with (await terminals.server()).attached():
            yield
    else:
        yield


def _greet(session: Session, server: TmuxServer, version: str) -> None:
    socket, role = server.folders.socket_path, server.access.role
    life = f", life {server.generation} of its server" if server.generation > 1 else ""
    session.say(
        f"instance {server.folders.instance} ({role}{life}), tmux {version}, socket {socket}",
        "a tmux command, or :help; C-d ends",
    )


async def _finish_recording(session: Session) -> None:
    if session.recorder is not None:
        session.recorder.stop()
        await session.recorder.finished.wait()
