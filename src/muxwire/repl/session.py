"""What the prompt works on: a connection or a recording, what is shown of it, and the words that change that."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, final

import anyio

from muxwire.client.forbidden import commands_in
from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.host.folders import EPHEMERAL
from muxwire.protocol.events import CommandBlock
from muxwire.repl.recording import Player, Recorder
from muxwire.repl.showing import BAD, DIM, TARGET, Filter, decoded, lines_of, plain, shortened
from muxwire.repl.transcript import COMMENT, PASSED, read, written

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from anyio.abc import TaskGroup, TaskStatus

    from muxwire.library.terminals import Terminals
    from muxwire.protocol.events import Event
    from muxwire.repl.printer import Printer
    from muxwire.repl.transcript import Record

# tmux finds a command by the beginning of its name; with less it could be kill-session.
_ENDS_SERVER = b"kill-ser"


@final
@dataclass(slots=True)
class Session:
    """`terminals` is None for a recording alone. `confirm` asks a person a question that is answered by yes or no."""

    printer: Printer
    terminals: Terminals | None = None
    tasks: TaskGroup | None = None  # for what hears the connection
    confirm: Callable[[str], Awaitable[bool]] | None = None  # a script is not asked
    filter: Filter = field(default_factory=Filter)
    shows_raw: bool = False
    recording: BinaryIO | None = None  # the file that the stream is written to
    _hears: bool = False  # whether the connection is shown
    _heard: anyio.Event = field(default_factory=anyio.Event)  # of the next that comes
    _player: Player = field(default_factory=Player)
    _number: int = -1  # of the newest block that was shown

    # -- the stream

    async def connect(self) -> Terminals:
        """The instance, whose connection is shown from now on. InvalidArgument for a recording, TmuxUnavailable, ..."""
        if self.terminals is None or self.tasks is None:
            raise InvalidArgument(
                "this is a recording, to which nothing can be sent", remedy="start `muxwire repl` without --replay"
            )
        if not self._hears:
            await self.tasks.start(self._hear, self.terminals)
        return self.terminals

    async def _hear(self, terminals: Terminals, *, task_status: TaskStatus[None]) -> None:
        """Show what the connection carries until it ends. What is raised before that begins is the caller's."""
        begun = time.monotonic()
        recorder, self._player, self._number = Recorder(begun), Player(), -1

        def take(kind: bytes, data: bytes) -> None:
            now = time.monotonic()
            if kind == COMMENT:
                whose = "" if terminals.role == "adopted" else f"instance {terminals.folders.instance}, "
                self.say(f"{whose}{decoded(data)}", "a tmux command, or :help; C-d ends")
                self._hears = True
                task_status.started()
            else:
                self._take(recorder.records(now, kind, data), now - begun)
            self._wake()

        try:
            await terminals.trace(take)
        except MuxwireError as error:
            if not self._hears:
                raise
            self.fail(str(error), "the next command goes over a new connection")
        finally:
            self._hears = False
            self._wake()

    def _wake(self) -> None:
        heard, self._heard = self._heard, anyio.Event()
        heard.set()

    def _take(self, records: Sequence[Record], seconds: float) -> None:
        if self.recording is not None:
            self.recording.write(written(records))
        for record, events in self._player.play(records):
            self.show(record, events, seconds)

    async def quiet(self) -> None:
        """Return when no answer is due, or the connection is over."""
        while self._hears and not self._player.quiet:
            await self._heard.wait()

    def end_recording(self) -> None:
        """Write what is left of the recording, if there is one."""
        file, self.recording = self.recording, None
        if file is not None:
            file.close()
            self.say("the recording ends")

    def show(self, record: Record, events: Sequence[Event], seconds: float) -> None:
        """Show a line of the wire, if that is wanted, or what the client has read by it.

        Answers to sentinels are not shown, and not twice what is shown as lines.
        """
        if self.shows_raw and record.kind != PASSED:
            self.printer.offer([((TARGET, shortened(decoded(b"%b %b" % record))),)])
        for event in events:
            lines = lines_of(event, seconds)
            if isinstance(event, CommandBlock):
                self._number = event.number
                if event.command is not None and event.command.sentinel:
                    self.printer.put(() if event.last else lines)
                    continue
            if not self.shows_raw and self.filter.shows(event, plain(lines[-1])):
                self.printer.offer(lines)

    def say(self, *texts: str) -> None:
        self.printer.put([((DIM, text),) for text in texts])

    def fail(self, message: str, remedy: str = "") -> None:
        self.printer.put([((BAD, f"! {message}"),), *([((DIM, f"  {remedy}"),)] if remedy else [])])

    # -- what is typed

    async def run(self, text: str) -> bool:
        """Run what was typed, line by line; False if one of them failed. Errors are shown, not raised."""
        well = True
        for line in filter(None, map(str.strip, text.splitlines())):
            try:
                name, _, rest = line.partition(" ")
                if not name.startswith(":"):
                    well = await self._send(line) and well
                elif name in WORDS:
                    await WORDS[name][2](self, rest.strip())
                else:
                    raise InvalidArgument(f"{name} is no word of the REPL", remedy=f"one of {', '.join(WORDS)}")
            except MuxwireError as error:
                self.fail(str(error), error.remedy)
                well = False
        return well

    async def _send(self, line: str) -> bool:
        """Send a line as it was typed and wait for its answer; False if there was an error in it."""
        terminals = await self.connect()
        ends = any(name.startswith(_ENDS_SERVER) for name, *_ in commands_in(line))
        if ends and not (terminals.role == "owner" and EPHEMERAL.match(terminals.folders.instance)):
            question = f"end the server at {terminals.folders.socket_path}, and every tab in it? [y/N] "
            if self.confirm is not None and not await self.confirm(question):
                self.say("nothing was sent")
                return False
        blocks = await terminals.type_line(line)
        while self._hears and self._number < blocks[-1].number:
            await self._heard.wait()
        return not any(block.error for block in blocks)


# -- the words of the prompt


async def _filter(session: Session, rest: str) -> None:
    session.filter = session.filter.changed(rest.split())
    session.say(str(session.filter))


async def _raw(session: Session, rest: str) -> None:
    session.shows_raw = rest == "on" or not (rest or session.shows_raw)
    session.say(f"lines are shown {'as they are sent and received' if session.shows_raw else 'decoded'}")


async def _record(session: Session, rest: str) -> None:
    session.end_recording()
    if rest in ("", "off"):
        return
    await session.connect()
    file = _open_private(rest)
    await session.quiet()
    session.recording = file
    session.say(f"recording to {rest}; all that is typed and shown is in it; `:record off` ends it")


def _open_private(path: str) -> BinaryIO:
    """A new file that only we can read: all that is typed is in it."""
    try:
        return os.fdopen(os.open(Path(path).expanduser(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
    except OSError as error:
        raise InvalidArgument(f"cannot write {path}: {error.strerror}", remedy="give another file") from error


async def play(session: Session, path: str) -> None:
    """Show a recording as its stream was shown. InvalidArgument if the file cannot be read or is none."""
    records = _load(path)
    player, now = Player(), 0.0
    for record, events in player.play(records):
        if record.kind == COMMENT:
            session.say(f"-- {decoded(record.line)}")
        else:
            session.show(record, events, now)
        if session.printer.half_full:  # nothing of a recording is left out: it can wait
            await session.printer.flushed()
        now += float(record.line) if record.kind == PASSED else 0.0
    session.say(f"{path}: {len(records)} records over {now:.3f} s")
    if player.failure:
        session.say(f"the stream cannot be read further: {player.failure}")


def _load(path: str) -> list[Record]:
    try:
        return read(Path(path).expanduser().read_bytes())
    except OSError as error:
        raise InvalidArgument(f"cannot read {path!r}: {error.strerror}", remedy=":replay FILE") from error
    except ValueError as error:
        raise InvalidArgument(f"{path} is not a recording: {error}", remedy=":record FILE writes one") from error


async def _help(session: Session, _: str) -> None:
    session.say(*(f"{f'{name} {follows}'.ljust(22)}  {does}" for name, (follows, does, _) in WORDS.items()))
    session.say(
        "Anything else is a tmux command, or several with `;` between.",
        "`list-commands COMMAND` shows how one is written.",
    )


# What follows each, what it does, and the function that does it.
WORDS: Mapping[str, tuple[str, str, Callable[[Session, str], Awaitable[None]]]] = {
    ":filter": ("[WORD...]", "show only %1, a kind or *TEXT*; -WORD hides it; `all`", _filter),
    ":raw": ("[on|off]", "show the lines as they are sent and received", _raw),
    ":record": ("[FILE|off]", "write the stream to a file", _record),
    ":replay": ("FILE", "show such a file as its stream was shown", play),
    ":help": ("", "this", _help),
}
