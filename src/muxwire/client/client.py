"""ControlClient: commands in, pane output and notifications out, over one transport.

    process = TmuxProcess(
        ["tmux", "-u", "-S", socket, "-f", conf, "-C", "new-session", "-A", "-s", "hub"],
        socket=socket, env=clean_environment(os.environ), ephemeral=True,
    )
    async with ControlClient(process, on_notification=print) as client:
        (row,) = await client.command("new-window", "-d", "-P", "-F", "#{pane_id}", "/bin/sh")
        client.attach_pane(pane_id(row.decode()), ring.append)
        first, second = client.submit(("set-buffer", "-b", "x", "--", text), ("paste-buffer", "-d", "-b", "x"))
        await second.wait()

The reader task drains the transport at all times; nothing that it calls may wait. A command is written before
`submit` returns, or with those of other calls by the end of that turn of the event loop. Leaving the block ends the
connection and the transport.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Self, final

import anyio
import anyio.lowlevel

from muxwire.client.forbidden import refuse_forbidden, refuse_line
from muxwire.errors import CommandError, ConnectionClosed, TmuxSilent
from muxwire.protocol.commands import Command, command, command_list, typed_line
from muxwire.protocol.control import ControlProtocol
from muxwire.protocol.escaping import undo_dollars
from muxwire.protocol.events import CommandBlock, Exit, ExtendedOutput, Output

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from anyio.abc import TaskGroup

    from muxwire.client.transport import Transport
    from muxwire.ids import PaneId
    from muxwire.protocol.events import Event


# How long a caller waits for tmux's answer: a tmux that is stopped, or hangs, says nothing and closes nothing.

# tmux answers in a millisecond, on a machine that swaps in seconds.
ANSWER_SECONDS = 10.0
# How long a caller waits for a tmux that is known to be silent: as long as a busy one takes after it was continued.
SILENT_SECONDS = 1.0


def unexplained() -> TmuxSilent:
    """The error where it is not known which process the tmux server is."""
    return TmuxSilent(
        "tmux does not answer",
        remedy="check whether it is stopped (`kill -CONT PID` continues it) or the machine is overloaded",
    )


@final
class Patience:
    """How long callers wait for answers of one tmux. A command keeps its place: its answer may still come."""

    def __init__(self) -> None:
        self.explain: Callable[[], TmuxSilent] = unexplained
        self.seconds = ANSWER_SECONDS
        self.answered_at = -math.inf  # when tmux answered last, on the monotonic clock
        self._given_up_at = -math.inf  # when a caller last gave up

    async def wait(self, answer: Pending) -> None:
        """Wait until the answer is here, or can no longer come; TmuxSilent if that takes too long."""
        while not answer.done:
            seconds = SILENT_SECONDS if self.answered_at < self._given_up_at else self.seconds
            due = time.monotonic() + seconds
            with anyio.move_on_after(seconds):
                await answer.settled()
            # If this is much later, this process stood still, and perhaps not tmux: what tmux has said is read first.
            if time.monotonic() - due < SILENT_SECONDS and not answer.done:
                self._given_up_at = due
                raise self.explain()


# What a connection carries, as the first bytes of a transcript's lines say it: a line that was sent, one that was
# received, and the end of the stream, with its reason.
SENT, RECEIVED, ENDED = b">", b"<", b"="

# One command line that waits for its blocks.


@final
class Pending:
    """A sent command. No caller has to wait for it: its answer keeps its place in the order all the same."""

    __slots__ = ("_event", "_failure", "_patience", "_then", "blocks", "command", "done")

    def __init__(self, command: Command, patience: Patience) -> None:
        self.command = command
        self._patience = patience
        self._then: Callable[[], None] | None = None
        self.blocks: list[CommandBlock] = []
        self.done = False
        self._event: anyio.Event | None = None
        self._failure: ConnectionClosed | None = None

    @property
    def failed(self) -> bool:
        return self._failure is not None

    async def wait(self) -> tuple[bytes, ...]:
        """Return the lines of all blocks; CommandError on %error, ConnectionClosed if no answer can come.

        TmuxSilent if none came in ten seconds: it may still come.
        """
        if not self.done:
            await self._patience.wait(self)
        return self.result()

    async def wait_within(self, seconds: float) -> tuple[bytes, ...]:
        """As `wait`, but TmuxSilent if there is no answer after so long."""
        with anyio.move_on_after(seconds):
            return await self.wait()
        await anyio.lowlevel.checkpoint()  # this process may have stood still: let the reader take what has come
        if not self.done:
            raise self._patience.explain()
        return self.result()

    async def settled(self) -> None:
        """Return when the answer is here, or can no longer come, however long that takes."""
        if not self.done:
            self._event = self._event or anyio.Event()
            await self._event.wait()

    def result(self) -> tuple[bytes, ...]:
        if self._failure is not None:
            raise self._failure
        last = self.blocks[-1]
        if last.error:
            raise CommandError(self.command.name, last.output)
        if len(self.blocks) == 1:
            return last.output
        return tuple(chain.from_iterable(block.output for block in self.blocks))

    def then(self, call: Callable[[], None]) -> None:
        """Have the reader call `call` when the answer is here or can no longer come: in the order of answers."""
        if self.done:
            call()
        else:
            self._then = call

    def answer(self, block: CommandBlock) -> None:
        """Take a block, if it is no fence, and wake the waiter after the last one."""
        if not self.command.fenced or block.index - 1 not in self.command.raw:
            self.blocks.append(block)
        if block.last:
            self._finish()

    def fail(self, failure: ConnectionClosed) -> None:
        self._failure = failure
        self._finish()

    def _finish(self) -> None:
        self.done = True
        if self._event is not None:
            self._event.set()
        if self._then is not None:
            self._then()


# Output of panes that no tab has claimed yet.
#
# Under load tmux sends the first bytes of a new pane before the reply with its id (15 of 40 trials with four
# flooding panes), so they are kept until the pane is attached or given up.

# A pane is claimed within milliseconds of its first byte, and tmux 3.7 emits 40 MB/s at most.
MAX_BYTES_PER_PANE = 4 * 1024 * 1024

# Panes of a person's windows on the same server are never claimed, and their output is kept if no caller discards it.
MAX_BYTES = 32 * 1024 * 1024

# Ids of panes that were given up. Ids are never used twice, so the oldest are of dead panes.
MAX_DISCARDED = 4096


@final
class UnknownOutput:
    """Keeps the first bytes of each unknown pane, in order and without a gap; what comes later is counted.

    If it is too much of all panes together, the one that has been unknown for longest is given up: no tab asks for it.
    """

    __slots__ = ("_discarded", "_dropped", "_kept", "kept_bytes")

    def __init__(self) -> None:
        self._kept: dict[PaneId, bytearray] = {}
        self._dropped: dict[PaneId, int] = {}
        self._discarded: dict[PaneId, None] = {}
        self.kept_bytes = 0

    def keep(self, pane: PaneId, data: bytes) -> None:
        """Keep output of a pane, unless it is known that no tab will ask."""
        if pane in self._discarded:
            return
        kept = self._kept.setdefault(pane, bytearray())
        if pane in self._dropped or len(kept) + len(data) > MAX_BYTES_PER_PANE:
            self._dropped[pane] = self._dropped.get(pane, 0) + len(data)
            return
        kept += data
        self.kept_bytes += len(data)
        while self.kept_bytes > MAX_BYTES:
            oldest = next(pane for pane, kept in self._kept.items() if kept)
            data, dropped = self.take(oldest)
            self._dropped[oldest] = len(data) + dropped

    def take(self, pane: PaneId) -> tuple[bytes, int]:
        """Return what was kept of a pane and how many bytes after that were dropped, and forget both."""
        self._discarded.pop(pane, None)
        data = bytes(self._kept.pop(pane, b""))
        self.kept_bytes -= len(data)
        return data, self._dropped.pop(pane, 0)

    def discard(self, pane: PaneId) -> None:
        """Forget a pane, and what it will still write."""
        self.take(pane)
        self._discarded[pane] = None
        if len(self._discarded) > MAX_DISCARDED:
            del self._discarded[next(iter(self._discarded))]


# An empty line makes tmux detach the client: it flushes what it has, says %exit and ends the stream.
_DETACH = b"\n"

# A server in good health needs a millisecond for that; one that hangs is left to the transport.
_DETACH_SECONDS = 1.0
# The same where this process ends and must not be late.
_HURRIED_DETACH_SECONDS = 0.3

# Most commands end, and most prompts come, before a task could be put to sleep and woken: so long a caller may read the
# connection itself.
POLL_SECONDS = 0.001
# Short commands that follow one another are answered without the event loop. At least this often it runs once between
# them, so that no other task waits longer; the answer is on its way meanwhile.
_TURN_EVERY_SECONDS = 0.005
# What several calls send in one turn of the event loop is written whenever it has grown to so many bytes, about ten
# commands. One write each would wake tmux each time; a single one at the end would leave the shells idle till then.
_PIECE_BYTES = 1000

# What a typed line's sentinel prints: random, so that no answer holds it by chance.
SENTINEL, SENTINEL_BYTES = b"muxwire-%s", 8

_CLOSED_BY_US = "it was closed"


class ControlClient:
    """One control-mode connection. All methods belong to the event loop's thread."""

    def __init__(
        self,
        transport: Transport,
        *,
        on_notification: Callable[[Event], None] | None = None,
        attaches: bool = False,
        reconnect: Callable[[str], Awaitable[str]] | None = None,
        on_reconnected: Callable[[], None] | None = None,
    ) -> None:
        """Take a transport; the connection works inside `async with`.

        `on_notification` gets every event that is neither output of a pane nor the answer to a command. `reconnect` is
        awaited when the transport has ended and no call asked for that: it gets the reason and returns "" if the
        transport works again, else the reason to end with; then `on_reconnected` is called, before anything is read.
        Commands fail in the meantime. With `attaches` nothing is sent before tmux has answered the command of its own
        command line: a server that ran before reads the input of a control client before it has attached it to its
        session.
        """
        self.closed = False  # whether the connection has ended; `close_reason` says why
        self.close_reason = ""
        self.connections = 0  # how often it was regained: what tmux sent in between was not read
        self.waiters = 0  # how many calls wait for the end of something in a pane; they count themselves
        self.undoes_dollars = False  # set once it is known that tmux is 3.4
        self.unknown = UnknownOutput()
        self.taps: list[Callable[[bytes, bytes], object]] = []  # are told what the connection carries
        self._turned_at = 0.0  # when the event loop last had a turn, as far as we know
        self._transport = transport
        self._on_notification = on_notification
        self._reconnect = reconnect
        self._on_reconnected = on_reconnected
        self._reconnecting = ""  # why the transport ended, until it works again
        self._reconnect_over = anyio.Event()
        self._protocol = ControlProtocol(fence=os.urandom(SENTINEL_BYTES).hex().encode())
        self._pending: deque[Pending] = deque()
        self.patience = Patience()
        self._feeds: dict[PaneId, Callable[[bytes], None]] = {}
        self._outbox = bytearray()
        self._outbox_filled = anyio.Event()
        self._writing = False  # whether a write of the outbox waits for room in the pipe
        self._ended = anyio.Event()
        self._closing = False
        self._hurries = False
        self._attaches = self._attaching = attaches
        self._exit_reason = ""
        self._tasks: TaskGroup | None = None
        self._due: list[Callable[[], None]] = []  # what the event loop's next turn is to call
        self._due_filled = anyio.Event()

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._read)
        self._tasks.start_soon(self._write)
        self._tasks.start_soon(self._call_later)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._tasks is not None
        with anyio.CancelScope(shield=True):
            await self.aclose()
        self._tasks.cancel_scope.cancel()
        # The exception of the `async with` block is not passed on: these tasks have nothing to do with it.
        await self._tasks.__aexit__(None, None, None)

    async def wait_closed(self) -> None:
        await self._ended.wait()

    async def wait_reconnected(self) -> None:
        """Return at once, or when a connection that is between two transports works again or has ended for good."""
        if self._reconnecting:
            await self._reconnect_over.wait()

    def hurry(self) -> None:
        """Have `aclose` not wait for long for a tmux that is silent, because this process ends."""
        self._hurries = True

    async def aclose(self) -> None:
        """Detach, take what tmux still has to say, and end the transport."""
        self._closing = True
        if not self.closed:
            self._send(_DETACH)
            with anyio.move_on_after(_HURRIED_DETACH_SECONDS if self._hurries else _DETACH_SECONDS):
                await self._ended.wait()
        await self._transport.aclose()
        self._end(_CLOSED_BY_US)

    def attach_pane(self, pane_id: PaneId, feed: Callable[[bytes], None]) -> int:
        """Deliver a pane's output to `feed`: what was kept of it at once, then all that comes.

        Return how many bytes between the two were dropped, which is 0 unless the pane stayed unknown for long.
        """
        kept, dropped = self.unknown.take(pane_id)
        self._feeds[pane_id] = feed
        if kept:
            feed(kept)
        return dropped

    def detach_pane(self, pane_id: PaneId) -> None:
        """Discard all later output of a pane: it is gone, or no tab will ask."""
        self._feeds.pop(pane_id, None)
        self.unknown.discard(pane_id)

    async def command(self, *arguments: str | bytes) -> tuple[bytes, ...]:
        """Send one command and return the lines of its answer; CommandError if tmux says %error, TmuxSilent."""
        (pending,) = self.submit(arguments)
        return await pending.wait()

    async def ask(self, *commands: Sequence[str | bytes]) -> list[tuple[bytes, ...]]:
        """The answers to several commands, in one round trip. As `command`."""
        return [await answer.wait() for answer in self.submit(*commands)]

    def submit(self, *commands: Sequence[str | bytes]) -> list[Pending]:
        """Write several commands, each on a line of its own, in one write."""
        return self.submit_prepared(prepared(*commands))

    def submit_prepared(self, commands: Sequence[Command]) -> list[Pending]:
        """Write commands that `prepared` has made: to check and quote them takes as long as all the rest."""
        if self.closed or self._closing or self._reconnecting:
            raise self._closed_error()
        pending = [Pending(one, self.patience) for one in commands]
        self._pending.extend(pending)
        self._send_commands(commands)
        return pending

    def never_sent(self, lines: Sequence[Pending]) -> bool:
        """Whether these still wait for a connection that is lost, or waited until it ended for good."""
        del lines
        return False

    def withdraw(self, lines: Sequence[Pending]) -> bool:
        """Never send these, which wait until the connection is back; False if some of them were sent."""
        del lines
        return False

    def submit_list(self, *commands: Sequence[str | bytes]) -> Pending:
        """Write several commands as one line: tmux runs them with nothing between, and stops at an error."""
        return self.submit_prepared(prepared_lists(commands))[0]

    def submit_line(self, line: str) -> Pending:
        """Write a line in tmux's own language as it is, to be answered by any number of blocks.

        `blocks` of what is returned are the answers, and the sentinel's after them. Raises ForbiddenCommand,
        LocalProtocolError, ConnectionClosed.
        """
        refuse_line(line)
        sentinel = SENTINEL % os.urandom(SENTINEL_BYTES).hex().encode()
        return self.submit_prepared([typed_line(line.encode("utf-8", "surrogateescape"), sentinel)])[0]

    @property
    def quiet(self) -> bool:
        """Whether no answer is due and no block is open."""
        return self._protocol.quiet

    def _send_commands(self, commands: Sequence[Command]) -> None:
        self._send(b"".join(map(self._protocol.send_command, commands)))

    def _send(self, data: bytes) -> None:
        for tap in self.taps:
            tap(SENT, data)
        self._outbox += data
        if self._attaching:
            return
        if not self._writing and (self.waiters <= 1 or len(self._outbox) >= _PIECE_BYTES):
            del self._outbox[: self._transport.send_nowait(bytes(self._outbox))]
        if self._outbox:
            self._outbox_filled.set()

    def poll_until(self, until: Callable[[], bool], seconds: float = POLL_SECONDS) -> None:
        """Read until `until` holds, for `seconds` at most, with the whole thread: nothing else runs meanwhile.

        For answers that take less time than to put a task to sleep and to wake it. Nothing is read if another task may
        be waiting for its turn (`waiters`), between two connections, or once the last has ended.
        """
        left, end = 0.0 if self._reconnecting else seconds, time.monotonic() + seconds
        while left > 0 and self.waiters <= 1 and not self.closed and self._protocol.failure is None and not until():
            data = self._transport.receive_soon(left)
            left = end - time.monotonic()  # in a flood there is always something to read
            if not data:
                return
            self._take(data)

    async def poll(self, until: Callable[[], bool]) -> None:
        """As `poll_until`, but first let other tasks run if they have not for a while."""
        if self.waiters <= 1 and time.monotonic() - self._turned_at > _TURN_EVERY_SECONDS:
            await anyio.lowlevel.checkpoint()
            self._turned_at = time.monotonic()
        self.poll_until(until)

    def later(self, call: Callable[[], None]) -> None:
        """Have `call` called in the next turn of the event loop, by a task: it may start others, and may not wait.

        A caller who waits for what was just read is answered first.
        """
        self._due.append(call)
        self._due_filled.set()

    async def _call_later(self) -> None:
        while True:
            await self._due_filled.wait()
            self._due_filled = anyio.Event()
            due, self._due = self._due, []
            for call in due:
                call()

    def take_received(self) -> None:
        """Take what is here already, without waiting: for a caller that must not miss what tmux has said."""
        if self.closed or self._reconnecting or self._protocol.failure is not None:
            return
        if data := self._transport.receive_soon(0):
            self._take(data)

    async def _write(self) -> None:
        """Write what the pipe did not take at once. tmux reads commands also while its answers are not read."""
        while True:
            await self._outbox_filled.wait()
            while outbox := self._outbox:
                # Stays in the outbox until it is written, so that no later command overtakes it.
                data, self._writing = bytes(outbox), True
                await self._transport.send(data)
                del outbox[: len(data)]
                self._writing = False
            self._outbox_filled = anyio.Event()

    async def _read(self) -> None:
        reason = ""
        try:
            while True:
                await self._read_all()
                reason = self._why_ended()
                if self._reconnect is None or self._closing or self._protocol.failure is not None:
                    break
                reason = await self._reconnected(self._reconnect, reason)
                if reason:
                    break
        finally:
            self._end(reason or self._why_ended())

    async def _read_all(self) -> None:
        try:
            while data := await self._transport.receive():
                self._turned_at = time.monotonic()
                self._transport.note_read(len(data), answers=bool(self._pending))
                if not self._take(data):
                    break
        finally:
            for tap in self.taps:
                tap(ENDED, self._transport.ending().encode())
        self._protocol.receive_eof()
        self._dispatch()

    async def _reconnected(self, reconnect: Callable[[str], Awaitable[str]], reason: str) -> str:
        """Have the transport connected again; return why not, if it is not."""
        self._reconnecting, self._reconnect_over = reason, anyio.Event()
        self._lost()
        self._outbox = bytearray()
        try:
            reason = await reconnect(reason)
        finally:
            self._reconnect_over.set()
        if not reason and not self._closing:
            self._exit_reason = ""
            self.connections += 1
            self._protocol = ControlProtocol(fence=os.urandom(SENTINEL_BYTES).hex().encode())
            self._attaching = self._attaches
            self._regained()
            if self._on_reconnected is not None:
                self._on_reconnected()
        return _CLOSED_BY_US if self._closing else reason

    def _lost(self) -> None:
        """The transport has ended, and may work again."""
        self._fail_pending()

    def _regained(self) -> None:
        """The transport works again."""
        self._reconnecting = ""

    def _take(self, data: bytes) -> bool:
        for tap in self.taps:
            tap(RECEIVED, data)
        self._protocol.receive_data(data)
        self._dispatch()
        return self._protocol.failure is None

    def _dispatch(self) -> None:
        for event in self._protocol.events_received():
            if isinstance(event, (Output, ExtendedOutput)):
                feed = self._feeds.get(event.pane)
                if feed is not None:
                    feed(event.data)
                else:
                    self.unknown.keep(event.pane, event.data)
            elif isinstance(event, CommandBlock) and event.command is not None:
                self._answer(event)
            else:
                self._notify(event)

    def _answer(self, block: CommandBlock) -> None:
        self.patience.answered_at = time.monotonic()
        if self.undoes_dollars and block.command is not None and block.index not in block.command.raw:
            block = replace(block, output=undo_dollars(block.output))
        self._pending[0].answer(block)
        if block.last:
            self._pending.popleft()

    def _notify(self, event: Event) -> None:
        if isinstance(event, Exit):
            self._exit_reason = event.reason.decode("utf-8", "replace")
        if self._attaching and isinstance(event, CommandBlock):
            self._attaching = False
            self._send(b"")  # what has waited
        if self._on_notification is not None:
            self._on_notification(event)

    def _why_ended(self) -> str:
        if self._protocol.failure is not None:
            return str(self._protocol.failure)
        if self._closing:
            return _CLOSED_BY_US
        known = (self._exit_reason, self._transport.ending())
        return "; ".join(filter(None, known)) or "tmux ended it"

    def _end(self, reason: str) -> None:
        """Fail every waiter at once."""
        if self.closed:
            return
        self.close_reason = reason
        self.closed = True
        self._ended.set()
        self._outbox.clear()
        self._fail_pending()

    def _fail_pending(self) -> None:
        while self._pending:
            self._pending.popleft().fail(self._closed_error())

    def _closed_error(self) -> ConnectionClosed:
        return ConnectionClosed(self.close_reason or self._reconnecting or _CLOSED_BY_US)


def prepared(*commands: Sequence[str | bytes]) -> tuple[Command, ...]:
    """Check and quote commands that one `submit_prepared` will send together; ForbiddenCommand, LocalProtocolError."""
    refuse_forbidden(commands)
    return tuple(command(*arguments) for arguments in commands)


def prepared_lists(*lists: Sequence[Sequence[str | bytes]]) -> tuple[Command, ...]:
    refuse_forbidden([one for commands in lists for one in commands])
    return tuple(command_list(*commands) for commands in lists)
