"""A second process beside the owner: it executes and reads in the same offsets, writes no log, and may succeed it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import anyio
import pytest

import muxwire
from muxwire.host.folders import folders_for
from muxwire.instance import connect, follower, notifications, reattach
from muxwire.instance.follower import become_owner
from muxwire.logs import read as log_read, store as log
from muxwire.tmux.server import TmuxServer
from tests.library.opened import closed

from .conftest import Instance
from .test_spools import NUMBERED, lines_of, numbered

DEADLINE = 60


async def becomes_owner(terminals: muxwire.Terminals) -> None:
    while terminals.role != "owner":
        await anyio.sleep(0.02)


def succession(monkeypatch: pytest.MonkeyPatch) -> anyio.Event:
    """Set when a follower has become the owner, and writes the logs."""
    succeeded = anyio.Event()

    async def told(*given: Any) -> None:
        await become_owner(*given)
        succeeded.set()

    monkeypatch.setattr(reattach, "become_owner", told)
    return succeeded


async def test_a_follower_executes_and_reads(instance: Instance) -> None:
    async with instance.open() as owner:
        mine = await owner.create_tab(name="shared")
        await mine.execute("echo from the owner")
        async with instance.open() as follower:
            assert (owner.role, follower.role) == ("owner", "follower")
            tab = await follower.tab("shared")
            assert "from the owner" in (await follower.read_logs("shared")).content
            result = await tab.execute("echo from the follower; (exit 2)")
            assert (result.output, result.exit_code) == ("from the follower\n", 2)
            piece = await follower.stream_logs("shared", from_byte=result.from_byte, max_bytes=len("from the follower"))
            assert piece.chunk.startswith("from the follower")
            # What one makes the other finds, whoever it was.
            made = await follower.create_tab(name="made by the follower")
            await made.execute("echo in the new tab")
            while "made by the follower" not in {row.name for row in (await owner.list_tabs()).tabs}:
                await anyio.sleep(0.02)
            assert "in the new tab" in (await owner.read_logs("made by the follower")).content
            await owner.create_tab(name="made by the owner")
            while "made by the owner" not in {row.name for row in (await follower.list_tabs()).tabs}:
                await anyio.sleep(0.02)
            theirs = await follower.tab("made by the owner")
            assert (await theirs.execute("echo hi")).output == "hi\n"
        # A follower that leaves takes nothing with it.
        assert (await mine.execute("echo still here")).output == "still here\n"
        raw = log_read.read_raw(mine.log_path, 0, 1 << 30)
        assert raw.count(b"from the follower\r\n") == 1


async def test_nobody_is_the_follower_of_a_process_that_has_no_server(instance: Instance) -> None:
    """Who starts the server owns it, whoever opened the instance first."""
    async with instance.open() as first, instance.open() as second:
        tab = await second.create_tab(name="shared")
        assert second.role == "owner"
        await tab.execute("echo kept")
        await first.server()
        assert first.role == "follower"
        assert (await first.read_logs("shared")).content.count("\nkept\n") == 1


async def test_who_only_reads_finds_the_tabs_that_another_made_later(instance: Instance) -> None:
    async with instance.open() as reader, instance.open() as maker:
        assert (await reader.list_tabs()).tabs == ()
        tab = await maker.create_tab(name="later")
        await tab.execute("echo kept")
        assert [row.name for row in (await reader.list_tabs()).tabs] == ["later"]
        assert (await reader.read_logs("later")).content.count("\nkept\n") == 1


async def test_nobody_is_the_follower_of_an_owner_that_leaves(instance: Instance) -> None:
    """Its logs may end before what was said last: a follower would miss it."""
    async with instance.open() as first, anyio.create_task_group() as tasks:
        tab = await first.create_tab(name="shared")
        await tab.execute("true")
        tasks.start_soon(first.aclose)
        for _ in range(20):  # it is under way, and takes some 50 ms
            await anyio.sleep(0)
        async with instance.open() as second:
            assert second.role == "owner"
            assert (await (await second.tab("shared")).execute("echo here")).output == "here\n"


async def test_both_type_into_one_tab(instance: Instance) -> None:
    """No command is lost, run twice or mixed with another, and each gets its own output."""
    async with instance.open() as owner, instance.open() as none_yet:
        tab = await owner.create_tab(name="shared")
        await none_yet.server()
        async with instance.open() as follower:

            async def run(terminals: muxwire.Terminals, word: str) -> None:
                for number in range(25):
                    mine = await terminals.tab("shared")
                    result = await mine.execute(f"echo {word} {number}", timeout=DEADLINE)
                    assert (result.output, result.exit_code) == (f"{word} {number}\n", 0)

            async with anyio.create_task_group() as both:
                both.start_soon(run, owner, "owner")
                both.start_soon(run, follower, "follower")
            end = (await follower.tab("shared")).next_byte
            while tab.next_byte < end:  # the owner writes the log, and hears the pane by a connection of its own
                await tab.pane.stream.changed()
        assert await tab.pane.stream.log.flushed()
        content = log_read.read_raw(tab.log_path, 0, 1 << 30)
        for word in (b"owner", b"follower"):
            for number in range(25):
                # Once as it is shown, once as it was written.
                assert (
                    content.count(b"\n%s %d\r\n" % (word, number)) + content.count(b"\x07%s %d\r\n" % (word, number))
                    == 1
                )


@pytest.mark.parametrize("shell", ["bash", "dash"])
async def test_a_command_of_another_process_is_waited_for_and_a_persons_is_not(instance: Instance, shell: str) -> None:
    """A command that it types after both attached is in no record that they have read."""
    async with instance.open() as owner:
        tab = await owner.create_tab(name="shared", shell=shell)
        await tab.execute("true")
        async with instance.open() as follower:
            mine = await follower.tab("shared")
            begun = tab.next_byte
            async with anyio.create_task_group() as both:
                both.start_soon(functools.partial(tab.execute, "echo be''gins; sleep 1", timeout=DEADLINE))
                await mine.wait_for(until="begins", from_byte=begun)
                assert (await mine.execute("echo next", timeout=DEADLINE)).output == "next\n"
            await tab.runner.settled()
            begun = mine.next_byte
            instance.tmux("send-keys", "-t", tab.pane_id, "echo be''gins; sleep 100", "Enter")
            await mine.wait_for(until="begins", from_byte=begun)
            with pytest.raises(muxwire.TabUnavailable, match=r"from a line that was typed|not started"):
                await mine.execute("echo never", timeout=DEADLINE)


async def test_a_follower_succeeds_the_owner(instance: Instance) -> None:
    stop = instance.state.parent / "stop"
    process, ((window, _), (flood, _)) = await instance.owner("echo hello", numbered(0, stop))
    async with instance.open() as follower:
        assert follower.role == "follower"
        tab, noisy = await follower.tab(window), await follower.tab(flood)
        # In the owner's offsets, also in a pane that never falls silent.
        while noisy.next_byte - noisy.pane.stream.ring.start < 1000:
            await noisy.pane.stream.changed()
        end = noisy.next_byte
        heard = noisy.pane.stream.ring.read(end - 500, end)
        await noisy.pane.stream.log.flushed()
        assert log_read.read_raw(noisy.log_path, end - 500, end) == heard
        process.kill()
        process.wait()
        await becomes_owner(follower)
        assert (await tab.execute("echo mine now")).output == "mine now\n"
        stop.touch()
        while noisy.state != "prompt":
            await noisy.pane.stream.changed()
        numbers, expected, odd = await lines_of(noisy)
        assert odd == []
        assert numbers == list(range(expected))
        assert not noisy.log_path.with_suffix(".gaps").exists() or not noisy.log_path.with_suffix(".gaps").read_text()
    assert NUMBERED.exists()


async def test_a_follower_that_attaches_while_the_owner_leaves(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not hear of that, becomes the owner all the same, and lacks nothing that the owner did not write."""
    served = connect._served
    async with instance.open() as owner:
        await (await owner.create_tab(name="shared")).execute("echo one")

        async def late(*given: Any) -> TmuxServer:
            server = await served(*given)
            await owner.aclose()
            return server

        monkeypatch.setattr(connect, "_served", late)
        async with instance.open() as follower:
            await becomes_owner(follower)
            tab = await follower.tab("shared")
            assert (await tab.execute("echo two")).output == "two\n"
            assert "\ntwo\n" in (await follower.read_logs("shared", strip_ansi=True)).content
            gaps = tab.log_path.with_suffix(".gaps")
            assert not gaps.exists() or not gaps.read_text()


async def test_a_tab_that_is_closed_while_a_follower_succeeds(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays closed, and is no open tab beside that."""
    succeeded = succession(monkeypatch)
    catch_up = follower._catch_up
    async with instance.open() as owner:
        for name in ("gone", "kept"):
            await (await owner.create_tab(name=name)).execute("true")
        async with instance.open() as second:
            tab = await second.tab("gone")

            async def meanwhile(*given: Any) -> None:
                instance.tmux("kill-window", "-t", tab.window_id)
                await closed(tab)
                await catch_up(*given)

            monkeypatch.setattr(follower, "_catch_up", meanwhile)
            await owner.aclose()
            await succeeded.wait()
            rows = [(row.name, row.closed) for row in (await second.list_tabs()).tabs]
            assert sorted(rows) == [("gone", True), ("kept", False)]  # each once
            assert (await (await second.tab("kept")).execute("echo on")).output == "on\n"


async def test_a_follower_that_succeeds_limits_the_logs(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the owner did, and not as long as it is a follower: it knows too little of what is written."""
    succeeded = succession(monkeypatch)
    limited: list[Path] = []
    monkeypatch.setattr(log, "keep_within", lambda home, *_: limited.append(home))
    async with instance.open() as owner:
        await (await owner.create_tab(name="shared")).execute("true")
        async with instance.open() as follower:
            store = (await follower.server()).log_store
            store._keep_within()
            assert limited == []
            await owner.aclose()
            await succeeded.wait()
            store._keep_within()
            assert limited == [instance.home]


async def test_a_follower_of_an_instance_without_a_name(instance: Instance) -> None:
    environ, state = instance.environ, instance.state
    async with muxwire.open_terminals(environ=environ, state_dir=state) as owner:
        await owner.create_tab(name="mine")
        name = owner.folders.instance
        async with muxwire.open_terminals(name, environ=environ, state_dir=state) as follower:
            assert follower.role == "follower"
            assert (await (await follower.tab("mine")).execute("echo hi")).output == "hi\n"
    with pytest.raises(muxwire.InstanceUnavailable, match="does not run"):
        async with muxwire.open_terminals(name, environ=environ, state_dir=state):
            pass
    assert not folders_for(name, environ, state_dir=state).socket_path.exists()


async def test_a_tab_that_another_process_just_made_is_found(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its id, its name and its pane, and by the list: before tmux's notification has been acted on."""
    monkeypatch.setattr(notifications, "OWN_SECONDS", DEADLINE)  # it never is
    async with instance.open() as owner, instance.open() as later:
        await owner.create_tab(name="first")
        await later.server()
        assert (owner.role, later.role) == ("owner", "follower")
        for maker, other in ((owner, later), (later, owner)):
            made = {name: await maker.create_tab(name=f"{name} of {maker.role}") for name in ("a", "b", "c")}
            targets = made["a"].window_id, made["b"].name, made["c"].pane_id
            for target, tab in zip(targets, made.values(), strict=True):
                found = await other.tab(target)
                assert (found.window_id, found.name, found.log_path) == (tab.window_id, tab.name, tab.log_path)
                assert (await found.execute(f"echo by {other.role}")).output == f"by {other.role}\n"
                # In the same offsets as those of who made it.
                while tab.next_byte != found.next_byte or found.state != "prompt":
                    await anyio.sleep(0.01)
            await maker.create_tab(name=f"listed of {maker.role}")
            assert f"listed of {maker.role}" in {row.name for row in (await other.list_tabs()).tabs}
        with pytest.raises(muxwire.NoSuchTarget):
            await later.tab("nosuch")
        assert len({row.pane_id for row in (await later.list_tabs()).tabs}) == 9


async def test_a_new_tab_that_several_calls_ask_for_at_once(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one tab, whoever asked tmux first."""
    monkeypatch.setattr(notifications, "OWN_SECONDS", 0)
    async with instance.open() as owner, instance.open() as later:
        await owner.create_tab(name="first")
        await later.server()
        for number in range(10):
            await owner.create_tab(name=f"tab {number}")
            found: list[muxwire.Tab] = []

            async def look(name: str, found: list[muxwire.Tab] = found) -> None:
                found.append(await later.tab(name))

            async with anyio.create_task_group() as calls:
                for _ in range(5):
                    calls.start_soon(look, f"tab {number}")
            assert len(set(found)) == 1
        assert len((await later.list_tabs()).tabs) == 11
