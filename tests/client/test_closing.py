"""When the connection ends, every caller knows at once, and why."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import anyio
import pytest

from muxwire.client.client import ControlClient
from muxwire.client.watchdog import process_table
from muxwire.errors import ConnectionClosed, TmuxUnavailable
from muxwire.protocol import events
from tests.deadline import DEADLINE
from tests.doubles.private import open_private_tmux, start_tmux
from tests.doubles.transports import MemoryTransport
from tests.processes import server_pid


async def test_sigkill_of_tmux_fails_all_callers() -> None:
    reasons: list[str] = []

    async def ask(client: ControlClient) -> None:
        with pytest.raises(ConnectionClosed) as closed:
            await client.command("display-message", "-p", "x")
        reasons.append(closed.value.reason)

    async with open_private_tmux() as tmux, anyio.create_task_group() as tasks:
        pid = await server_pid(tmux.client)
        os.kill(pid, signal.SIGSTOP)
        for _ in range(50):
            tasks.start_soon(ask, tmux.client)
        await anyio.wait_all_tasks_blocked()
        os.kill(pid, signal.SIGKILL)
        await tmux.client.wait_closed()
        assert tmux.client.closed
        with pytest.raises(ConnectionClosed):
            await tmux.client.command("list-windows")
        with pytest.raises(ConnectionClosed):
            tmux.client.submit(("list-windows",))
    assert reasons == ["server exited unexpectedly"] * 50


async def test_kill_server_ends_it_in_order() -> None:
    async with open_private_tmux() as tmux:
        tmux.client.submit(("kill-server",))
        tmux.client.poll_until(lambda: False, DEADLINE)  # which leaves the end to the reader
        await tmux.client.wait_closed()
        assert events.Exit(b"") in tmux.observer.notifications
        assert tmux.client.close_reason


async def test_what_keeps_tmux_from_starting_is_said() -> None:
    async with ControlClient(start_tmux("/nonexistent/folder/s")) as client:
        with pytest.raises(ConnectionClosed, match=r"/nonexistent/folder/s|server exited"):
            await client.command("list-windows")


async def test_no_tmux_is_said(tmp_path: Path) -> None:
    with pytest.raises(TmuxUnavailable, match="no-tmux"):
        start_tmux(str(tmp_path / "s"), tmux=str(tmp_path / "no-tmux"))


async def test_closing_a_named_server_leaves_it_running(tmp_path: Path) -> None:
    socket = str(tmp_path / "s")
    async with ControlClient(start_tmux(socket, ephemeral=False)) as client:
        pid = await server_pid(client)
        await client.command("set-option", "-s", "@kept", "yes")
    async with ControlClient(start_tmux(socket)) as client:
        assert await server_pid(client) == pid
        assert await client.command("show-options", "-sv", "@kept") == (b"yes",)


async def test_a_broken_stream_fails_its_callers() -> None:
    transport = MemoryTransport()
    async with ControlClient(transport) as client:
        (pending,) = client.submit(("list-windows",))
        transport.feed(b"%begin 1 1 1\n%end 1 1 1\n%begin 1 2 1\n")
        await client.wait_closed()
        assert await pending.wait() == ()
        assert "not sent" in client.close_reason


async def test_the_end_of_the_stream_gives_the_transports_reason() -> None:
    transport = MemoryTransport()
    heard: list[object] = []
    async with ControlClient(transport, on_notification=heard.append) as client:
        (pending,) = client.submit(("list-windows",))
        transport.feed(b"%begin 1 1 1\nhalf")
        transport.feed_eof("ssh: no route to host")
        with pytest.raises(ConnectionClosed, match="no route to host"):
            await pending.wait()
        assert heard == [events.ConnectionLost()]


async def test_a_hung_server_does_not_hold_up_closing() -> None:
    async with open_private_tmux() as tmux:
        pid = await server_pid(tmux.client)
        tmux.process.watchdog.watch_server(pid)
        os.kill(pid, signal.SIGSTOP)
        await tmux.client.aclose()  # once more at the end of the block
    assert (tmux.client.close_reason, process_table().keys() & {pid, tmux.process.pid}) == ("it was closed", set())
