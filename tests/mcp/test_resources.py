"""Resources are read, listed and watched in both eras of the protocol; a client that never reads costs nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

import muxwire.mcp.resources
from tests.mcp.raw_client import LEGACY, MODERN, envelope
from tests.mcp.test_wire import Served, serving

LOG, SCREEN, TABS = "muxwire://tabs/@1/log", "muxwire://tabs/@1/screen", "muxwire://tabs"
COMMANDS = "muxwire://tabs/@1/commands"
SKILL = "skill://muxwire-cli/SKILL.md"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(muxwire.mcp.resources, "INTERVAL_SECONDS", 0.05)


class Watching:
    """A client of an era, and the library behind it."""

    def __init__(self, client: Served, era: str) -> None:
        self.client = client
        self.meta = {"_meta": envelope()} if era == MODERN else {}

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return await self.client.request(method, params | self.meta)

    async def listed(self) -> list[str]:
        return [resource["uri"] for resource in (await self.ask("resources/list"))["result"]["resources"]]

    async def read(self, uri: str) -> dict[str, Any]:
        [content] = (await self.ask("resources/read", uri=uri))["result"]["contents"]
        assert content["uri"] == uri
        return dict(content)

    async def open(self) -> None:
        await self.ask("tools/call", name="list_tabs", arguments={})

    async def subscribe(self, *uris: str, lists: bool = False) -> int:
        """Ask for updates in the way of the era; return what `unsubscribe` takes."""
        if self.meta:
            wanted = {"resourceSubscriptions": uris, "resourcesListChanged": lists}
            listening = await self.client.start("subscriptions/listen", {"notifications": wanted} | self.meta)
            assert "acknowledged" in json.loads(await self.client.line())["method"]
            return listening
        for uri in (*uris, *uris):  # to subscribe once more changes nothing
            assert (await self.ask("resources/subscribe", uri=uri))["result"] == {}
        if lists:
            await self.listed()
        return 0

    async def unsubscribe(self, listening: int, *uris: str) -> None:
        if self.meta:
            await self.client.notify("notifications/cancelled", {"requestId": listening})
        for uri in () if self.meta else uris:
            await self.ask("resources/unsubscribe", uri=uri)
        await self.ask("tools/list")  # behind it

    async def told(self, *due: str) -> list[str]:
        """What is told until all of that is."""
        news, self.client.notifications = self.client.notifications, []
        while True:
            found = [message.get("params", {}).get("uri", "list") for message in news]
            if set(due) <= set(found):
                return found
            news.append(json.loads(await self.client.line()))


@pytest.fixture(params=[MODERN, LEGACY])
async def watching(request: pytest.FixtureRequest) -> AsyncIterator[Watching]:
    async with serving() as client:
        if request.param == LEGACY:
            await client.initialize()
        yield Watching(client, request.param)


async def test_what_there_is_to_read(watching: Watching) -> None:
    assert await watching.listed() == [TABS, SKILL]  # nothing is opened
    templates = (await watching.ask("resources/templates/list"))["result"]["resourceTemplates"]
    kinds = ("log", "screen", "commands")
    assert [one["uriTemplate"] for one in templates] == [f"{TABS}/{{window_id}}/{kind}" for kind in kinds]
    assert json.loads((await watching.read(TABS))["text"])["tabs"][0]["window_id"] == "@1"
    assert await watching.listed() == [TABS, SKILL, LOG, SCREEN, COMMANDS]
    commands = await watching.read(COMMANDS)
    assert [command["exit_code"] for command in json.loads(commands["text"])["commands"]] == [3]
    log = await watching.read(LOG)
    assert (log["text"], log["_meta"]) == ("a\nb\n", {"muxwire/next_byte": 4})
    assert watching.client.opener.library.asked[-1] == {"target": "@1", "lines": 500, "strip_ansi": True}
    assert (await watching.read("muxwire://tabs/%401/screen"))["text"] == "$"
    assert (await watching.read("muxwire://tabs/%1/screen"))["text"] == "$"


@pytest.mark.parametrize(
    "uri", ["muxwire://tabs/@9/screen", "muxwire://tabs/@1/moon", "muxwire://", "file:///etc/passwd"]
)
async def test_what_is_not_there(watching: Watching, uri: str) -> None:
    error = (await watching.ask("resources/read", uri=uri))["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": uri})
    assert error["message"]


async def test_updates_come_to_who_subscribed(watching: Watching) -> None:
    await watching.open()
    events = watching.client.opener.library.events
    listening = await watching.subscribe(LOG, SCREEN)
    events.output("@2", 0, 5)
    events.record("prompt", "@1")
    events.output("@1", 0, 5)
    assert set(await watching.told(LOG, SCREEN)) == {LOG, SCREEN}
    events.output("@1", 5, 9)
    assert set(await watching.told(LOG, SCREEN)) == {LOG, SCREEN}
    await watching.unsubscribe(listening, LOG, SCREEN)
    await watching.subscribe(TABS, SKILL)  # the second is one that never changes
    events.output("@1", 9, 10)  # nobody is subscribed to that any more
    events.record("command_started", "@1")
    first = await watching.told(TABS)
    events.record("command_finished", "@1")
    assert [*first, *await watching.told(TABS)] == [TABS, TABS]


async def test_the_list_changes_when_tabs_come_and_go(watching: Watching) -> None:
    await watching.subscribe(lists=True)  # before anything is opened, as clients do
    await watching.open()
    await anyio.wait_all_tasks_blocked()
    watching.client.opener.library.events.record("prompt", "@1")
    watching.client.opener.library.events.record("tab_opened", "@2")
    assert await watching.told("list") == ["list"]


async def test_a_storm_is_a_few_updates_and_its_end_is_one_of_them(watching: Watching) -> None:
    await watching.open()
    events = watching.client.opener.library.events
    await watching.subscribe(LOG)
    begun = anyio.current_time()
    for at in range(3000):
        events.output("@1", at, at + 1)
        await anyio.lowlevel.checkpoint()
    seconds = anyio.current_time() - begun
    count = 0
    with anyio.move_on_after(0.2):  # the end is told within the interval; then nothing comes, and nothing is said
        while True:
            count += len(await watching.told(LOG))
    assert 1 <= count <= 3 + seconds / 0.05
    events.output("@1", 3000, 3001)
    assert await watching.told(LOG) == [LOG]
