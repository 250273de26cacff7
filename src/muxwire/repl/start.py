"""Which REPL: on a terminal or a pipe, on an instance or a recording.

Without a terminal, lines are read from a pipe or a file and run one after the other, with everything as plain text. The
exit code is 1 if one of them failed. All are run, also after a failure: a script that wants to stop there can read the
answers, and end its input.
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from muxwire.host.folders import folders_for, private_folder
from muxwire.repl.printer import Printer
from muxwire.repl.session import Session, play
from muxwire.repl.showing import plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from muxwire.library.terminals import Terminals
    from muxwire.repl.showing import Line

    Open = Callable[[], AbstractAsyncContextManager[Terminals]]

FAILED = 1
HISTORY = "repl-history"
# A pipe is read by a program, which wants all of it: so many lines may wait to be written.
_PIPE_ROOM = 100_000


async def run(open_instance: Open | None, replayed: str = "") -> int:
    """Run the REPL over standard input and output, and return the exit code: on an instance, or on a recording's file.

    InvalidArgument if the file is none; errors may come in an ExceptionGroup.
    """
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if on_terminal:
        from muxwire.repl import terminal  # late: it takes 0.1 s to import, and a script needs none of it

    printer = Printer(terminal.write_lines) if on_terminal else Printer(_write_lines, room=_PIPE_ROOM, pause=0)
    session = Session(printer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(printer.run)
        async with (
            open_instance() if open_instance is not None else nullcontext() as session.terminals,
            anyio.create_task_group() as session.tasks,
        ):
            if session.terminals is None:
                await play(session, replayed)
            else:
                await session.connect()
            code = await (terminal.run_prompt(session, history_file()) if on_terminal else run_script(session))
            session.end_recording()
            await printer.flushed()
            session.tasks.cancel_scope.cancel()
        tasks.cancel_scope.cancel()
    return code


async def run_script(session: Session) -> int:
    """Run what standard input gives, line by line, until its end; return the exit code."""
    code = 0
    while line := await anyio.to_thread.run_sync(sys.stdin.buffer.readline, abandon_on_cancel=True):
        code = code if await session.run(line.decode("utf-8", "surrogateescape")) else FAILED
        await session.printer.flushed()
    return code


async def _write_lines(lines: list[Line]) -> None:
    text = "".join(f"{plain(line)}\n" for line in lines)
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    await anyio.to_thread.run_sync(sys.stdout.buffer.flush)


def history_file() -> str:
    """Where the prompt's history is kept: next to the logs, since both hold what was typed. InstanceUnavailable."""
    folder = folders_for("repl", os.environ).state
    private_folder(folder, only_ours=False)
    return str(folder / HISTORY)
