"""What one process of muxwire typed, another one at the same instance does not take for a person's."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.shell.authors import TYPED_AHEAD
from muxwire.tabs import tab_events
from tests.library.attached import person

DEADLINE = 40


@asynccontextmanager
async def shared_tab(
    folder: Path, environ: dict[str, str], name: str
) -> AsyncIterator[tuple[muxwire.Terminals, muxwire.Terminals, muxwire.Tab]]:
    """An instance that two processes would use, as its owner and its follower, and a tab that both know."""
    environ = environ | {"SHELL": "/bin/bash"}
    async with (
        muxwire.open_terminals(name, state_dir=folder / "state", environ=environ) as owner,
        muxwire.open_terminals(name, state_dir=folder / "state", environ=environ) as follower,
    ):
        tab = await owner.create_tab(name="shared")
        try:
            with anyio.fail_after(DEADLINE):
                await tab.execute("true")
                await follower.server()
                while not (await follower.list_tabs()).tabs:
                    await anyio.sleep(0.05)
                yield owner, follower, tab
        finally:
            await tab.close(force=True)
            await (await owner.server()).client.command("kill-server")


async def lines_until(terminals: muxwire.Terminals, cursor: int, status: int) -> list[muxwire.TabEvent]:
    """The events of lines and keys from there on, until a line has ended with that exit code."""
    found: list[muxwire.TabEvent] = []
    while not [event for event in found if event.details.get("exit_code") == status]:
        kinds = ["command_started", "command_finished", "human_input"]
        batch = await terminals.watch_events(kinds=kinds, since=cursor, timeout=DEADLINE)
        found += batch.events
        cursor = batch.next
    return found


async def test_a_command_of_the_owner_is_no_persons(
    folder: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tab_events, "ELSEWHERE", DEADLINE)  # a shell may be slow
    async with shared_tab(folder, environ, "beside") as (owner, follower, tab):
        server = await follower.server()
        assert (owner.role, follower.role) == ("owner", "follower")
        cursor = follower.events.end
        assert (await tab.execute("(exit 3)")).exit_code == 3
        found = await lines_until(follower, cursor, 3)
        assert [(event.kind, event.details["by"]) for event in found] == [
            ("command_started", "other"), ("command_finished", "other"),
        ]  # fmt: skip
        assert found[0].details["command"] == "(exit 3)"
        assert found[-1].details["exit_code"] == 3
        assert not server.client.closed


async def test_keys_of_one_process_are_no_persons_in_the_other(
    folder: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor are those that come from elsewhere while no person is attached."""
    monkeypatch.setattr(tab_events, "ELSEWHERE", DEADLINE)
    async with shared_tab(folder, environ, "both") as (owner, follower, tab):
        theirs = await follower.tab(tab.key)
        await theirs.execute("true")
        client = (await owner.server()).client

        async def raw() -> None:
            await client.command("send-keys", "-t", tab.pane_id, "(exit 6)", "Enter")

        for typing, seen_by, status, author in (
            (lambda: theirs.send_keys(["(exit 4)", "Enter"]), owner, 4, "other"),
            (lambda: tab.send_keys(["(exit 5)", "Enter"]), follower, 5, "other"),
            (raw, owner, 6, "unknown"),
        ):
            cursor = seen_by.events.end
            await seen_by.wait_for([tab.key], idle=2 * TYPED_AHEAD)  # else it may be typed ahead
            await typing()
            found = await lines_until(seen_by, cursor, status)
            # What was typed before may be heard of late.
            assert [(event.kind, event.details["by"]) for event in found[-2:]] == [
                ("command_started", author), ("command_finished", author),
            ]  # fmt: skip
            assert str(found[-2].details["line"]).endswith(f"(exit {status})")
        said = [(one.by, one.exit_code) for one in await owner.history()]
        assert said[-3:] == [("keys", 4), ("keys", 5), ("unknown", 6)]


async def test_a_process_that_attaches_presses_no_key(folder: Path, environ: dict[str, str]) -> None:
    """It is activity in the session for tmux, as keys are."""
    environ = environ | {"SHELL": "/bin/bash"}
    async with muxwire.open_terminals("joins", state_dir=folder / "state", environ=environ) as owner:
        tab = await owner.create_tab(name="shared")
        try:
            with person(owner, "hub") as keyboard:
                await owner.watch_events(kinds=["client_attached"], since=0, timeout=DEADLINE)
                cursor = owner.events.end
                for _ in range(2):  # the first one perhaps in the second of the person's attaching
                    async with muxwire.open_terminals("joins", state_dir=folder / "state", environ=environ) as other:
                        await other.server()
                    # tmux compares once a second.
                    seen = await owner.watch_events(kinds=["human_input"], since=cursor, timeout=1.5)
                assert seen.events == ()
                os.write(keyboard, b"x")
                seen = await owner.watch_events(kinds=["human_input"], since=cursor, timeout=DEADLINE)
                assert [dict(event.details) for event in seen.events] == [{"how": "keys"}]
        finally:
            await tab.close(force=True)
            await (await owner.server()).client.command("kill-server")
