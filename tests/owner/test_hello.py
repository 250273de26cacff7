"""The first line of a client: what it may say, and that nothing behind it is taken."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from hypothesis import example, given, strategies as st

import muxwire
import muxwire_reach
from muxwire.owner import hello
from muxwire.owner.hello import is_newer, read_hello, receive_hello
from muxwire.owner.server import Owner
from muxwire_reach import PROTOCOL
from tests.beside import beside

SAID: dict[str, Any] = {
    "version": "0.2", "kind": "verb", "words": ["ls", "--json"], "directory": "/tmp",
    "sizes": ((80, 24), None, None), "terminal": "/dev/pts/1", "environ": {"HOME": "/root"},
}  # fmt: skip


def written(said: object, protocol: int = PROTOCOL) -> bytes:
    return ascii((protocol, said)).encode() + b"\n"


def test_what_a_client_says_is_read() -> None:
    read = read_hello(written(SAID))
    assert read is not None
    assert (read.kind, read.words, read.sizes) == ("verb", ["ls", "--json"], ((80, 24), None, None))


def test_what_our_client_says_is_read() -> None:
    line = muxwire_reach.hello("mcp", ["serve", "--name", 'a "quoted" ä \udcff'], dict(os.environ))
    read = read_hello(line)
    assert line.count(b"\n") == 1
    assert read is not None
    assert (read.kind, read.words[-1]) == ("mcp", 'a "quoted" ä \udcff')
    assert read.environ["PATH"]


@pytest.mark.parametrize(
    "line",
    [
        written(SAID, PROTOCOL + 1),
        written(SAID | {"more": 1}),
        written([*SAID]),
        *(written({key: value for key, value in SAID.items() if key != name}) for name in sorted(SAID)),
    ],
)
def test_another_protocol_or_other_fields_are_no_hello(line: bytes) -> None:
    assert read_hello(line) is None


@given(st.binary(max_size=200))
@example(b"[" * 100_000)
def test_garbage_is_no_hello(line: bytes) -> None:
    assert read_hello(line) is None


@pytest.mark.parametrize(
    ("mine", "other", "newer"),
    [("0.2.0", "0.1.9", True), ("0.10.0", "0.9.1", True), ("0.1.0", "0.1.0", False), ("0.1.0", "0.2.0", False)],
)
def test_a_newer_version(mine: str, other: str, *, newer: bool) -> None:
    assert is_newer(mine, other) is newer


def test_the_client_is_of_the_version_of_the_package() -> None:
    assert muxwire.__version__ == muxwire_reach.VERSION


def test_nothing_stays_open_if_no_process_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    before = [*Path("/proc/self/fd").iterdir()]
    with pytest.raises(FileNotFoundError):
        muxwire_reach.started("work", str(tmp_path / "run"), {})
    assert [*Path("/proc/self/fd").iterdir()] == before


@pytest.fixture
def pair() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    return ours, theirs


async def test_another_user_is_not_even_heard(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muxwire.owner.server.peer_user", lambda _: os.getuid() + 1)
    ours, theirs = pair
    with ours, theirs:
        theirs.sendall(muxwire_reach.hello("verb", ["ls"], {}))
        await Owner._serve(cast("Any", None), ours)  # what it says would be asked of the owner


async def test_no_byte_after_the_line_is_taken(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    with ours, theirs:
        theirs.sendall(b"first\nsecond\n")
        assert (await receive_hello(ours), ours.recv(100)) == (b"first\n", b"second\n")


async def test_a_line_may_come_in_pieces(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    with ours, theirs:
        async with beside(receive_hello, ours) as got:
            for piece in (b"a" * 70_000, b"b", b"c\nrest"):
                theirs.sendall(piece)
                await anyio.wait_all_tasks_blocked()
        assert (got, ours.recv(100)) == ([b"a" * 70_000 + b"bc\n"], b"rest")


@pytest.mark.parametrize("how", ["hangs up", "says too much", "says nothing"])
async def test_who_does_not_say_hello_is_not_served(
    pair: tuple[socket.socket, socket.socket], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pair
    monkeypatch.setattr(hello, "HELLO_MAX", 1000)
    monkeypatch.setattr(hello, "HELLO_SECONDS", 0.1 if how == "says nothing" else 50)
    with ours, theirs:
        if how == "hangs up":
            theirs.sendall(b"half a")
            theirs.close()
        elif how == "says too much":
            theirs.sendall(b"a" * 5000)
        assert await receive_hello(ours) == b""
