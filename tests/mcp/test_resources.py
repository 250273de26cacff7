"""Resources are read, listed and watched in both eras of the protocol; a client that never reads costs nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import ServerEvent
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.types import ResourceListChangedNotification, ResourceUpdatedNotification, TextResourceContents

import muxwire.mcp.resources
from tests.mcp.fake_terminals import FakeTerminals, Opener
from tests.mcp.in_memory import build_server

pytestmark = [
    # The older era's way to subscribe, which most clients still use.
    pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed"),
]

DEADLINE = 30
LOG, SCREEN, TABS = "muxwire://tabs/@1/log", "muxwire://tabs/@1/screen", "muxwire://tabs"
COMMANDS = "muxwire://tabs/@1/commands"
SKILL = "skill://muxwire-cli/SKILL.md"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(muxwire.mcp.resources, "INTERVAL_SECONDS", 0.05)


class Watching:
    """A client with what it was told, the library behind it, and a way to subscribe in its era."""

    def __init__(self, client: Client, opener: Opener, mode: str) -> None:
        self.client = client
        self.mode = mode
        self.told: list[str] = []
        self._opener = opener

    @property
    def library(self) -> FakeTerminals:
        assert self._opener.terminals is not None
        return self._opener.terminals

    async def on_message(self, message: Any) -> None:
        if self.mode != "legacy":
            return  # the stream tells it again
        match message:
            case ResourceUpdatedNotification(params=params):
                self.told.append(params.uri)
            case ResourceListChangedNotification():
                self.told.append("list")

    def note(self, event: ServerEvent) -> None:
        match event:
            case ResourceUpdated(uri=uri):
                self.told.append(uri)
            case ResourcesListChanged():
                self.told.append("list")

    @asynccontextmanager
    async def subscribed(self, *uris: str, lists: bool = False) -> AsyncIterator[None]:
        if self.mode == "legacy":
            for uri in (*uris, *uris):  # to subscribe once more changes nothing
                await self.client.session.subscribe_resource(uri)
            if lists:
                await self.client.list_resources()
            yield
            for uri in uris:
                await self.client.session.unsubscribe_resource(uri)
            return
        async with (
            self.client.listen(resource_subscriptions=uris, resources_list_changed=lists) as stream,
            anyio.create_task_group() as tasks,
        ):

            async def listen() -> None:
                async for event in stream:
                    self.note(event)

            tasks.start_soon(listen)
            yield
            tasks.cancel_scope.cancel()

    async def until(self, *told: str) -> None:
        with anyio.fail_after(DEADLINE):
            while not set(told) <= set(self.told):
                await anyio.lowlevel.checkpoint()


@pytest.fixture(params=["auto", "legacy"])
async def watching(request: pytest.FixtureRequest) -> AsyncIterator[Watching]:
    opener = Opener(lambda _event: None)
    holder: list[Watching] = []

    async def on_message(message: Any) -> None:
        await holder[0].on_message(message)

    async with Client(build_server(opener), mode=request.param, message_handler=on_message) as client:
        holder.append(Watching(client, opener, request.param))
        yield holder[0]


async def text_of(client: Client, uri: str) -> TextResourceContents:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.uri == uri
    return content


async def test_what_there_is_to_read(watching: Watching) -> None:
    client = watching.client
    assert [resource.uri for resource in (await client.list_resources()).resources] == [
        TABS,
        SKILL,
    ]  # nothing is opened
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [
        f"{TABS}/{{window_id}}/log",
        f"{TABS}/{{window_id}}/screen",
        f"{TABS}/{{window_id}}/commands",
    ]
    tabs = await text_of(client, TABS)
    assert json.loads(tabs.text)["tabs"][0]["window_id"] == "@1"
    assert [resource.uri for resource in (await client.list_resources()).resources] == [
        TABS,
        SKILL,
        LOG,
        SCREEN,
        COMMANDS,
    ]
    commands = await text_of(client, COMMANDS)
    assert [command["exit_code"] for command in json.loads(commands.text)["commands"]] == [3]
    log = await text_of(client, LOG)
    assert (log.text, log.meta) == ("a\nb\n", {"muxwire/next_byte": 4})
    assert watching.library.asked[-1] == {"target": "@1", "lines": 500, "strip_ansi": True}
    assert (await text_of(client, "muxwire://tabs/%401/screen")).text == "$"
    assert (await text_of(client, "muxwire://tabs/%1/screen")).text == "$"


@pytest.mark.parametrize(
    "uri", ["muxwire://tabs/@9/screen", "muxwire://tabs/@1/moon", "muxwire://", "file:///etc/passwd"]
)
async def test_what_is_not_there(watching: Watching, uri: str) -> None:
    with pytest.raises(MCPError) as caught:
        await watching.client.read_resource(uri)
    assert (caught.value.code, caught.value.data) == (-32602, {"uri": uri})
    assert caught.value.message


async def test_updates_come_to_who_subscribed(watching: Watching) -> None:
    await watching.client.call_tool("list_tabs", {})
    events = watching.library.events
    async with watching.subscribed(LOG, SCREEN):
        events.output("@2", 0, 5)
        events.record("prompt", "@1")
        events.output("@1", 0, 5)
        await watching.until(LOG, SCREEN)
        assert set(watching.told) == {LOG, SCREEN}
        watching.told.clear()
        events.output("@1", 5, 9)
        await watching.until(LOG, SCREEN)
    watching.told.clear()
    async with watching.subscribed(TABS):
        events.output("@1", 9, 10)  # nobody is subscribed to that any more
        events.record("command_started", "@1")
        await watching.until(TABS)
        first = watching.told.copy()
        watching.told.clear()
        events.record("command_finished", "@1")
        await watching.until(TABS)
    assert [*first, *watching.told] == [TABS, TABS]


async def test_the_list_changes_when_tabs_come_and_go(watching: Watching) -> None:
    async with watching.subscribed(lists=True):  # before anything is opened, as clients do
        await watching.client.call_tool("list_tabs", {})
        await anyio.wait_all_tasks_blocked()
        watching.library.events.record("prompt", "@1")
        watching.library.events.record("tab_opened", "@2")
        await watching.until("list")
    assert watching.told == ["list"]


async def test_a_storm_is_a_few_updates_and_its_end_is_one_of_them(watching: Watching) -> None:
    await watching.client.call_tool("list_tabs", {})
    events = watching.library.events
    async with watching.subscribed(LOG):
        begun = anyio.current_time()
        for at in range(3000):
            events.output("@1", at, at + 1)
            await anyio.lowlevel.checkpoint()
        seconds = anyio.current_time() - begun
        await watching.until(LOG)
        assert len(watching.told) <= 2 + seconds / 0.05
        watching.told.clear()
        events.output("@1", 3000, 3001)  # within the interval, or behind it: it is told
        await watching.until(LOG)
        await anyio.sleep(0.15)
        watching.told.clear()
        await anyio.sleep(0.2)
        assert watching.told == []  # nothing came, nothing is said
