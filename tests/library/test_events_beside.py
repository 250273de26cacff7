"""A follower sees the owner's commands as another muxwire's, not as a person's."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.tabs import tab_events

pytestmark = pytest.mark.anyio

DEADLINE = 40


async def test_a_command_of_the_owner_is_no_persons(
    folder: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tab_events, "ELSEWHERE", DEADLINE)  # a shell may be slow
    environ = environ | {"SHELL": "/bin/bash"}
    async with (
        muxwire.open_terminals("beside", state_dir=folder / "state", environ=environ) as owner,
        muxwire.open_terminals("beside", state_dir=folder / "state", environ=environ) as follower,
    ):
        tab = await owner.create_tab(name="shared")
        try:
            with anyio.fail_after(DEADLINE):
                await tab.execute("true")
                server = await follower.server()
                assert (owner.role, follower.role) == ("owner", "follower")
                while not (await follower.list_tabs()).tabs:
                    await anyio.sleep(0.05)
                cursor = follower.events.end
                assert (await tab.execute("(exit 3)")).exit_code == 3
                found: list[muxwire.TabEvent] = []
                while not [event for event in found if event.kind == "command_finished"]:
                    kinds = ["command_started", "command_finished", "human_input"]
                    batch = await follower.watch_events(kinds=kinds, since=cursor, timeout=DEADLINE)
                    found += batch.events
                    cursor = batch.next
            assert [(event.kind, event.details["by"]) for event in found] == [
                ("command_started", "other"), ("command_finished", "other"),
            ]  # fmt: skip
            assert found[0].details["command"] == "(exit 3)"
            assert found[-1].details["exit_code"] == 3
            assert not server.client.closed
        finally:
            await tab.close(force=True)
            await (await owner.server()).client.command("kill-server")
