"""Updates of resources, pushed to who subscribed: by `resources/subscribe` up to 2025-11-25, later by a listen stream.

Each subscription is one task that sleeps until something has happened and then says so, at most twice a second. It says
nothing while the client does not read: what changes meanwhile is one update, so nothing piles up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, final

import anyio
from mcp import MCPError, types
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY

from muxwire.mcp.resources import LIST_CHANGES, Subject
from muxwire.tabs.event_log import EventFilter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from anyio.abc import TaskGroup
    from mcp.server.session import ServerSession

    from muxwire.library.terminals import Terminals
    from muxwire.mcp.lifespan import LazyTerminals

# A person who watches sees a step of half a second as at once; a model is notified far less often than a build prints.
INTERVAL_SECONDS = 0.5
# Each costs a comparison for every event; a client that wants more than this has lost count.
MAX_SUBSCRIPTIONS = 256
# In addition to the URIs of resources: the subscription to their list. No URI is empty.
_LIST = ""

Tell = Callable[[], Awaitable[None]]


async def push(terminals: Terminals, wanted: EventFilter, tell: Tell) -> None:
    """Call `tell` when something wanted has happened, and then not again for INTERVAL_SECONDS; until cancelled."""
    cursor = terminals.events.end
    while True:
        await terminals.events.wait(cursor, wanted, 1)
        cursor = terminals.events.end  # before it is sent: what comes from now on is another update
        await tell()
        await anyio.sleep(INTERVAL_SECONDS)


@final
class Updates:
    """The subscriptions of one connection."""

    def __init__(self, terminals: LazyTerminals, tasks: TaskGroup) -> None:
        self._terminals = terminals
        self._tasks = tasks
        self._subscribed: dict[str, anyio.CancelScope] = {}
        self._listening = 0

    async def subscribe(self, uri: str, session: ServerSession) -> None:
        """Push updates of a resource until `unsubscribe`; MCPError if there is no such resource."""
        subject = Subject.of(uri)
        terminals = await self._terminals.get()
        wanted = await subject.changes(terminals)
        if uri not in self._subscribed:
            self._start(uri, lambda: push(terminals, wanted, lambda: session.send_resource_updated(uri)))

    def unsubscribe(self, uri: str) -> None:
        scope = self._subscribed.pop(uri, None)
        if scope is not None:
            scope.cancel()

    def list_was_asked(self, session: ServerSession) -> None:
        """A client of the older protocol has the list: from now on it is notified that the list has changed."""

        async def push_list() -> None:
            # Clients ask at their start, when there is nothing that could change yet.
            terminals = await self._terminals.first_opened()
            await push(terminals, EventFilter.checked((), LIST_CHANGES), session.send_resource_list_changed)

        if _LIST not in self._subscribed:
            self._start(_LIST, push_list)

    def _start(self, name: str, pushing: Callable[[], Awaitable[None]]) -> None:
        self._check(1)
        scope = self._subscribed[name] = anyio.CancelScope()

        async def run() -> None:
            with scope:
                await pushing()

        self._tasks.start_soon(run)

    def _check(self, more: int) -> None:
        if len(self._subscribed) + self._listening + more > MAX_SUBSCRIPTIONS:
            raise MCPError(code=types.INVALID_REQUEST, message=f"More than {MAX_SUBSCRIPTIONS} subscriptions")

    async def listen(
        self, asked: types.SubscriptionFilter, request_id: types.RequestId | None, session: ServerSession
    ) -> types.SubscriptionsListenResult:
        """Serve one listen stream until the client cancels it.

        What is there no more, or never was, is left out of the acknowledged filter: it could never fire.
        """
        if request_id is None:
            raise MCPError(code=types.INVALID_REQUEST, message="subscriptions/listen needs a request id")
        uris = list(dict.fromkeys(asked.resource_subscriptions or ()))
        lists = bool(asked.resources_list_changed)
        self._check(len(uris) + lists)
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: request_id}
        terminals = await self._terminals.get()
        wanted = await _existing(uris, terminals)
        honored = types.SubscriptionFilter(
            resources_list_changed=lists or None, resource_subscriptions=list(wanted) or None
        )
        said = types.SubscriptionsAcknowledgedNotificationParams(notifications=honored, _meta=meta)

        async def send(notification: types.ServerNotification) -> None:
            await session.send_notification(notification, related_request_id=request_id)

        self._listening += len(wanted) + lists
        try:
            async with anyio.create_task_group() as streams:
                for uri, changes in wanted.items():
                    params = types.ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
                    streams.start_soon(
                        push, terminals, changes, _teller(send, types.ResourceUpdatedNotification(params=params))
                    )
                if lists:
                    changed = types.ResourceListChangedNotification(params=types.NotificationParams(_meta=meta))
                    streams.start_soon(push, terminals, EventFilter.checked((), LIST_CHANGES), _teller(send, changed))
                await send(types.SubscriptionsAcknowledgedNotification(params=said))
                await anyio.sleep_forever()
        finally:
            self._listening -= len(wanted) + lists
        raise AssertionError("a listen stream ends by being cancelled")


def _teller(
    send: Callable[[types.ServerNotification], Awaitable[None]], notification: types.ServerNotification
) -> Tell:
    return lambda: send(notification)


async def _existing(uris: Sequence[str], terminals: Terminals) -> dict[str, EventFilter]:
    found: dict[str, EventFilter] = {}
    for uri in uris:
        try:
            found[uri] = await Subject.of(uri).changes(terminals)
        except MCPError:
            continue
    return found


@asynccontextmanager
async def updating(terminals: LazyTerminals) -> AsyncIterator[Updates]:
    async with anyio.create_task_group() as tasks:
        try:
            yield Updates(terminals, tasks)
        finally:
            tasks.cancel_scope.cancel()
