"""The one Terminals of a server: opened by the first call that needs it, closed with the server.

Some clients start a server twice only to ask what it can do, so nothing starts before a tool is called.
The Terminals lives in a task of its own, because it must be closed by the task that opened it, and calls
come and go (and are cancelled) in theirs.
"""

from __future__ import annotations

import logging
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import ConnectionClosed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from muxwire.library.terminals import Terminals

log = logging.getLogger(__name__)

# A client kills a server that has not ended about 2 s after its stdin was closed.
CLOSE_SECONDS = 1.3


@final
class _Opening:
    """One attempt to open: every call that comes meanwhile shares its outcome."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.terminals: Terminals | None = None
        self.error: Exception | None = None


@final
class LazyTerminals:
    """Give calls the Terminals, opening it when first asked; a failed opening is tried again by the next call."""

    def __init__(self, open_terminals: Callable[[], AbstractAsyncContextManager[Terminals]]) -> None:
        self._open_terminals = open_terminals
        self._opening: _Opening | None = None
        self._asked = anyio.Event()
        self._ever_opened = anyio.Event()
        self._closing = anyio.Event()
        self._closed = anyio.Event()
        self._scope = anyio.CancelScope(shield=True)  # cancelled calls and servers still close it in order

    async def get(self) -> Terminals:
        """Return the Terminals; raises what opening it raised."""
        if self._closing.is_set():
            raise ConnectionClosed("the server is shutting down")
        opening = self._opening
        if opening is None:
            opening = self._opening = _Opening()
            self._asked.set()
        if not opening.done.is_set():
            await opening.done.wait()
        if opening.terminals is None:
            raise opening.error or ConnectionClosed("the server is shutting down")
        return opening.terminals

    @property
    def opened(self) -> Terminals | None:
        """The Terminals if a call has opened it; to ask opens nothing."""
        return self._opening.terminals if self._opening is not None else None

    async def first_opened(self) -> Terminals:
        """Return the Terminals as soon as a call has opened it; to wait for that opens nothing."""
        await self._ever_opened.wait()
        return await self.get()

    async def own(self) -> None:
        """Open, hold and close it, over and over, until `aclose`."""
        with self._scope:
            while not self._closing.is_set():
                await self._asked.wait()
                if self._opening is not None:
                    await self._hold(self._opening)
                self._opening = None
                if not self._closing.is_set():
                    self._asked = anyio.Event()
        self._closed.set()

    async def _hold(self, opening: _Opening) -> None:
        try:
            async with self._open_terminals() as terminals:
                opening.terminals = terminals
                opening.done.set()
                self._ever_opened.set()
                await self._closing.wait()
        except Exception as error:
            if opening.done.is_set():
                log.exception("the terminals ended unexpectedly; the next call opens them again")
            else:
                opening.error = error
        finally:
            opening.done.set()

    async def aclose(self) -> None:
        """Close it if it was opened; after CLOSE_SECONDS without mercy."""
        self._closing.set()
        self._asked.set()
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            await self._closed.wait()
            return
        log.warning("the terminals did not close within %s s", CLOSE_SECONDS)
        self._scope.cancel()


@asynccontextmanager
async def lazily(open_terminals: Callable[[], AbstractAsyncContextManager[Terminals]]) -> AsyncIterator[LazyTerminals]:
    terminals = LazyTerminals(open_terminals)
    async with anyio.create_task_group() as owner:
        owner.start_soon(terminals.own)
        try:
            yield terminals
        finally:
            await terminals.aclose()
