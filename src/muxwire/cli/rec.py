"""The verb that records a tab as an asciicast."""

from __future__ import annotations

import math
import os
import signal
from functools import partial
from typing import TYPE_CHECKING

from muxwire.cli.connect import on_terminals
from muxwire.cli.options import add_target, add_verb, seconds
from muxwire.cli.printing import STDOUT, document, write_soon
from muxwire.errors import InvalidArgument

if TYPE_CHECKING:
    import argparse

    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals


def add(verbs: Verbs) -> None:
    """Add `rec`."""
    rec = add_verb(
        verbs,
        "rec",
        on_terminals(_rec),
        summary="record what a tab shows, as an asciicast",
        example="muxwire rec build build.cast",
        details="It ends with the tab, at the time given, or by C-c. `asciinema play FILE` shows it.",
    )
    add_target(rec)
    rec.add_argument("--duration", metavar="SECONDS", type=seconds, default=math.inf, help="end after so long")
    rec.add_argument("--idle-limit", metavar="SECONDS", type=seconds, help="players shorten longer pauses to this")
    rec.add_argument("--title", metavar="TEXT", default="", help="default: the tab's name")
    rec.add_argument("--overwrite", action="store_true", help="FILE may exist already")
    rec.add_argument("file", metavar="FILE", help="where it goes; - is stdout")


async def _rec(terminals: Terminals, arguments: argparse.Namespace) -> int:
    import anyio

    from muxwire.library.asciicast import Recorder

    if arguments.file == "-" and arguments.json:
        raise InvalidArgument("stdout cannot hold a recording and a document", remedy="name a file")
    tab = await terminals.tab(arguments.target)
    descriptor = STDOUT if arguments.file == "-" else _opened(arguments.file, overwrite=arguments.overwrite)
    try:
        recorder = Recorder(terminals, tab, partial(write_soon, descriptor=descriptor))
        async with anyio.create_task_group() as tasks:

            async def end() -> None:
                with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as received:
                    async for _ in received:
                        tasks.cancel_scope.cancel()

            tasks.start_soon(end)
            with anyio.move_on_after(arguments.duration):
                await recorder.record(title=arguments.title, idle_limit=arguments.idle_limit)
            tasks.cancel_scope.cancel()
    finally:
        if descriptor != STDOUT:
            os.close(descriptor)
    if arguments.json:
        document({"file": arguments.file, "window_id": tab.key, "events": recorder.events, "seconds": recorder.seconds})
    return 0


def _opened(path: str, *, overwrite: bool) -> int:
    """The file, made for us alone: a screen may hold secrets. InvalidArgument if it is there already; OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if overwrite else os.O_EXCL)
    try:
        return os.open(path, flags, 0o600)
    except FileExistsError:
        raise InvalidArgument(f"{path} is there already", remedy="choose another name, or say --overwrite") from None
