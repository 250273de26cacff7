"""What a person has not looked at yet: to attach to a session clears it, so a call attaches to what it uses only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import muxwire
from tests.library.adopted.person import CLIENTS, Person

Call = Callable[[muxwire.Terminals], Awaitable[object]]


async def execute(adopted: muxwire.Terminals) -> None:
    assert (await (await adopted.tab("work:one")).execute("echo here")).output == "here\n"


async def execute_in_the_background(adopted: muxwire.Terminals) -> None:
    begun = await (await adopted.tab("work:one")).execute("sleep 0.3; echo here", async_=True)
    assert (await adopted.command_result(begun.command_id, wait=20)).output == "here\n"


async def an_error(adopted: muxwire.Terminals) -> None:
    for call in (adopted.tab("nosuch"), adopted.wait_for(["other:9"], idle=1), adopted.create_tab(session="none")):
        with pytest.raises(muxwire.NoSuchTarget):
            await call
    for close in (adopted.close_tab("three", force=True), adopted.set_history_limit(7)):
        with pytest.raises(muxwire.NotPermitted):
            await close


async def a_dry_run(adopted: muxwire.Terminals) -> None:
    assert (await adopted.run_operations([{"kind": "capture_pane", "target": "three"}], dry_run=True)).succeeded


async def operations(adopted: muxwire.Terminals) -> None:
    steps = [{"kind": "display_message", "target": "one", "format": "x"}, {"kind": "capture_pane", "target": "work:1"}]
    assert (await adopted.run_operations(steps)).succeeded


CALLS: list[Call] = [
    lambda adopted: adopted.list_tabs(),
    lambda adopted: adopted.tab("three"),
    lambda adopted: adopted.known_tab("other:1"),
    lambda adopted: adopted.read_logs("three"),
    lambda adopted: adopted.stream_logs("three"),
    lambda adopted: adopted.wait_for(["one", "two"], idle=0.1),
    lambda adopted: adopted.watch_events(["one"], timeout=0.1),
    lambda adopted: adopted.create_tab(name="ours"),
    execute,
    execute_in_the_background,
    an_error,
    a_dry_run,
    operations,
]


async def test_alerts_stay_in_sessions_that_a_call_does_not_use(
    person: Person, environ: dict[str, str], folder: Path
) -> None:
    await person.settled()
    await person.ring("other:three")
    alerts = person.alerts("other")
    async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
        for call in CALLS:
            await call(adopted)
            assert person.alerts("other") == alerts, call
        assert "other" not in person.tmux("list-clients", "-F", f"{CLIENTS} #{{client_session}}").split()
        # A session whose tab is used is attached to, as if somebody had looked.
        await (await adopted.tab("three")).snapshot()
        assert person.alerts("other") != alerts
