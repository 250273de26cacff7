"""Events and resources of real tabs through a real server, in both eras of the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.subscriptions import ServerEvent
from mcp.server.subscriptions import ResourceUpdated
from mcp.types import ResourceUpdatedNotification, TextResourceContents

from tests.mcp.child_client import call, forked_in

pytestmark = [
    pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed"),
]

DEADLINE = 60


class User:
    """A client, what it was told of resources, and the calls of a model."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.client: Client
        self.told: set[str] = set()
        self._news = anyio.Event()

    async def on_message(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self._tell(message.params.uri)

    def on_event(self, event: ServerEvent) -> None:
        if isinstance(event, ResourceUpdated):
            self._tell(event.uri)

    def _tell(self, uri: str) -> None:
        self.told.add(uri)
        self._news.set()
        self._news = anyio.Event()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await call(self.client, tool, **arguments)

    async def text(self, uri: str) -> str:
        [content] = (await self.client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    async def until_told(self, uri: str) -> None:
        while uri not in self.told:
            await self._news.wait()
        self.told.clear()

    @asynccontextmanager
    async def subscribed(self, uri: str) -> AsyncIterator[None]:
        if self.mode == "legacy":
            await self.client.session.subscribe_resource(uri)
            yield
            await self.client.session.unsubscribe_resource(uri)
            return
        async with AsyncExitStack() as stack:
            stream = await stack.enter_async_context(self.client.listen(resource_subscriptions=[uri]))
            tasks = await stack.enter_async_context(anyio.create_task_group())

            async def listen() -> None:
                async for event in stream:
                    self.on_event(event)

            tasks.start_soon(listen)
            yield
            tasks.cancel_scope.cancel()


@pytest.fixture(params=["legacy", "2026-07-28"])
async def user(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[User]:
    server = forked_in(folder)
    made = User(request.param)
    with anyio.fail_after(DEADLINE):
        async with Client(server, mode=request.param, message_handler=made.on_message) as client:
            made.client = client
            yield made


async def test_a_log_and_a_screen_in_view(user: User) -> None:
    tab = await user.call("create_tab", name="work", size=[80, 24])
    log, screen, commands = (f"muxwire://tabs/{tab['window_id']}/{view}" for view in ("log", "screen", "commands"))
    assert [str(resource.uri) for resource in (await user.client.list_resources()).resources] == [
        "muxwire://tabs", "skill://muxwire-cli/SKILL.md", log, screen, commands,
    ]  # fmt: skip
    ran = await user.call("execute_command", window_id="work", command='read -r line; echo "[$line]"', timeout_ms=5000)
    assert ran["state"] == "interactive"
    async with user.subscribed(log), user.subscribed(screen):
        user.told.clear()
        await user.call("send_keys", window_id="work", keys=["hello", "Enter"])
        await user.call("wait_for", window_ids=["work"], until="[hello]")
        await user.until_told(log)
        while "[hello]" not in await user.text(log):
            await user.until_told(log)
        while "[hello]" not in await user.text(screen):
            await user.until_told(screen)
    listed = json.loads(await user.text("muxwire://tabs"))
    assert [row["name"] for row in listed["tabs"]] == ["work"]
    async with user.subscribed("muxwire://tabs"):
        user.told.clear()
        await user.call("close_tab", window_id="work", force=True)
        await user.until_told("muxwire://tabs")
        while not json.loads(await user.text("muxwire://tabs"))["tabs"][0]["closed"]:
            await user.until_told("muxwire://tabs")
    assert "[hello]" in await user.text(log)  # also of a closed tab
