"""What happens in the tabs is told once, in order, with a cursor; what people do is told as far as it can be known."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import anyio
import pytest

import muxwire
from muxwire.errors import InvalidArgument, NoSuchTarget
from muxwire.shell.authors import TYPED_AHEAD
from muxwire.tabs.event_log import KINDS, EventFilter, EventLog, TabEvent
from tests.deadline import DEADLINE
from tests.library.attached import person


async def until(
    terminals: muxwire.Terminals, kind: str, since: int = 0, targets: Sequence[str] = (), **details: object
) -> tuple[list[TabEvent], int]:
    """All events from `since` on up to the first of that kind with these details, and the cursor behind it."""
    seen: list[TabEvent] = []
    with anyio.fail_after(DEADLINE):
        while True:
            batch = await terminals.watch_events(targets, kinds=KINDS, since=since, max_events=1, timeout=DEADLINE)
            assert batch.dropped == 0
            since = batch.next
            seen += batch.events
            if seen and seen[-1].kind == kind and details.items() <= dict(seen[-1].details).items():
                return seen, since


def kinds(events: Sequence[TabEvent]) -> list[str]:
    return [event.kind for event in events if event.kind != "output"]


async def test_the_life_of_a_tab(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab(name="work")
    result = await tab.execute("printf out; (exit 3)")
    assert result.exit_code == 3
    events, cursor = await until(alone, "prompt", (await until(alone, "command_finished"))[1])
    events = [*(await until(alone, "command_finished"))[0], *events]
    assert [kind for kind in kinds(events) if kind != "title"] == [
        "tab_opened", "prompt", "command_started", "command_finished", "prompt",
    ]  # fmt: skip
    opened, started, finished = (next(e for e in events if e.kind == k) for k in
                                 ("tab_opened", "command_started", "command_finished"))  # fmt: skip
    assert dict(opened.details) == {"name": "work", "session": "hub"}
    assert dict(started.details) == {
        "by": "execute", "command_id": result.command_id, "command": "printf out; (exit 3)",
        "from_byte": result.from_byte,
    }  # fmt: skip
    assert dict(finished.details) == {
        "by": "execute", "command_id": result.command_id, "exit_code": 3, "ending": "completed",
        "next_byte": result.next_byte,
    }  # fmt: skip
    assert {event.window_id for event in events} == {tab.window_id}
    assert [event.sequence for event in events] == sorted({event.sequence for event in events})
    await tab.client.command("rename-window", "-t", tab.window_id, "other")
    renamed, cursor = await until(alone, "tab_renamed", cursor)
    assert dict(renamed[-1].details) == {"name": "other"}
    await tab.execute("exit 5")
    ended, _ = await until(alone, "tab_closed", cursor)
    assert kinds(ended)[-4:] == ["command_started", "command_finished", "exited", "tab_closed"]
    assert [dict(e.details) for e in ended if e.kind == "exited"] == [{"exit_code": 5}]
    assert "status 5" in str(ended[-1].details["reason"])


async def test_bells_titles_and_output(alone: muxwire.Terminals) -> None:
    script = (
        r"import sys; sys.stdout.write('a\a\a'); sys.stdout.flush(); input();"
        r" print('\33]2;name\7', '\33]9;4;1;40\7'); input()"
    )
    tab = await alone.create_tab(command=[sys.executable, "-I", "-S", "-c", script])
    events, cursor = await until(alone, "bell")
    assert dict(events[-1].details) == {"count": 2, "next_byte": 3}
    assert [dict(event.details) for event in events if event.kind == "output"] == [{"from_byte": 0, "next_byte": 3}]
    assert (await alone.watch_events(since=cursor, timeout=0.0)).events == ()
    await tab.send_keys(["Enter"])
    events, cursor = await until(alone, "progress", cursor)
    assert [dict(event.details) for event in events if event.kind in ("title", "progress")] == [
        {"title": "name"}, {"progress": "normal", "percent": 40},
    ]  # fmt: skip
    quiet = await alone.watch_events(since=0, timeout=0.0)
    assert "output" not in {event.kind for event in quiet.events}  # it is told by name only


async def test_who_typed_a_line(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab(shell="bash")
    await alone.wait_for([tab.window_id], prompt=True, timeout=DEADLINE)
    cursor = alone.events.end
    await tab.send_keys(["false", "Enter", "true", "Enter"])  # the second one before the first has ended
    first, cursor = await until(alone, "command_finished", cursor)
    second, cursor = await until(alone, "command_finished", cursor)
    assert dict(first[-1].details) == {"by": "keys", "exit_code": 1}
    assert dict(second[-1].details) == {"by": "keys", "exit_code": 0}
    await until(alone, "prompt", cursor)
    with person(alone, "hub") as keyboard:
        attached, cursor = await until(alone, "client_attached", cursor)
        assert (attached[-1].details["session"], attached[-1].window_id) == ("hub", "")
        await alone.wait_for([tab.window_id], idle=2 * TYPED_AHEAD)  # nobody types a line in less after a prompt
        os.write(keyboard, b"(exit 4)\r")
        seen, cursor = await until(alone, "command_finished", cursor)
        assert dict(seen[-1].details) == {"by": "person", "exit_code": 4}
        assert {"how": "line"} in [dict(event.details) for event in seen if event.kind == "human_input"]
        await alone.wait_for([tab.window_id], idle=2 * TYPED_AHEAD)
        os.write(keyboard, b"cat\r")  # known before it has ended, and although it says nothing
        seen, cursor = await until(alone, "command_started", cursor, by="person")
        assert str(seen[-1].details["line"]).endswith(" cat"), seen
        os.write(keyboard, b"\4")
        seen, cursor = await until(alone, "command_finished", cursor)
        assert dict(seen[-1].details) == {"by": "person", "exit_code": 0}


async def test_keys_of_a_person_while_a_command_of_ours_runs(alone: muxwire.Terminals) -> None:
    other = await alone.create_tab(shell="bash")
    tab = await alone.create_tab(shell="bash", session="work")
    with person(alone, "work") as keyboard:
        _, cursor = await until(alone, "client_attached")
        running = await tab.execute("read -r line; echo got $line", timeout=DEADLINE)
        assert running.state == "interactive"  # what is typed from here on is the command's
        await other.execute("echo nobody types here")
        await tab.send_keys(["x"])  # ours is none of a person's
        assert (await alone.watch_events(kinds=["human_input"], since=cursor, timeout=2.5)).events == ()
        os.write(keyboard, b"y")
        seen, cursor = await until(alone, "human_input", cursor)
        assert (seen[-1].window_id, dict(seen[-1].details)) == (
            tab.window_id, {"how": "keys", "command_id": running.command_id},
        )  # fmt: skip
        os.write(keyboard, b"\r")
        assert (await alone.command_result(running.command_id, wait=DEADLINE)).output.endswith("got xy\n")


async def test_what_cannot_be_watched_is_refused(alone: muxwire.Terminals) -> None:
    assert (await alone.watch_events(timeout=0.0)).next == 0  # starts no tmux
    assert not alone.folders.socket_path.exists()
    for said, asked in (
        ("unknown kind of event: moonrise", {"kinds": ["moonrise"]}),
        ("since is 7", {"since": 7}),
        ("since is -1", {"since": -1}),
        ("max_events", {"max_events": 0}),
    ):
        with pytest.raises(InvalidArgument, match=said):
            await alone.watch_events(**asked)
    with pytest.raises(NoSuchTarget):
        await alone.watch_events(["@9"])


EVERYTHING = EventFilter.checked((), KINDS)


def test_the_log_is_bounded_and_counts_what_it_dropped() -> None:
    log = EventLog(capacity=10)
    for number in range(25):
        log.record("prompt", "@1", number=number)
    batch = log.since(0, EVERYTHING, 100)
    assert [event.details["number"] for event in batch.events] == list(range(15, 25))
    assert (batch.next, batch.dropped) == (25, 15)
    assert log.since(20, EVERYTHING, 100).dropped == 0
    page = log.since(16, EVERYTHING, 3)
    assert [event.sequence for event in page.events] == [17, 18, 19]
    assert log.since(page.next, EVERYTHING, 100).events[0].sequence == 20
    none = log.since(16, EventFilter.checked((), ["bell"]), 3)
    assert (none.events, none.next) == ((), 25)


def test_output_that_nobody_has_seen_is_one_event_and_none_is_missed() -> None:
    log = EventLog(capacity=10)
    for at in range(0, 5000, 10):
        log.output("@1", at, at + 10)
        log.output("@2", at, at + 10)
    first = log.since(0, EVERYTHING, 100)
    assert [(event.window_id, dict(event.details)) for event in first.events] == [
        ("@1", {"from_byte": 0, "next_byte": 5000}), ("@2", {"from_byte": 0, "next_byte": 5000}),
    ]  # fmt: skip
    log.output("@1", 5000, 5001)
    log.record("prompt", "@1")
    log.output("@1", 5001, 5002)
    later = log.since(first.next, EVERYTHING, 100)
    assert [(event.kind, event.details.get("next_byte")) for event in later.events] == [
        ("output", 5001), ("prompt", None), ("output", 5002),
    ]  # fmt: skip
    log.output("@1", 5002, 5003)
    for _ in range(10):
        log.record("prompt", "@2")  # pushes the growing one out
    log.output("@1", 5003, 5004)
    assert log.since(later.next, EVERYTHING, 100).events[-1].details["next_byte"] == 5004
