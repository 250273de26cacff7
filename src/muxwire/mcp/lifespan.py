"""The one Terminals of a server: opened by the first call that needs it, closed with the server.

Some clients start a server twice only to ask what it can do, so nothing starts before a tool is called.
The Terminals lives in a task of its own, because calls come and go (and are cancelled) in tasks of their own.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import ConnectionClosed
from muxwire.instance.own_task import OwnTask

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from muxwire.library.terminals import Terminals

log = logging.getLogger(__name__)

# A client kills a server that has not ended about 2 s after its stdin was closed. What is still open then is ended by
# the watchdogs, as after a SIGKILL.
CLOSE_SECONDS = 1.3


@final
class LazyTerminals:
    """Give calls the Terminals, opening it when first asked; a failed opening is tried again by the next call."""

    def __init__(
        self,
        open_terminals: Callable[[], AbstractAsyncContextManager[Terminals]],
        running: Callable[[], Terminals | None] = lambda: None,
    ) -> None:
        self._open_terminals = open_terminals
        self._running = running  # what runs for other clients too, before this one has made a call
        self.is_overdue = False  # whether it did not close in time
        self._opening = anyio.Lock(fast_acquire=True)
        self._owner: OwnTask[Terminals] | None = None
        self._terminals: Terminals | None = None
        self._next_opening = anyio.Event()
        self._closed = False
        self.client = ""  # name and version of the MCP client, which `muxwire ls` shows

    @property
    def opened(self) -> Terminals | None:
        """The Terminals if a call has opened it; to ask opens nothing."""
        return None if self._owner is None or self._owner.ended else self._terminals

    @property
    def seen(self) -> Terminals | None:
        """The Terminals if a call has opened it, or if it runs for others; to ask opens nothing."""
        return self.opened or self._running()

    async def get(self) -> Terminals:
        """Return the Terminals, to calls in the order in which they came; raises what opening it raised."""
        async with self._opening:
            if self._closed:
                raise ConnectionClosed("the server is shutting down")
            return self.opened or await self._open()

    async def _open(self) -> Terminals:
        await self._leave()
        owner = OwnTask(self._open_terminals())
        self._terminals = await owner.enter(tied=False)
        self._owner = owner
        if self.client:
            self._terminals.name_client(self.client)
        self._next_opening.set()
        self._next_opening = anyio.Event()
        return self._terminals

    async def when_opened(self) -> Terminals:
        """Return the Terminals as soon as a call has opened it; to wait for that opens nothing."""
        while (opened := self.opened) is None:
            await self._next_opening.wait()
        return opened

    async def aclose(self) -> None:
        """Close it if it was opened; cancel what has not closed after CLOSE_SECONDS."""
        self._closed = True
        await self._leave()

    async def _leave(self) -> None:
        owner, self._owner = self._owner, None
        if owner is None:
            return
        try:
            await owner.leave(CLOSE_SECONDS)
        except TimeoutError:
            log.warning("the terminals did not close within %s s; they are ended from outside", CLOSE_SECONDS)
            self.is_overdue = True
        except Exception:
            log.exception("the terminals ended unexpectedly; the next call opens them again")
