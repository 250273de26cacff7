"""The words about the stream itself: which of it is shown, how it flows, what it meant, recordings of it."""

from __future__ import annotations

import re
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import InvalidArgument
from muxwire.protocol.commands import Command
from muxwire.protocol.events import CommandBlock
from muxwire.repl.showing import DIM, GOOD, Shower, decoded, shortened
from muxwire.repl.view import Player, StreamView
from muxwire.repl.writers import BATCH, Recorder
from muxwire.testing.transcript import Passed, Transcript

if TYPE_CHECKING:
    from muxwire.repl.state import Session
    from muxwire.repl.view import Question, Seen

# How many lines `:raw` shows: about a screen.
RAW_SHOWN = 20
_MS = 1000
# A recording may hold a night's silence; no replay waits for longer than this between two records of it.
LONGEST_PAUSE_S = 5.0

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_GUARD = re.compile(rb"%(?:begin|end|error) [0-9]+ [0-9]+ [0-9]+\Z")


async def filter_(session: Session, rest: str) -> None:
    session.filter = session.filter.changed(rest.split())
    session.say(session.filter.describe())


async def raw(session: Session, rest: str) -> None:
    if rest in ("on", "off"):
        session.shows_raw = rest == "on"
        session.say(f"the connection's lines are {'shown as they come' if session.shows_raw else 'not shown'}")
        return
    if rest and not rest.isdecimal():
        raise InvalidArgument(f"{rest!r} is not a count", remedy=":raw on, :raw off or :raw LINES")
    records = [record for _, record in session.view.wire][-int(rest or RAW_SHOWN) :]
    session.printer.put(line for line in map(session.shower.raw, records) if line is not None)


# -- statistics


async def stats(session: Session, rest: str) -> None:
    del rest
    lag = await _lag(session)
    view, now = session.view, anyio.current_time()
    if session.live is None and view.wire:
        now = view.wire[-1][0]
    trips = sorted(view.round_trips)
    middle = (
        f"{statistics.median(trips) * _MS:.2f} ms in the middle, {trips[-1] * _MS:.2f} at most" if trips else "none"
    )
    rows = [
        ("open for", f"{now - view.begin:.1f} s"),
        ("received", f"{_bytes(view.bytes_received.total)} in {view.lines} lines; {_rates(view, now)}"),
        ("sent", _bytes(view.sent_bytes)),
        ("output", f"{_bytes(view.output.total)} of {len(view.rings)} panes"),
        ("blocks", f"{view.answered} answered, {view.unanswered} in flight, {view.hook_blocks} of hooks"),
        ("round trips", middle),
        ("lag", lag),
        ("dropped", f"{_dropped(session)}, {session.printer.left_out} notifications not shown"),
        ("unclaimed", f"{_bytes(await _unclaimed(session))} kept of panes that are not tabs"),
    ]
    if session.failure:
        rows.append(("broken", session.failure))
    width = max(len(name) for name, _ in rows)
    session.printer.put([((GOOD, name.ljust(width)), ("", f"  {text}")) for name, text in rows])


async def _lag(session: Session) -> str:
    """How late this reader is: tmux answers a question after all output that it had read before."""
    if session.live is None:
        return "none, it is a recording"
    client = (await session.live.server()).client
    before = anyio.current_time()
    await client.command("display-message", "-p", "")
    return f"{(anyio.current_time() - before) * _MS:.2f} ms"


def _dropped(session: Session) -> str:
    """What bounded memories gave up: the rings of the tabs, whose logs still have it, and the small ones here."""
    here = f"{_bytes(sum(ring.dropped for ring in session.view.rings.values()))} of the rings here"
    if session.live is None:
        return here
    return f"{_bytes(session.live.terminals.dropped_bytes())} of the tabs' rings, {here}"


async def _unclaimed(session: Session) -> int:
    return 0 if session.live is None else (await session.live.server()).client.unknown.kept_bytes


def _rates(view: StreamView, now: float) -> str:
    last, mean = view.bytes_received.per_second(now, 1), view.bytes_received.per_second(now)
    return f"{_bytes(last)}/s in the last second, {_bytes(mean)}/s over ten"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < _MS:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= _MS
    return f"{count:.1f} GB"


# -- correlation


async def explain(session: Session, rest: str) -> None:
    del rest
    seen = session.view.last_own or session.view.last_block
    if seen is None or seen.question is None or not isinstance(seen.event, CommandBlock):
        session.say("no command was answered yet")
        return
    session.say(*_decisions(seen.event, seen, seen.question, session.shower))


def _decisions(block: CommandBlock, seen: Seen, question: Question, shower: Shower) -> list[str]:
    whole = 0 if question.own else question.command.blocks
    count = f"the {whole}" if whole else "those"
    word = "error" if block.error else "end"
    after = shower.round_trip(seen.time - question.time)
    lookalikes = sum(1 for line in block.output if _GUARD.match(line))
    said = [
        f"%begin {block.time} {block.number} {block.flags}: time, number and flags of the block",
        "flags & 1: it answers a line that this connection sent; only such blocks take a line off the queue",
        f"the oldest line without its answer was: {shortened(decoded(question.line))}",
        f"so this is block {block.index + 1} of {count} that answer it, {after} after it was sent",
        f"closed by %{word} with the same time, number and flags; {_counted(len(block.output), 'line')} between"
        + (
            f", {lookalikes} of them with the form of a %begin, %end or %error line, which is output, too"
            if lookalikes
            else ""
        ),
    ]
    if seen.skipped:
        hooks = _counted(seen.skipped, "block")
        said.append(
            f"since the previous block, {hooks} with flags 0 (start-up, hooks) came that answer no line sent here"
        )
    if block.error and block.index + 1 < whole:
        said.append(
            f"%error: tmux drops the rest of the line, so {_counted(whole - block.index - 1, 'block')} fewer will come"
        )
    if question.own:
        said.append(
            "only tmux knows how many blocks answer it: muxwire sends one more line, not shown here, whose answer is"
            " the end"
        )
    said.append(f"lines that wait for their answer: {seen.unanswered}")
    return said


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# -- recordings


async def record(session: Session, rest: str) -> None:
    running = session.recorder
    if rest in ("", "off"):
        if running is None:
            session.say("nothing is recorded; `:record FILE` begins")
            return
        if rest:
            running.stop()
            session.recorder = None
        trouble = f"; {running.failure}: the recording ends there" if running.failure else ""
        session.say(f"{running.lines} lines in {running.path}{trouble}")
        return
    if running is not None:
        raise InvalidArgument(f"already recording to {running.path}", remedy="`:record off` first")
    server = await session.connection().server()
    version = ".".join(map(str, server.version))
    recorder = Recorder(rest, f"a part of a live stream, tmux {version}")
    # After this answer no other may be due: then the recording begins now, else when the others have come.
    await server.client.command("display-message", "-p", "")
    recorder.begun = server.client.quiet
    session.recorder = recorder
    session.tasks.start_soon(session.recorder.run)
    session.say(f"recording to {session.recorder.path}; all that is typed and shown is in it; `:record off` ends it")


async def replay(session: Session, rest: str) -> None:
    words = rest.split()
    speed = float(words.pop()) if words and _NUMBER.fullmatch(words[-1]) else 0.0
    if words:
        path = " ".join(words)
        transcript = load_transcript(path)
    elif session.recording is not None:
        path, transcript = session.recording.path, session.recording.transcript
    else:
        raise InvalidArgument("no transcript is named", remedy=":replay FILE [SPEED]")
    await play(session, path, transcript, speed)


def load_transcript(path: str) -> Transcript:
    """Read a transcript; InvalidArgument if the file cannot be read or is none."""
    try:
        return Transcript.load(Path(path).expanduser())
    except OSError as error:
        raise InvalidArgument(f"cannot read {path}: {error.strerror}", remedy="give a transcript's file") from error
    except ValueError as error:
        raise InvalidArgument(f"{path} is not a transcript: {error}", remedy=":record FILE writes one") from error


async def play(session: Session, path: str, transcript: Transcript, speed: float) -> None:
    """Show a transcript as if it came now; without a connection the other words are then about it."""
    view, shower, player = StreamView(), Shower(recorded=True), Player(transcript.records)
    if session.live is None:
        session.view, session.shower = view, shower
    session.printer.put([((DIM, f"-- {comment}"),) for comment in transcript.comments])
    now = 0.0
    for number, item in enumerate(transcript.records):
        session.show_wire([item], now, view, shower)
        for meant in player.take(item):
            if isinstance(meant, Command):
                view.sent(meant, now)
            else:
                session.show(meant, now, view, shower)
        if isinstance(item, Passed) or not number % BATCH:
            await session.printer.flushed()  # nothing of a recording is left out: it can wait
        if isinstance(item, Passed):
            now += item.seconds
            if speed:
                await anyio.sleep(min(item.seconds / speed, LONGEST_PAUSE_S))
    panes, said = len(view.rings), f"{len(transcript.records)} records over {now:.3f} s"
    session.say(f"{path}: {said}, {view.answered} blocks answered, {view.unanswered} not, output of {panes} panes")
    await session.printer.flushed()
    session.failure = player.failure
    if player.failure:
        session.say(f"the stream cannot be read further: {player.failure}")
