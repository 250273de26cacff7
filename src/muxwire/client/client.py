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

import secrets
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Self, final

import anyio
import anyio.lowlevel

from muxwire.client.forbidden import refuse_forbidden, refuse_line
from muxwire.client.patience import Patience
from muxwire.client.pending import Pending
from muxwire.client.transport import Observer
from muxwire.client.unknown import UnknownOutput
from muxwire.errors import ConnectionClosed, TmuxSilent
from muxwire.protocol.commands import Command, command, command_list, typed_line
from muxwire.protocol.control import ControlProtocol
from muxwire.protocol.escaping import undo_dollars
from muxwire.protocol.events import CommandBlock, Exit, ExtendedOutput, Output

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from anyio.abc import TaskGroup

    from muxwire.client.resending import Resending
    from muxwire.client.transport import Transport
    from muxwire.ids import PaneId
    from muxwire.protocol.events import Event

# An empty line makes tmux detach the client: it flushes what it has, says %exit and ends the stream.
_DETACH = b"\n"

# A server in good health needs a millisecond for that; one that hangs is left to the transport.
_DETACH_SECONDS = 1.0

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


@final
class ControlClient:
    """One control-mode connection. All methods belong to the event loop's thread."""

    def __init__(
        self,
        transport: Transport,
        *,
        on_notification: Callable[[Event], None] | None = None,
        on_chunk: Callable[[], None] | None = None,
        attaches: bool = False,
        reconnect: Callable[[str], Awaitable[str]] | None = None,
        on_reconnected: Callable[[], None] | None = None,
        away: Callable[..., Awaitable[tuple[bytes, ...]]] | None = None,
        resending: Resending | None = None,
    ) -> None:
        """Take a transport; the connection works inside `async with`.

        `on_notification` gets every event that is neither output of a pane nor the answer to a command;
        `on_chunk` is called once after all events of one read. `reconnect` is awaited when the transport has ended and
        nobody asked for that: it gets the reason and returns "" if the transport works again, else the reason to end
        with; then `on_reconnected` is called, before anything is read. Commands fail in the meantime. With `attaches`
        nothing is sent before tmux has answered the command of its own command line: a server that ran before reads
        the input of a control client before it has attached it to its session. `away` answers one command, in place
        of tmux, while the transport has ended and may work again. With `resending` commands wait then, and what tmux
        had not run goes again.
        """
        self.closed = False  # whether the connection has ended; `close_reason` says why
        self.close_reason = ""
        self.connections = 0  # how often it was regained: what tmux sent in between nobody has heard
        self.waiters = 0  # how many calls wait for the end of something in a pane; they count themselves
        self.undoes_dollars = False  # set once it is known that tmux is 3.4
        self.unknown = UnknownOutput()
        self._observer = transport if isinstance(transport, Observer) else None
        self._turned_at = 0.0  # when the event loop last had a turn, as far as we know
        self._transport = transport
        self._on_notification = on_notification
        self._on_chunk = on_chunk
        self._reconnect = reconnect
        self._on_reconnected = on_reconnected
        self._away = away
        self._resending = resending
        self._reconnecting = ""  # why the transport ended, until it works again
        self._reconnect_over = anyio.Event()
        self._protocol = ControlProtocol()
        self._pending: deque[Pending] = deque()
        self.patience = Patience(self._pending)
        self._feeds: dict[PaneId, Callable[[bytes], None]] = {}
        self._outbox = bytearray()
        self._outbox_filled = anyio.Event()
        self._writing = False  # whether a write of the outbox waits for room in the pipe
        self._ended = anyio.Event()
        self._closing = False
        self._attaches = self._attaching = attaches
        self._exit_reason = ""
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._read)
        self._tasks.start_soon(self._write)
        self._tasks.start_soon(self.patience.watch)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._tasks is not None
        with anyio.CancelScope(shield=True):
            await self.aclose()
        self._tasks.cancel_scope.cancel()
        # Not the caller's exception: our tasks have nothing to do with it.
        await self._tasks.__aexit__(None, None, None)

    async def wait_closed(self) -> None:
        await self._ended.wait()

    async def wait_reconnected(self) -> None:
        """Return at once, or when a connection that is between two transports works again or has ended for good."""
        if self._reconnecting:
            await self._reconnect_over.wait()

    async def aclose(self) -> None:
        """Detach, take what tmux still has to say, and end the transport."""
        self._closing = True
        if not self.closed:
            self._send(_DETACH)
            with anyio.move_on_after(_DETACH_SECONDS):
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
        """Discard all later output of a pane: it is gone, or nobody will ask."""
        self._feeds.pop(pane_id, None)
        self.unknown.discard(pane_id)

    async def command(self, *arguments: str | bytes) -> tuple[bytes, ...]:
        """Send one command and return the lines of its answer; CommandError if tmux says %error, TmuxSilent."""
        (pending,) = self.submit(arguments)
        return await pending.wait()

    async def ask(self, *commands: Sequence[str | bytes]) -> list[tuple[bytes, ...]]:
        """The answers to commands that only look, for which a connection that rests is not woken; as `command`."""
        try:
            return [await answer.wait() for answer in self.submit(*commands)]
        except ConnectionClosed as error:
            if self._away is None or self.closed or isinstance(error, TmuxSilent):
                raise
            return [await self._away(*one) for one in commands]

    def submit(self, *commands: Sequence[str | bytes]) -> list[Pending]:
        """Write several commands, each on a line of its own, in one write."""
        return self.submit_prepared(prepared(*commands))

    def submit_prepared(self, commands: Sequence[Command]) -> list[Pending]:
        """Write commands that `prepared` has made: to check and quote them takes as long as all the rest."""
        if self.closed or self._closing or (self._reconnecting and self._resending is None):
            raise self._closed_error()
        if self._resending is not None:
            commands = self._resending.numbered(commands)
        pending = [Pending(one, self.patience) for one in commands]
        self._pending.extend(pending)
        if not self._reconnecting:
            self._send_commands(commands)
        elif self._resending is not None:
            self._resending.unsent.update(pending)
        return pending

    def withdraw(self, lines: Sequence[Pending]) -> bool:
        """Never send these, which wait until the connection is back; False if some of them were sent."""
        return self._resending is not None and self._resending.withdraw(lines, self._pending)

    def submit_list(self, *commands: Sequence[str | bytes]) -> Pending:
        """Write several commands as one line: tmux runs them with nothing between, and stops at an error."""
        return self.submit_lists(commands)[0]

    def submit_lists(self, *lists: Sequence[Sequence[str | bytes]]) -> list[Pending]:
        return self.submit_prepared(prepared_lists(*lists))

    def submit_line(self, line: str) -> Pending:
        """Write a line in tmux's own language as it is, to be answered by any number of blocks.

        `blocks` of what is returned are the answers, and the sentinel's after them. Raises ForbiddenCommand,
        LocalProtocolError, ConnectionClosed.
        """
        refuse_line(line)
        sentinel = SENTINEL % secrets.token_hex(SENTINEL_BYTES).encode()
        return self.submit_prepared([typed_line(line.encode("utf-8", "surrogateescape"), sentinel)])[0]

    @property
    def quiet(self) -> bool:
        """Whether no answer is due and no block is open."""
        return self._protocol.quiet

    def _send_commands(self, commands: Sequence[Command]) -> None:
        self._send(b"".join(map(self._protocol.send_command, commands)))
        if self._observer is not None:
            for one in commands:
                self._observer.on_sent(one)

    def _send(self, data: bytes) -> None:
        self._outbox += data
        if self._attaching:
            return
        if not self._writing and (self.waiters <= 1 or len(self._outbox) >= _PIECE_BYTES):
            del self._outbox[: self._transport.send_nowait(bytes(self._outbox))]
        if self._outbox:
            self._outbox_filled.set()

    def poll_until(self, until: Callable[[], bool], seconds: float = POLL_SECONDS) -> None:
        """Read until `until` holds, for `seconds` at most, with the whole thread: nothing else runs meanwhile.

        For answers that take less time than to put a task to sleep and to wake it. Nothing if somebody else may be
        waiting for his turn (`waiters`), nor between two connections, nor once the last has ended.
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

    def take_received(self) -> None:
        """Deal with what is here already, without waiting: for who must not miss what tmux has said."""
        if self.closed or self._reconnecting or self._protocol.failure is not None:
            return
        if data := self._transport.receive_soon(0):
            self._take(data)

    async def _write(self) -> None:
        """Write what the pipe did not take at once. tmux reads commands also while nobody reads its answers."""
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
        while data := await self._transport.receive():
            self._turned_at = time.monotonic()
            self._transport.note_read(len(data), answers=bool(self._pending))
            if not self._take(data):
                break
        self._protocol.receive_eof()
        self._dispatch()

    async def _reconnected(self, reconnect: Callable[[str], Awaitable[str]], reason: str) -> str:
        """Have the transport connected again; return why not, if it is not."""
        self._reconnecting, self._reconnect_over = reason, anyio.Event()
        if self._resending is None:
            self._fail_pending()
        self._outbox = bytearray()
        try:
            reason = await reconnect(reason)
        finally:
            self._reconnect_over.set()
        if not reason and not self._closing:
            self._exit_reason = ""
            self.connections += 1
            self._protocol = ControlProtocol()
            self._attaching = self._attaches
            if self._resending is None:
                self._reconnecting = ""
            else:
                self._resend(self._resending)
            if self._on_reconnected is not None:
                self._on_reconnected()
        return _CLOSED_BY_US if self._closing else reason

    def _resend(self, resending: Resending) -> None:
        """Ask tmux what it had run; what it had not is written once it has said so, and what waited since."""

        def go_on(left: Sequence[Pending]) -> None:
            self._reconnecting = ""
            self._send_commands([one.command for one in left])

        asked = resending.ask(self._pending, self.patience, go_on)
        self._send_commands([asked.command])

    def _take(self, data: bytes) -> bool:
        self._protocol.receive_data(data)
        self._dispatch()
        return self._protocol.failure is None

    def _dispatch(self) -> None:
        events = self._protocol.events_received()
        if self._observer is not None:
            for event in (events := list(events)):
                self._observer.on_event(event)
        for event in events:
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
        if self._on_chunk is not None:
            self._on_chunk()

    def _answer(self, block: CommandBlock) -> None:
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
            held, self._outbox = bytes(self._outbox), bytearray()
            self._send(held)
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
