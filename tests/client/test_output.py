"""Output reaches its pane from the first byte, and a full pipe in the other direction holds nothing up."""

from __future__ import annotations

import anyio

from muxwire.client.client import MAX_BYTES, MAX_BYTES_PER_PANE, ControlClient, UnknownOutput
from muxwire.ids import PaneId, pane_id
from tests.doubles.private import Observer, open_private_tmux
from tests.doubles.transports import MemoryTransport

PANE = pane_id("%1")


async def made_window(client: ControlClient, command: str) -> PaneId:
    (row,) = await client.command("new-window", "-d", "-P", "-F", "#{pane_id}", command)
    return pane_id(row.decode())


def collect(client: ControlClient, observer: Observer, pane: PaneId) -> bytearray:
    written = observer.outputs[pane] = bytearray()
    assert client.attach_pane(pane, written.extend) == 0
    return written


async def test_first_bytes_of_new_panes_are_kept_among_floods() -> None:
    async with open_private_tmux() as tmux:
        client, observer = tmux.client, tmux.observer
        for _ in range(4):
            collect(client, observer, await made_window(client, "exec yes 'all work and no play'"))
        for number in range(40):
            pane = await made_window(client, f"echo first {number}; exec cat")
            # Others run, and the reader with them, before the pane is claimed.
            await client.command("display-message", "-p", "x")
            collect(client, observer, pane)
            await observer.until_output(pane, b"first %d\r\n" % number)
            assert observer.outputs[pane] == b"first %d\r\n" % number
            await client.command("kill-pane", "-t", pane)
        assert client.unknown.kept_bytes == 0


async def test_a_detached_pane_is_heard_no_more() -> None:
    transport = MemoryTransport()
    observer = Observer()
    async with ControlClient(transport) as client:
        client.taps.append(observer.wake)
        written = collect(client, observer, PANE)
        transport.feed(b"%output %1 a\\012\n")
        await observer.until(lambda: written == b"a\n")
        client.detach_pane(PANE)
        client.detach_pane(pane_id("%2"))
        transport.feed(b"%output %1 b\n%output %2 c\n%output %3 d\n")
        await observer.until(lambda: client.unknown.kept_bytes > 0)
        assert (client.unknown.kept_bytes, written) == (1, bytearray(b"a\n"))
        transport.feed_eof()


def test_unknown_output_of_all_panes_is_bounded() -> None:
    unknown = UnknownOutput()
    for number in range(MAX_BYTES // MAX_BYTES_PER_PANE + 3):
        unknown.keep(pane_id(f"%{number}"), b"c" * MAX_BYTES_PER_PANE)
    assert unknown.kept_bytes == MAX_BYTES


def test_what_follows_a_drop_is_dropped_too() -> None:
    unknown = UnknownOutput()
    unknown.keep(PANE, b"first")
    unknown.keep(PANE, b"x" * MAX_BYTES_PER_PANE)
    unknown.keep(PANE, b"later")
    assert unknown.take(PANE) == (b"first", MAX_BYTES_PER_PANE + 5)
    unknown.keep(PANE, b"again")
    assert unknown.take(PANE) == (b"again", 0)


async def test_more_than_the_pipe_holds_is_sent_and_answered() -> None:
    """Tmux reads commands while its answers wait, and the client reads answers while its commands wait."""
    text = "x" * 4000
    async with open_private_tmux() as tmux:
        sent = tmux.client.submit(*(("display-message", "-p", f"{number} {text}") for number in range(3000)))
        for number, pending in enumerate(sent):
            assert await pending.wait() == (f"{number} {text}".encode(),)


async def test_closing_while_the_pipe_is_full_ends() -> None:
    transport = MemoryTransport(room=0)
    async with ControlClient(transport) as client:
        client.submit(("list-windows",))
        await anyio.wait_all_tasks_blocked()
    assert transport.closed
