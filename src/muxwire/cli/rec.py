"""The verb that records a tab as an asciicast."""

from __future__ import annotations

import math
import os
import signal
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from muxwire.cli.connect import on_terminals
from muxwire.cli.options import add_target, add_verb, natural, seconds
from muxwire.cli.printing import STDOUT, document, write_soon
from muxwire.errors import InvalidArgument

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab


def add(verbs: Verbs) -> None:
    rec = add_verb(
        verbs,
        "rec",
        on_terminals(_rec),
        summary="record what a tab shows, as an asciicast",
        example="muxwire rec build build.cast",
        details="It ends with the tab, at the time given, or by C-c. `asciinema play FILE` shows it.",
    )
    add_target(rec)
    rec.add_argument("--svg", action="store_true", help="a still picture in place of a recording")
    rec.add_argument("--at", metavar="N", type=natural, help="a picture of the screen at that offset of its output")
    rec.add_argument("--duration", metavar="SECONDS", type=seconds, default=math.inf, help="end after so long")
    rec.add_argument("--idle-limit", metavar="SECONDS", type=seconds, help="players shorten longer pauses to this")
    rec.add_argument("--title", metavar="TEXT", default="", help="default: the tab's name")
    rec.add_argument("--overwrite", action="store_true", help="FILE may exist already")
    rec.add_argument("file", metavar="FILE", help="where it goes; - is stdout")


async def _rec(terminals: Terminals, arguments: argparse.Namespace) -> int:
    if arguments.file == "-" and arguments.json:
        raise InvalidArgument("stdout cannot hold a recording and a document", remedy="name a file")
    if arguments.svg or arguments.at is not None:
        picture = await terminals.snapshot(arguments.target, cells=True, at_byte=arguments.at)
        with _output(arguments) as descriptor:
            await write_soon(picture.svg().encode("utf-8", "replace"), descriptor)
        told: dict[str, object] = {"pane": picture.pane, "next_byte": picture.next_byte, "exact": picture.exact}
    else:
        tab = await terminals.tab(arguments.target)
        with _output(arguments) as descriptor:
            told = await _record(terminals, tab, arguments, descriptor)
    if arguments.json:
        document({"file": arguments.file, **told})
    return 0


async def _record(terminals: Terminals, tab: Tab, arguments: argparse.Namespace, descriptor: int) -> dict[str, object]:
    import anyio

    from muxwire.library.asciicast import Recorder

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
    return {"window_id": tab.key, "events": recorder.events, "seconds": recorder.seconds}


@contextmanager
def _output(arguments: argparse.Namespace) -> Iterator[int]:
    if arguments.file == "-":
        yield STDOUT
        return
    descriptor = _opened(arguments.file, overwrite=arguments.overwrite)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _opened(path: str, *, overwrite: bool) -> int:
    """The file, made for us alone: a screen may hold secrets. InvalidArgument if it is there already; OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if overwrite else os.O_EXCL)
    try:
        return os.open(path, flags, 0o600)
    except FileExistsError:
        raise InvalidArgument(f"{path} is there already", remedy="choose another name, or say --overwrite") from None
