"""What the prompt works on: a connection or a recording, what is shown of it, and the words that change that."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, final

import anyio

from muxwire.client.forbidden import commands_in
from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.protocol.events import CommandBlock
from muxwire.repl.completion import load_vocabulary
from muxwire.repl.recording import Player, RecordingTransport
from muxwire.repl.showing import BAD, DIM, TARGET, Filter, decoded, lines_of, plain, shortened
from muxwire.repl.transcript import Ended, Passed, Transcript, formatted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from muxwire.client.client import ControlClient
    from muxwire.client.transport import Transport
    from muxwire.library.terminals import Terminals
    from muxwire.protocol.events import Event
    from muxwire.repl.printer import Printer
    from muxwire.repl.transcript import Record
    from muxwire.tmux.server import TmuxServer

# tmux finds a command by the beginning of its name; with less it could be kill-session.
_ENDS_SERVER = b"kill-ser"


async def yes(_: str) -> bool:
    """Agree without asking: a script is not asked."""
    return True


@final
@dataclass(slots=True)
class Session:
    """`terminals` is None for a recording alone. `confirm` asks a person a question that is answered by yes or no."""

    printer: Printer
    terminals: Terminals | None = None
    confirm: Callable[[str], Awaitable[bool]] = yes
    filter: Filter = field(default_factory=Filter)
    over: bool = False
    shows_raw: bool = False
    recording: BinaryIO | None = None  # the file that the stream is written to
    replayed: str = ""  # the recording that is shown in place of a connection
    _server: TmuxServer | None = None
    _begin: float | None = None  # when the connection that is shown began

    # -- the stream

    def wrap(self, transport: Transport) -> Transport:
        """Have the stream of a new connection shown here, if no other is.

        A person's server has a connection for each session: only the first of them is shown.
        """
        if self._begin is not None:
            return transport
        return RecordingTransport(transport, self.take, lambda event: self.show(event, self._seconds))

    @property
    def _seconds(self) -> float:
        now = anyio.current_time()
        return now - (self._begin or now)

    def take(self, records: Sequence[Record]) -> None:
        """Take lines that were just sent or received. Called by the reader of the connection: this must not wait."""
        self._begin = self._begin or anyio.current_time()
        if isinstance(records[-1], Ended):
            self._begin = None  # the next connection may be over the same transport, or another one
        if self.recording is not None:
            self.recording.write(Transcript(tuple(records)).format())
        self.show_raw(records)

    def end_recording(self) -> None:
        """Write what is left of the recording, if there is one."""
        file, self.recording = self.recording, None
        if file is not None:
            file.close()
            self.say("the recording ends")

    def show_raw(self, records: Sequence[Record]) -> None:
        """Show lines of the wire, if that is wanted."""
        if self.shows_raw:
            lines = (shortened(decoded(formatted(one))) for one in records if not isinstance(one, Passed))
            self.printer.offer(((TARGET, line),) for line in lines)

    def show(self, event: Event, seconds: float) -> None:
        """Show what the client has read, but for answers to sentinels, and notifications that are shown raw."""
        command = event.command if isinstance(event, CommandBlock) else None
        lines = lines_of(event, seconds)
        if command is not None and command.sentinel:
            self.printer.put(() if event.last else lines)  # type: ignore[union-attr]
        elif not self.shows_raw and self.filter.shows(event, plain(lines[-1])):
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
            if self.over:
                break
        return well

    async def client(self) -> ControlClient:
        """The connection, made anew if it has ended. InvalidArgument for a recording, TmuxUnavailable, ..."""
        if self.terminals is None:
            raise InvalidArgument(
                "this is a recording, to which nothing can be sent", remedy="start `muxwire repl` without --replay"
            )
        server = await self.terminals.server()
        if server is not self._server:
            self._server = server
            folders, version = server.folders, ".".join(map(str, server.version))
            whose = f"instance {folders.instance}, " if server.access.role == "owner" else ""
            about = f"{whose}tmux {version}, socket {folders.socket_path}"
            self.say(about, "a tmux command, or :help; C-d ends")
        return server.client

    async def _send(self, line: str) -> bool:
        """Send a line as it was typed and wait for its answer; False if there was an error in it."""
        client = await self.client()
        ends = any(name.startswith(_ENDS_SERVER) for name, *_ in commands_in(line))
        if ends and self._server is not None and self._server.access.persistent:
            question = f"end the server at {self._server.folders.socket_path}, and every tab in it? [y/N] "
            if not await self.confirm(question):
                self.say("nothing was sent")
                return False
        answer = client.submit_line(line)
        await answer.wait()
        return not any(block.error for block in answer.blocks)


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
    client = await session.client()
    file = _open_private(rest)
    # It begins when no answer is due: else a replay could not tell which line an answer belongs to.
    await client.command("display-message", "-p", "")
    while not client.quiet:
        await client.command("display-message", "-p", "")
    session.recording = file
    session.say(f"recording to {rest}; all that is typed and shown is in it; `:record off` ends it")


def _open_private(path: str) -> BinaryIO:
    """A new file that only we can read: all that is typed is in it."""
    try:
        return os.fdopen(os.open(Path(path).expanduser(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
    except OSError as error:
        raise InvalidArgument(f"cannot write {path}: {error.strerror}", remedy="give another file") from error


async def _replay(session: Session, rest: str) -> None:
    await play(session, rest or session.replayed)


async def play(session: Session, path: str) -> None:
    """Show a recording as its stream was shown. InvalidArgument if the file cannot be read or is none."""
    transcript = _load(path)
    player, now = Player(transcript.records), 0.0
    session.say(*(f"-- {comment}" for comment in transcript.comments))
    for record in transcript.records:
        session.show_raw([record])
        for event in player.events(record):
            session.show(event, now)
        if session.printer.half_full:  # nothing of a recording is left out: it can wait
            await session.printer.flushed()
        now += record.seconds if isinstance(record, Passed) else 0.0
    session.say(f"{path}: {len(transcript.records)} records over {now:.3f} s")
    if player.failure:
        session.say(f"the stream cannot be read further: {player.failure}")


def _load(path: str) -> Transcript:
    try:
        return Transcript.load(Path(path).expanduser())
    except OSError as error:
        raise InvalidArgument(f"cannot read {path!r}: {error.strerror}", remedy=":replay FILE") from error
    except ValueError as error:
        raise InvalidArgument(f"{path} is not a recording: {error}", remedy=":record FILE writes one") from error


async def _help(session: Session, rest: str) -> None:
    if rest:
        usages = (await load_vocabulary(await session.client())).usages
        found = [line for line in usages if rest in (line.split(" ")[0], *re.findall(r"\((.*?)\)", line)[:1])]
        session.say(*(found or [f"tmux has no command {rest}; list-commands shows them all"]))
        return
    session.say(*(f"{f'{name} {follows}'.ljust(22)}  {does}" for name, (follows, does, _) in WORDS.items()))
    session.say(
        "Anything else is a tmux command, or several with `;` between; `:help COMMAND` shows how one is written."
    )


async def _quit(session: Session, _: str) -> None:
    session.over = True


# What follows each, what it does, and the function that does it.
WORDS: Mapping[str, tuple[str, str, Callable[[Session, str], Awaitable[None]]]] = {
    ":filter": ("[WORD...]", "show only %1, a kind or *TEXT*; -WORD hides it; `all`", _filter),
    ":raw": ("[on|off]", "show the lines as they are sent and received", _raw),
    ":record": ("[FILE|off]", "write the stream to a file", _record),
    ":replay": ("[FILE]", "show such a file as its stream was shown", _replay),
    ":help": ("[COMMAND]", "this, or how a tmux command is written", _help),
    ":quit": ("", "end, as C-d does", _quit),
}
