"""The log's writer: every byte, in order, at its offset, whatever the disk does."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import anyio
import pytest

from muxwire.logs import store as log_module
from muxwire.logs.read import View, last_lines, read_range, read_raw
from muxwire.logs.segments import LogFile
from muxwire.logs.store import LogStore
from tests.deadline import until


async def test_every_byte_is_in_the_file(path: Path) -> None:
    chunks = [bytes([n % 256]) * (n * 37 % 5000) for n in range(400)]
    async with LogStore() as store:
        log = store.open(path)
        for chunk in chunks:
            log.append(chunk)
        assert log.end == len(b"".join(chunks))
        assert await log.flushed()
        assert path.read_bytes() == b"".join(chunks)
        assert await log.read(10, 5000) == b"".join(chunks)[10:5000]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_small_batch_is_written_without_being_asked_for(path: Path) -> None:
    async with LogStore() as store:
        log = store.open(path)
        for text in (b"one", b"two"):
            log.append(text)
            await until(lambda text=text: path.read_bytes().endswith(text))  # type: ignore[misc]


async def test_what_was_appended_is_written_when_cancelled(path: Path) -> None:
    with anyio.CancelScope() as scope:
        async with LogStore() as store:
            store.open(path).append(b"last words")
            scope.cancel()
            await anyio.sleep_forever()
    assert path.read_bytes() == b"last words"


async def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    errors: list[int | None] = []
    async with LogStore(lambda _path, error: errors.append(error.errno)) as store:
        log = store.open(path)
        log.append(b"text")
        assert not await log.flushed()
    assert errors == [errno.ELOOP]
    assert not (tmp_path / "elsewhere").exists()


async def test_a_full_disk_is_said_once_and_costs_nothing_when_there_is_room_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "RETRY_SECONDS", 0.01)
    room = 3
    real = os.writev

    def writev(descriptor: int, pieces: list[bytes]) -> int:
        nonlocal room
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        room -= (taken := min(room, len(b"".join(pieces))))
        return real(descriptor, [b"".join(pieces)[:taken]])

    monkeypatch.setattr(os, "writev", writev)
    errors: list[int | None] = []
    async with LogStore(lambda _path, error: errors.append(error.errno)) as store:
        log = store.open(path)
        for text in (b"ab", b"cd", b"ef"):
            log.append(text)
            assert await log.flushed() == (text == b"ab")
        assert (path.read_bytes(), errors) == (b"abc", [errno.ENOSPC])
        room = 1000
        await until(lambda: path.read_bytes() == b"abcdef")  # by itself
        assert await log.flushed()
        assert store._settled == store._taken
        room = 0
        log.append(b"gh")
        assert not await log.flushed()
        assert errors == [errno.ENOSPC] * 2


async def test_whoever_waits_for_the_file_has_it_tried_again(tmp_path: Path) -> None:
    async with LogStore() as store:
        (tmp_path / "later").write_bytes(b"")  # a file where the directory should be
        log = store.open(tmp_path / "later" / "pane-@1.log")
        log.append(b"text")
        assert not await log.flushed()
        (tmp_path / "later").unlink()
        assert await log.flushed()
    assert log.path.read_bytes() == b"text"


async def test_a_disk_that_stands_still_makes_a_hole_of_what_is_too_much(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "BACKLOG_MAX", 1000)
    standing = threading.Event()
    real = LogFile.write

    def write(file: LogFile) -> int:
        assert standing.wait(10)
        return real(file)

    monkeypatch.setattr(LogFile, "write", write)
    async with LogStore() as store:
        log = store.open(path)
        for number in range(20):
            log.append(b"%02d" % number * 50)
        standing.set()
        assert await log.flushed()
        log.append(b"after")
        assert await log.flushed()
        kept = b"".join(b"%02d" % number * 50 for number in range(6))
        assert (log.end, path.read_bytes()) == (2005, kept + bytes(1400) + b"after")
        assert path.with_suffix(".gaps").read_text() == '{"offset": 600, "size": 1400}\n'
        assert await log.read(500, 3000) == kept[500:] + b"after"
        piece = read_range(path, 500, 50, View())
        assert (piece.data, piece.next_offset, piece.dropped) == (b"05" * 25, 550, 0)
        piece = read_range(path, 600, 10_000, View(final=True))
        assert (piece.data, piece.next_offset, piece.end, piece.dropped) == (b"after", 2005, 2005, 1400)
        assert (last_lines(path, 5, View()).content, read_raw(path, 700, 800)) == (kept.decode() + "after", b"")


async def test_half_of_the_bound_must_be_free_before_more_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk at the edge would else make a hole of every other chunk."""
    monkeypatch.setattr(log_module, "BACKLOG_MAX", 1000)
    store = LogStore()
    assert store.admit(900)
    assert not store.admit(200)
    store._settled = 300
    assert not store.admit(200)
    store._settled = 700
    assert store.admit(200)
