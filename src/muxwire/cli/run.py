"""The verb that runs one command in a tab: its exact output as it comes; its exit code is that of `muxwire`."""

from __future__ import annotations

import argparse
import codecs
import math
import shlex
import signal
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, final

import anyio

from muxwire.cli.connect import on_terminals
from muxwire.cli.console import STDOUT
from muxwire.cli.display import Display
from muxwire.cli.options import AS_JSON, PLAIN, add_verb, machine, of, one_of, option, words_after, words_of
from muxwire.cli.printing import spoken
from muxwire.errors import MuxwireError
from muxwire.shell.quoting import fish_quote, os_bytes
from muxwire.verbs.catalogue import ExecuteCommand, Execution
from muxwire.verbs.types import ACTIVE
from muxwire.vt.readable import Readable, continued, lines_before, readable
from muxwire.vt.screens import on_alternate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.cli.console import Console
    from muxwire.cli.options import Parser, Verb, Verbs
    from muxwire.library.terminals import Terminals
    from muxwire.results import ExecutionResult
    from muxwire.tabs.tab import Tab
    from muxwire.vt.readable import Size

# Not 124: a command that itself runs timeout(1) may exit with that. timeout(1) exits with 125 only if it fails itself.
TIMED_OUT = 125
# POSIX: found, but could not be run. Failures of muxwire itself have this code: few commands exit with it.
NOT_RUN = 126

# One more than a command may have, so that too much is an error and not cut.
_COMMAND_MAX = (16 << 20) + 1
# Characters. A line may be overwritten for hours: of a longer one only what it shows now is kept.
_LINE_MAX = 64 << 10
_ON_ALTERNATE = b"\x1b[?1049h"


def add(verbs: Verbs) -> None:
    run = add_verb(
        verbs,
        "run",
        on_terminals(_run),
        one_of(
            option(
                "-t", "--target", metavar="TAB", default=ACTIVE, help="a tab; default: the one used last, or a new one"
            ),
            option("--host", metavar="HOST", type=machine, help="on another machine, in a tab of its own"),
        ),
        option(
            "--leave",
            dest="on_timeout",
            action="store_const",
            const="leave",
            default="interrupt",
            help="leave it running at the timeout, and as soon as it waits for input",
        ),
        of(
            ExecuteCommand,
            # The output is printed as it comes, and whole; C-c and a shell's & are there already.
            without=("async_", "idle", "max_chars", "on_timeout"),
            timeout={"default": math.inf},
            strip_ansi=PLAIN,
            command={"flags": ("command",), "nargs": argparse.REMAINDER},
        ),
        AS_JSON,
        summary="run a command in a tab; print its output as it comes, exit with its exit code",
        example="muxwire run -t build make -j4",
        details="Options stand before COMMAND. One quoted COMMAND is a line for the tab's shell, which knows its "
        "aliases and functions; after one that contains a blank, options are muxwire's too. Several COMMAND words are "
        "a program and its arguments, passed as they are. - reads the line from stdin. Commands in one tab take turns: "
        "while another of muxwire's runs there, this one waits, without --timeout for ever. Exit codes of muxwire "
        "itself: 125 if the command is not over or did not end in time, 126 if it could not be run.",
    )
    opened: Verb = run.get_default("run")

    async def with_command(console: Console, arguments: argparse.Namespace) -> int:
        read_options_after(run, arguments)
        if not words_after(arguments.command):
            run.refuse("no command was given", "muxwire run COMMAND, or muxwire run - < FILE")
        return await opened(console, arguments)

    run.set_defaults(failed=NOT_RUN, run=with_command)


def read_options_after(parser: Parser, arguments: argparse.Namespace) -> None:
    """Take options of this verb that follow a command which is one quoted line: `run 'sleep 5' --timeout 1`."""
    line, *after = arguments.command or [""]
    known = {name for action in parser.taken for name in action.option_strings}
    if not (line.split()[1:] and after and after[0].partition("=")[0] in known):
        return
    parser.parse_args(after, arguments)
    if arguments.command:
        parser.refuse(
            f"{arguments.command[0]!r} follows a command that is one quoted line: only options of muxwire may",
            "muxwire run -- PROGRAM ARGUMENT... runs the words as they are",
        )
    arguments.command = [line]


async def _run(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    words = words_after(arguments.command)
    if arguments.host is None:
        tab, _ = await terminals.tab_or_new(arguments.target, within=arguments.timeout)
        return await _run_in(console, tab, words, arguments)
    tab = await terminals.create_tab(host=arguments.host)
    try:
        return await _run_in(console, tab, words, arguments)
    finally:
        if arguments.on_timeout != "leave" or tab.pane.session.running is None:
            # If the connection is lost, the tab ends on that machine after the seconds of `Carrier.keep`.
            with suppress(MuxwireError):
                await terminals.close_tab(tab, force=True)


async def _run_in(console: Console, tab: Tab, words: list[str], arguments: argparse.Namespace) -> int:
    if words == ["-"]:
        command = await console.piped(_COMMAND_MAX)
    else:
        command = command_text(words, shell=tab.pane.shell.name if tab.pane.shell is not None else "")
    result: ExecutionResult | None = None
    plain = PlainOutput(tab.size, console.write_soon)
    as_read = tab.strip_ansi if arguments.strip_ansi is None else arguments.strip_ansi

    display = Display()
    said: list[str] = []

    async def show(data: bytes) -> None:
        """At a terminal: what may go to it."""
        drew = display.on_alternate
        await console.write_soon(display.take(data))
        if display.on_alternate and not drew:
            console.warn(f"muxwire: the command draws a screen, which is not shown here: {tab.attach_words}")

    async def say_it_waits(what: str) -> None:
        await plain.flush()
        said.append(what)
        console.warn(f"muxwire: the command waits for {what}; answer with muxwire send-keys, or {tab.attach_words}")

    command_ids, received = list[str](), list[signal.Signals]()

    def interrupt(number: signal.Signals) -> None:
        """The first C-c is typed for the command, the next signal ends the command."""
        received.append(number)
        running = tab.pane.session.running
        # Its output may be read long after its end, and another command be in the foreground by then.
        if running is None or running.command_id not in command_ids:
            tasks.cancel_scope.cancel()
        elif received == [signal.SIGINT]:
            tasks.start_soon(tab.send_keys, ["C-c"])
        else:
            tasks.start_soon(tab.stop_process)

    exact = console.write_soon if console.sizes[STDOUT] is None else show
    async with anyio.create_task_group() as tasks:
        console.on_signal = interrupt
        result = await tab.execute(
            command,
            **words_of(Execution, arguments) | {"strip_ansi": as_read},
            on_start=command_ids.append,
            on_output=None if arguments.json else plain.take if as_read else exact,
            on_input=None if arguments.on_timeout == "leave" else say_it_waits,
        )
        await plain.flush()
        await console.write_soon(display.end())
        tasks.cancel_scope.cancel()
    if result is None:  # cancelled by a signal while it waited for its turn
        return -received[-1]
    if plain.note:
        console.warn(f"muxwire: {plain.note}")
    if said and result.running:  # its note says once more that it waits
        result = replace(result, note="")
    return _report(console, tab, result, arguments)


def command_text(words: list[str], *, shell: str) -> bytes:
    """What the shell is given: one word is its line as it stands, several are the words of one simple command."""
    if len(words) == 1:
        return words[0].encode("utf-8", "surrogateescape")
    return b" ".join(_quoted(word, shell) for word in words)


def _quoted(word: str, shell: str) -> bytes:
    quoted = shlex.quote(word)  # fish needs quotes for the same words, but other quotes
    return fish_quote(os_bytes(word)) if shell == "fish" and quoted != word else os_bytes(quoted)


def _report(console: Console, tab: Tab, result: ExecutionResult, arguments: argparse.Namespace) -> int:
    still = (
        f"it runs on, and {tab.key} is {result.state}: "
        # A nested shell does not tell when it shows its prompt.
        + ("" if tab.pane.session.is_nested else f"muxwire wait {tab.key} --prompt waits for its end, ")
        + f"muxwire logs {tab.key} --command {result.command_id} prints its output"
    )
    end = still if result.running else f"it was ended by {result.signal_sent}"
    late = (f"the command did not end within {arguments.timeout:g} s",) if result.timed_out else ()
    not_over = (end,) if result.running or result.timed_out else ()
    said = "; ".join((*late, *filter(None, (spoken(result.note),)), *not_over))
    if arguments.json:
        console.document(result)
    elif said:
        console.warn(f"muxwire: {said}")
    return TIMED_OUT if not_over else NOT_RUN if result.exit_code is None else result.exit_code


@final
class PlainOutput:
    """The output of `Tab.execute` as a person would have read it.

    A line is written when it has ended, or when the command waits for input.
    """

    def __init__(self, size: Size, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._size = size
        self._write = write
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._before = ""  # a screen of lines that were written
        self._line = ""  # the part of the output that was not written yet
        self.note = ""  # what is to be reported after the output

    async def take(self, data: bytes) -> None:
        """Take the next bytes, CR LF as LF."""
        self._line += self._decoder.decode(data).replace("\n", "\r\n")
        whole = self._line.rfind("\n") + 1
        if whole:
            await self._show(whole)
        if len(self._line) > _LINE_MAX:
            self._line = readable(self._line, self._size).text.replace("\n", "\r\n")

    async def flush(self) -> None:
        await self._show(len(self._line))

    async def _show(self, end: int) -> None:
        piece, self._line = self._line[:end], self._line[end:]
        text: Readable = continued(self._before, piece, self._size)
        self.note = text.note or self.note
        known = (self._before + piece).encode("utf-8", "replace")
        begin = max(lines_before(known, self._size[1]), len(known) - _LINE_MAX)
        inside = _ON_ALTERNATE if on_alternate(known[:begin]) else b""
        self._before = (inside + known[begin:]).decode("utf-8", "replace")
        if text.text:
            await self._write(text.text.encode("utf-8", "replace"))
