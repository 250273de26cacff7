"""Programs that have opened the instance by its name: each of their calls runs here (`muxwire.library.sent`)."""

from __future__ import annotations

import asyncio  # a connection that another task reads while this one writes
import logging
from collections import deque
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, final
from weakref import WeakValueDictionary

import anyio

from muxwire.errors import InvalidArgument, MuxwireError, unwrapped
from muxwire.library import terminals as instance
from muxwire.library.sent import HEAD, SEEN, packed, unpacked
from muxwire.tabs import tab as tabs
from muxwire.tabs.tab import Tab

if TYPE_CHECKING:
    import socket

    from anyio.abc import TaskGroup

    from muxwire.library.terminals import Terminals

_LOG = logging.getLogger("muxwire")
# What a program is told waits here until it reads; if it does not, no more than this.
UNREAD_MAX = 64 << 20


async def serve_program(terminals: Terminals, connection: socket.socket) -> None:
    """Serve the calls of a program until it hangs up; what it has left running goes on, as it does for an agent."""
    reader, writer = await asyncio.open_connection(sock=connection)
    with ExitStack() as left:
        # Else asyncio would take the next descriptor with this number for this one.
        left.callback(writer.transport.abort)
        async with anyio.create_task_group() as tasks:
            program = _Program(terminals, writer, tasks)
            with suppress(asyncio.IncompleteReadError, OSError):
                while True:
                    kind, number, size = HEAD.unpack(await reader.readexactly(HEAD.size))
                    program.hear(kind, number, await reader.readexactly(size))
            terminals.leave_running(left)
            tasks.cancel_scope.cancel()


@final
class _Call:
    """A call that runs: what cancels it, and the functions of the program that were told something and run now."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.told = deque[asyncio.Future[None]]()


@final
class _Program:
    def __init__(self, terminals: Terminals, writer: asyncio.StreamWriter, tasks: TaskGroup) -> None:
        self._terminals = terminals
        self._writer = writer
        self._tasks = tasks
        self._calls: dict[int, _Call] = {}
        # Those that the program has been given, by their addresses: the instance knows when they are forgotten.
        self._tabs = WeakValueDictionary[str, Tab]()

    def hear(self, kind: bytes, number: int, body: bytes) -> None:
        if kind == b"c":
            self._calls[number] = call = _Call()
            self._tasks.start_soon(self._run, number, call, body)
        elif number in self._calls and kind == b"x":
            self._calls[number].scope.cancel()
        elif number in self._calls and self._calls[number].told:
            returned = self._calls[number].told.popleft()
            if not returned.done():  # who awaited it has been cancelled
                returned.set_result(None)

    async def _run(self, number: int, call: _Call, body: bytes) -> None:
        kind, answer = b"d", packed((None, None), self._name_of)  # of a call that is cancelled
        with call.scope:
            try:
                address, method, given, named = unpacked(body, partial(self._named, number, call))
                if method not in (tabs.PUBLIC if address else (*instance.PUBLIC, *instance.INTERNAL)):
                    raise InvalidArgument(f"there is no method {method}")  # noqa: TRY301 - said as what it raises
                tab = (self._tabs.get(address) or await self._terminals.known_tab(address)) if address else None
                result = await getattr(tab or self._terminals, method)(*given, **named)
                answer = packed((result, tab), self._name_of)
            except Exception as error:  # noqa: BLE001 - the program raises it
                kind, answer = b"f", packed(_said(unwrapped(error)), self._name_of)
        del self._calls[number]
        self._send(kind, number, answer)
        with suppress(OSError):
            await self._writer.drain()

    def _send(self, kind: bytes, number: int, body: bytes) -> None:
        if self._writer.transport.get_write_buffer_size() > UNREAD_MAX:
            self._writer.transport.abort()  # it was stopped, or hangs: its next call connects once more
        self._writer.write(HEAD.pack(kind, number, len(body)) + body)

    def _name_of(self, value: object) -> tuple[Any, ...] | None:
        if not isinstance(value, Tab):
            return None
        self._tabs[value.address] = value
        return "tab", {name: getattr(value, name) for name in SEEN}

    def _named(self, number: int, call: _Call, kind: str, which: Any) -> object:  # noqa: ANN401 - an address, or a number
        """A tab or, if its owner was another process, what names it; or what calls a function of the program.

        To await what that gives is to wait for the function's end.
        """
        if kind == "tab":
            return self._tabs.get(which, which)

        def tell(*arguments: object) -> asyncio.Future[None]:
            returned = asyncio.get_running_loop().create_future()
            call.told.append(returned)
            self._send(b"t", number, packed((which, arguments), self._name_of))
            return returned

        return tell


def _said(error: BaseException) -> BaseException:
    """The error as the program can raise it."""
    if isinstance(error, MuxwireError) or type(error).__module__ == "builtins":
        return error
    _LOG.error("a program's call has failed", exc_info=error)
    return MuxwireError(f"{type(error).__name__}: {error}", remedy="this is a defect in muxwire")
