"""An instance that lives in its owner's process, for a program that has opened it by name.

A method's call travels as it was made, and its result comes back (`sent.py`). So what a program is given here are the
same classes with the same methods, but what they know without waiting is what the owner said last: of a tab by the
answer to any call of it, or by `Terminals.tab`. The objects behind a tab and an instance, and hooks with live objects,
are in the other process, and are not here.
"""

from __future__ import annotations

import functools
import itertools
import socket
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from inspect import iscoroutinefunction
from math import inf
from typing import TYPE_CHECKING, Any, final
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from anyio.abc import UNIXSocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from muxwire.errors import ConnectionClosed, InvalidArgument, NotPermitted
from muxwire.library.block import tasks_of_block
from muxwire.library.sent import HEAD, SEEN, packed, unpacked
from muxwire.library.terminals import INTERNAL, PUBLIC, Terminals
from muxwire.tabs.tab import PUBLIC as TAB_PUBLIC, Tab
from muxwire_reach import OwnerUnreachable

if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812 - it is a class
    from collections.abc import AsyncIterator

    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from muxwire.host.folders import Folders
    from muxwire.tabs.event_log import EventLog
    from muxwire.tmux.server import Role
    from muxwire.verbs.types import Way

_ENDED = "the process that owns the instance has ended"


@asynccontextmanager
async def at_owner(
    folders: Folders, connection: Socket, again: Callable[[], Socket], hosts: Mapping[str, Way]
) -> AsyncIterator[Terminals]:
    """The instance for a program that has connected to its owner; `again` connects once more, and blocks."""
    async with tasks_of_block() as tasks:
        link = Link(tasks, again)
        terminals = OwnersTerminals(folders, link)
        await link.begin(connection)
        try:
            if hosts:
                await terminals.give_hosts(dict(hosts))
            yield terminals
        finally:
            link.close()


@final
class Link:
    """The connection to the owner, and the calls that wait for it."""

    def __init__(self, tasks: TaskGroup, again: Callable[[], Socket]) -> None:
        self._tasks = tasks
        self._again = again
        self._outbox: MemoryObjectSendStream[bytes] | None = None  # None while there is no connection
        self._connecting = anyio.Lock()
        self._numbers = itertools.count()
        self._calls: dict[int, MemoryObjectSendStream[tuple[bytes, Any]]] = {}
        self.tabs: WeakValueDictionary[str, OwnersTab] = WeakValueDictionary()
        self._over = False

    async def begin(self, connection: Socket) -> None:
        stream = await UNIXSocketStream.from_socket(socket.socket(fileno=connection.detach()))
        self._outbox, messages = anyio.create_memory_object_stream[bytes](inf)
        self._tasks.start_soon(self._receive, stream, self._outbox)
        self._tasks.start_soon(self._write, stream, messages)

    def close(self) -> None:
        self._over = True
        if self._outbox is not None:
            self._outbox.close()

    async def _receive(self, connection: UNIXSocketStream, outbox: MemoryObjectSendStream[bytes]) -> None:
        stream = BufferedByteReceiveStream(connection)
        try:
            with suppress(anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
                while True:
                    kind, number, size = HEAD.unpack(await stream.receive_exactly(HEAD.size))
                    body = await stream.receive_exactly(size)
                    if number in self._calls:
                        call = self._calls[number] if kind == b"t" else self._calls.pop(number)
                        call.send_nowait((kind, body))
        finally:  # also where this task is cancelled: the calls that wait have ended with the connection
            self._outbox = None
            outbox.close()
            while self._calls:
                self._calls.popitem()[1].send_nowait((b"", None))
            await connection.aclose()

    async def _write(self, connection: UNIXSocketStream, messages: MemoryObjectReceiveStream[bytes]) -> None:
        """Write what calls send, each message whole: the task of a call may be cancelled in the middle of one.

        A shield keeps out what anyio cancels, but not asyncio's own `Task.cancel`.
        """
        with messages, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # `_receive` ends for it, too
            async for message in messages:
                await connection.send(message)
        await connection.aclose()

    def _send(self, kind: bytes, number: int, body: bytes = b"") -> None:
        if self._outbox is not None:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # as above
                self._outbox.send_nowait(HEAD.pack(kind, number, len(body)) + body)

    async def call(self, tab: str, method: str, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:  # noqa: ANN401 - what it returns
        """Have a method called in the owner, and return what it returned or raise what it raised.

        ConnectionClosed if the owner ends meanwhile; the next call reaches the next owner.
        """
        functions: list[Callable[..., object]] = []
        body = packed((tab, method, given, dict(named)), functools.partial(self._name_of, functions))
        async with self._connecting:
            if self._over:
                raise ConnectionClosed("the instance was closed", remedy="open terminals once more")
            if self._outbox is None:
                try:
                    await self.begin(await anyio.to_thread.run_sync(self._again))
                except OwnerUnreachable as error:
                    raise ConnectionClosed(f"{_ENDED}, and no other is reached: {error}") from None
        number = next(self._numbers)
        to_call, answers = anyio.create_memory_object_stream[tuple[bytes, Any]](inf)
        with to_call, answers:
            self._calls[number] = to_call
            self._send(b"c", number, body)  # nothing was awaited since there is a connection: the call ends with it
            try:
                return await self._answer(number, answers, functions)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True), suppress(Exception):
                    if number in self._calls:  # else it is answered, and that may be lost with what was cancelled
                        self._send(b"x", number)
                        await self._answer(number, answers, ())
                raise
            finally:
                self._calls.pop(number, None)

    async def _answer(
        self,
        number: int,
        answers: MemoryObjectReceiveStream[tuple[bytes, Any]],
        functions: Sequence[Callable[..., object]],
    ) -> Any:  # noqa: ANN401 - what the method returns
        """Wait for the end of a call, and call the functions that it was given in this task meanwhile."""
        failure: Exception | None = None
        while True:
            kind, body = await answers.receive()
            if kind == b"t":
                function, arguments = unpacked(body, self._named)
                try:
                    if functions and failure is None:
                        told = functions[function](*arguments)
                        if isinstance(told, Awaitable):
                            await told
                except Exception as error:  # noqa: BLE001 - raised when the command has been interrupted, as here
                    failure = error
                    self._send(b"x", number)
                self._send(b"t", number)
                continue
            if failure is not None:
                raise failure
            if not kind:
                raise ConnectionClosed(_ENDED, remedy="what runs in the tabs goes on: call again")
            answer = unpacked(body, self._named)
            if kind == b"f":
                raise answer
            return answer[0]

    def _name_of(self, functions: list[Callable[..., object]], value: object) -> tuple[Any, ...] | None:
        match value:
            case OwnersTab() if value.link is self:
                return "tab", value.address
            case Tab():
                raise InvalidArgument(f"{value!r} is of another instance", remedy="use a tab of this one, or a name")
            case _ if callable(value) and not isinstance(value, type):
                functions.append(value)
                return "function", len(functions) - 1
            case _:
                return None

    def _named(self, kind: str, seen: Mapping[str, Any]) -> OwnersTab:
        """A tab that the owner has named: one object for each, with what is known of it now."""
        assert kind == "tab"
        tab = self.tabs.get(seen["address"])
        if tab is None:
            tab = self.tabs[seen["address"]] = OwnersTab(self, seen)
        tab.seen = seen
        return tab


def _sent(method: Callable[..., object]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The same method, which runs in the owner."""

    @functools.wraps(method)
    async def call(self: OwnersTerminals | OwnersTab, /, *given: object, **named: object) -> Any:  # noqa: ANN401
        address = self.address if isinstance(self, OwnersTab) else ""
        return await self.link.call(address, method.__name__, given, named)

    return call


def _seen(name: str) -> Any:  # noqa: ANN401 - of the type of the attribute
    return property(lambda self: self.seen[name])


@final
class OwnersTab(Tab):
    """A tab of an instance that another process owns."""

    def __init__(self, link: Link, seen: Mapping[str, Any]) -> None:
        self.link, self.seen = link, seen


@final
class OwnersTerminals(Terminals):
    """An instance that another process owns."""

    def __init__(self, folders: Folders, link: Link) -> None:
        self.folders = folders
        self.link = link
        self.leave = None

    def __repr__(self) -> str:
        return f"<muxwire.Terminals {self.folders.instance!r}, {self.role}>"

    @property
    def role(self) -> Role:
        """The instance lives in another process."""
        return "client"

    @property
    def events(self) -> EventLog:
        """They are in the owner's process."""
        raise NotPermitted("the log of events is in the owner's process", remedy="`watch_events` reads it")

    async def end(self) -> None:
        """Leave it, as it is."""
        self.link.close()


for _name in (*PUBLIC, *INTERNAL):
    if iscoroutinefunction(_method := getattr(Terminals, _name)) and _name != "aclose":
        setattr(OwnersTerminals, _name, _sent(_method))
for _name in TAB_PUBLIC:
    setattr(OwnersTab, _name, _seen(_name) if _name in SEEN else _sent(getattr(Tab, _name)))
