"""The verbs that show what a tab shows, or has done: snapshot, logs, history, rec."""

from __future__ import annotations

import math
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from muxwire.cli.connect import on_terminals
from muxwire.cli.console import STDOUT
from muxwire.cli.display import Display
from muxwire.cli.options import (
    AS_JSON,
    NO_COLOURS,
    PLAIN,
    add_verb,
    duration,
    flag,
    named_tabs,
    names_tab,
    of,
    one_of,
    option,
    positive,
    seconds,
    words_of,
)
from muxwire.cli.printing import packed, table
from muxwire.errors import InvalidArgument
from muxwire.verbs.catalogue import ReadLogs, Screenshot, StreamLogs, Tail, TakeSnapshot
from muxwire.verbs.types import DEFAULT_LINES

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from muxwire.cli.console import Console, Write
    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals

_CHUNK = 1 << 20
_COMMAND = {"flags": ("--command",)}
_HISTORY = ("BEGAN", "TAB", "NAME", "BY", "SECONDS", "EXIT", "BYTES", "DIRECTORY", "COMMAND")


def add(verbs: Verbs) -> None:
    add_verb(
        verbs,
        "snapshot",
        on_terminals(_snapshot, looks=True),
        names_tab(),
        one_of(
            of(TakeSnapshot, "at_byte", "command_id", at_byte={"flags": ("--at",)}, command_id=_COMMAND),
            # Over MCP it is a number.
            option("--ago", metavar="TIME", type=duration, help="as it was that long ago: 10s, 5m"),
        ),
        of(
            TakeSnapshot,
            without=("at_byte", "command_id", "ago", "image"),  # --image has a file
            cells={"help": "with --json: colours and other styles too"},
        ),
        one_of(
            option("--svg", metavar="FILE", help="draw it into FILE in place of printing it; - for the output"),
            option("--image", metavar="FILE", help="the same as PNG; needs Pillow"),
        ),
        flag("--light", help="draw on a light background; else on a dark one"),
        AS_JSON,
        summary="print what a tab's screen shows, or has shown",
        example="muxwire snapshot build --scrollback 0",
    )
    add_verb(
        verbs,
        "logs",
        on_terminals(_logs, looks=True),
        names_tab(),
        flag("-f", "--follow", help="continue as more comes, until the tab is closed"),
        of(StreamLogs, "from_byte", from_byte={"default": None, "help": "all from that offset on, in place of lines"}),
        of(
            ReadLogs,
            lines={"flags": ("-n", "--lines")},
            command_id=_COMMAND,
            after={"flags": ("-A", "--after")},
            before={"flags": ("-B", "--before")},
            strip_ansi=PLAIN,
        ),
        AS_JSON,
        summary="print what a tab has shown, a closed one too",
        example="muxwire logs build --follow",
    )
    add_verb(
        verbs,
        "history",
        on_terminals(_history, looks=True),
        names_tab(many=True),
        flag("-a", "--all", help="of every tab, closed ones too"),
        NO_COLOURS,
        option("-n", "--lines", metavar="N", type=positive, default=DEFAULT_LINES, help="the last N"),
        AS_JSON,
        summary="list the commands that ran: when, where, by whom, how long, exit code, offsets",
        example="muxwire history build -n 20",
        details="MUXWIRE_HISTORY=off keeps none.",
    )
    add_verb(
        verbs,
        "rec",
        on_terminals(_rec),
        names_tab(),
        option("--duration", metavar="SECONDS", type=seconds, default=math.inf, help="end after that time"),
        option("--idle-limit", metavar="SECONDS", type=seconds, help="players shorten longer pauses to this"),
        option("--title", metavar="TEXT", default="", help="default: the tab's name"),
        flag("--overwrite", help="FILE may exist already"),
        option("file", metavar="FILE", help="where it goes; - is stdout"),
        AS_JSON,
        summary="record what a tab shows, as an asciicast",
        example="muxwire rec build build.cast",
        details="It ends with the tab, at the time given, or by C-c. `asciinema play FILE` shows it.",
    )


async def _snapshot(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    drawn = arguments.image if arguments.svg is None else arguments.svg
    if arguments.image is not None:
        from muxwire.library.pictures import check_can_draw, png  # late: only a picture needs them

        check_can_draw()
    other = {} if drawn is None else {"cells": True, "unwrap": False}
    taken = await terminals.snapshot(arguments.target, **words_of(Screenshot, arguments) | other)
    if drawn is not None:
        svg = arguments.svg is not None
        picture = (
            taken.svg(light=arguments.light).encode("utf-8", "replace") if svg else png(taken, light=arguments.light)
        )
        async with _output(console, drawn, overwrite=True) as write:
            await write(picture)
        if drawn != "-":
            console.tell(arguments, {"file": drawn, "pane": taken.pane})
    else:
        console.tell(arguments, taken, (*(taken.scrollback or ()), *taken.lines))
    return 0


async def _logs(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    display = Display() if console.sizes[STDOUT] is not None and not arguments.json else None
    next_byte = arguments.from_byte
    if arguments.command_id and (arguments.follow or next_byte is not None):
        raise InvalidArgument("--command goes with --lines and --grep", remedy="leave --follow and --from-byte out")
    if next_byte is None:
        tail = await terminals.read_logs(arguments.target, **words_of(Tail, arguments))
        next_byte = tail.next_byte
        if arguments.json:
            console.document(tail)
        else:
            await _show(console, tail.content, display)
            if tail.note:
                console.warn(f"muxwire: {tail.note}")
        if not arguments.follow:
            return 0
    await _stream(console, terminals, arguments, next_byte, display)
    return 0


async def _history(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    commands = await terminals.history(named_tabs(arguments), limit=arguments.lines)
    rows = [
        (
            console.time_of_day(command.time, "%Y-%m-%d %H:%M:%S"),
            # A tab of each life of the tmux server may be @1; this form is never used again.
            re.sub(r"(?=[@%]\d+$)", f"{command.generation}/", command.window_id),
            command.name,
            command.by,
            "-" if command.duration_ms is None else f"{command.duration_ms / 1000:.3f}",
            "-" if command.exit_code is None else str(command.exit_code),
            f"{command.from_byte}-{command.next_byte}",
            command.cwd,
            command.command.replace("\n", "⏎"),
        )
        for command in commands
    ]
    by_column = {"EXIT": lambda code: {"0": "green", "-": ""}.get(code, "red")}
    lines = table(_HISTORY, rows, console.colours(plain=arguments.no_colours), by_column)
    console.tell(arguments, {"commands": commands}, lines)
    return 0


async def _show(console: Console, text: str, display: Display | None) -> None:
    data = text.encode("utf-8", "surrogateescape")
    await console.write_soon(data if display is None else display.take(data))


async def _stream(
    console: Console, terminals: Terminals, arguments: argparse.Namespace, next_byte: int, display: Display | None
) -> None:
    noted = ""
    while True:
        chunk = await terminals.stream_logs(
            arguments.target,
            from_byte=next_byte,
            max_bytes=_CHUNK,
            strip_ansi=arguments.strip_ansi,
            wait=math.inf if arguments.follow else 0.0,
        )
        next_byte = chunk.next_byte
        if arguments.json:
            await console.write_soon(packed(chunk))
        else:
            # Lines end as in `logs -n`; a chunk never cuts the terminal's CR LF.
            await _show(console, chunk.chunk.replace("\r\n", "\n"), display)
            if chunk.note not in ("", noted):
                noted = chunk.note
                console.warn(f"muxwire: {noted}")
        if chunk.eof and (chunk.closed or not arguments.follow):
            return


async def _rec(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    if arguments.file == "-" and arguments.json:
        raise InvalidArgument("stdout cannot hold a recording and a document", remedy="name a file")
    from muxwire.library.asciicast import Recorder

    tab = await terminals.tab(arguments.target)
    async with _output(console, arguments.file, overwrite=arguments.overwrite) as write:
        recorder = Recorder(terminals, tab, write)
        with anyio.CancelScope() as scope:  # a signal ends it, as its time does
            console.on_signal = lambda _: scope.cancel()
            await recorder.record(title=arguments.title, idle_limit=arguments.idle_limit, duration=arguments.duration)
    made = {"window_id": tab.key, "events": recorder.events, "seconds": recorder.seconds}
    console.tell(arguments, {"file": arguments.file, **made})
    return 0


@asynccontextmanager
async def _output(console: Console, path: str, *, overwrite: bool) -> AsyncIterator[Write]:
    """Where a picture or a recording goes. InvalidArgument if the file exists; OSError."""
    if path == "-":
        yield console.write_soon
        return
    try:
        async with console.create(path, overwrite=overwrite) as write:
            yield write
    except FileExistsError:
        raise InvalidArgument(f"{path} exists already", remedy="choose another name, or add --overwrite") from None
