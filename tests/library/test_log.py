"""The log's writer: every byte, in order, at its offset, whatever the disk does."""

from __future__ import annotations

import errno
import os
import stat
import threading
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire.logs import store as log_module
from muxwire.logs.read import View, last_lines, read_range, read_raw
from muxwire.logs.segments import PIECE_COST, LogFile, spools_beside
from muxwire.logs.store import BATCH_BYTES, LogStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pane-@1.log"


async def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread, under a deadline."""
    with anyio.fail_after(30):
        while not condition():
            await anyio.sleep(0.002)


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


async def test_a_large_batch_goes_at_once(path: Path) -> None:
    async with LogStore() as store:
        log = store.open(path)
        log.append(b"x" * BATCH_BYTES)
        deadline = threading.Event()
        while path.stat().st_size < BATCH_BYTES:  # the event loop has not run: no timer could
            assert not deadline.wait(0.001)


async def test_nothing_wakes_an_idle_store(path: Path) -> None:
    async with LogStore() as store:
        log = store.open(path)
        log.append(b"x")
        await log.flushed()
        await until(lambda: store._armed is not None)
        assert store._armed is not None
        assert store._queue.empty()


async def test_what_was_appended_is_written_at_the_end(path: Path) -> None:
    async with LogStore() as store:
        store.open(path).append(b"last words")
    assert path.read_bytes() == b"last words"


async def test_what_was_appended_is_written_when_cancelled(path: Path) -> None:
    with anyio.CancelScope() as scope:
        async with LogStore() as store:
            store.open(path).append(b"last words")
            scope.cancel()
            await anyio.sleep_forever()
    assert path.read_bytes() == b"last words"


async def test_a_log_goes_on_where_its_file_ends(path: Path) -> None:
    for text in (b"first", b"second"):
        async with LogStore() as store:
            log = store.open(path)
            log.append(text)
    assert log.end == len(b"firstsecond")
    assert path.read_bytes() == b"firstsecond"


async def test_a_closed_log_is_whole_and_lets_go_of_its_file(path: Path) -> None:
    async with LogStore() as store:
        log = store.open(path)
        log.append(b"text")
        log.close()
        await store.written()
        assert path.read_bytes() == b"text"
        assert log.file._descriptor is None


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
        assert path.read_bytes() == b"abc"
        assert errors == [errno.ENOSPC]
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


async def test_a_log_that_fails_is_tried_again_while_others_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "RETRY_SECONDS", 0.05)
    async with LogStore() as store:
        (tmp_path / "later").write_bytes(b"")
        log, other = store.open(tmp_path / "later" / "pane-@1.log"), store.open(tmp_path / "pane-@2.log")
        log.append(b"text")
        assert not await log.flushed()
        (tmp_path / "later").unlink()

        def written() -> bool:
            other.append(b"x")
            store.hand_over()
            return log.path.exists()

        await until(written)


async def test_an_error_in_on_error_costs_no_log(tmp_path: Path, path: Path) -> None:
    def fail(_path: Path, _error: OSError) -> None:
        raise RuntimeError

    async with LogStore(fail) as store:
        store.open(tmp_path / "never" / "pane-@1.log").append(b"text")
        log = store.open(path)
        log.append(b"text")
        assert await log.flushed()


async def test_a_spool_that_cannot_be_removed_or_read_costs_no_log(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "PRUNE_BYTES", 1)
    logs, spools = tmp_path / "logs", spools_beside(tmp_path / "logs")
    (spools / "pane-@1.base").mkdir(parents=True)  # unlink(2) refuses it, also for root
    (spools / "pane-@2" / "no number").mkdir(parents=True)
    async with LogStore() as store:
        ended, unread, other = (store.open(logs / "pane-@1.log"), store.open(logs / "pane-@2.log"), store.open(path))
        ended.close(ended=True)
        await store.written()
        for log in (unread, other):
            log.append(b"text")
            assert await log.flushed()
        assert path.read_bytes() == b"text"


async def test_whatever_one_log_raises_the_others_are_written(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "RETRY_SECONDS", 0.01)
    real, broken = LogFile.write, True

    def write(file: LogFile) -> int:
        if broken and file.path != path:
            raise ValueError("no number")
        return real(file)

    monkeypatch.setattr(LogFile, "write", write)
    said: list[str] = []
    async with LogStore(lambda of, error: said.append(f"{of.name} {error.strerror}")) as store:
        log, other = store.open(tmp_path / "pane-@2.log"), store.open(path)
        for one in (log, other):
            one.append(b"text")
        assert await other.flushed()
        assert not await log.flushed()
        assert said == ["pane-@2.log ValueError: no number"]
        assert "ValueError: no number): what came from byte 0 on is not in it" in await log.trouble()
        broken = False
        assert await log.flushed()
        assert (path.read_bytes(), await log.trouble()) == (b"text", "")


async def test_a_close_that_fails_is_said_and_not_done_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After close(2) has failed the number is free, and may soon be that of somebody else's file."""
    failures = [OSError(errno.EIO, "Input/output error")]
    real, errors = os.close, list[int | None]()

    def close(descriptor: int) -> None:
        real(descriptor)  # EBADF if this is the second time
        if descriptor == opened and failures:
            raise failures.pop()

    async with LogStore(lambda _path, error: errors.append(error.errno)) as store:
        log, other = store.open(path), store.open(path.with_name("pane-@2.log"))
        log.append(b"text")
        assert await log.flushed()
        opened = log.file._descriptor
        monkeypatch.setattr(os, "close", close)
        log.close()
        other.append(b"text")
        assert await other.flushed()
        await store.written()
        assert (log.file.error, log.file._descriptor) == (None, None)
    assert errors == [errno.EIO]


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
        assert log.end == 2005
        assert path.read_bytes() == kept + bytes(1400) + b"after"
        assert path.with_suffix(".gaps").read_text() == '{"offset": 600, "size": 1400}\n'
        assert await log.read(500, 3000) == kept[500:] + b"after"
        piece = read_range(path, 500, 50, View())
        assert (piece.data, piece.next_offset, piece.dropped) == (b"05" * 25, 550, 0)
        piece = read_range(path, 600, 10_000, View(final=True))
        assert (piece.data, piece.next_offset, piece.end, piece.dropped) == (b"after", 2005, 2005, 1400)
        assert last_lines(path, 5, View()).content == kept.decode() + "after"
        assert read_raw(path, 700, 800) == b""


async def test_tiny_chunks_cannot_outgrow_the_bound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "BACKLOG_MAX", 10_000)
    async with LogStore() as store:
        log = store.open(path)
        for _ in range(1000):
            log.append(b"x")
        assert len(log.pending) < 200
        assert log.end == 1000


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


async def test_what_was_written_takes_no_room_any_more(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "BACKLOG_MAX", 64 * PIECE_COST)
    async with LogStore() as store:
        log = store.open(path)
        for _ in range(100):
            for _ in range(10):
                log.append(b"x")
            assert await log.flushed()
    assert path.read_bytes() == b"x" * 1000


async def test_many_logs_share_one_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    async with LogStore() as store:
        logs = [store.open(tmp_path / f"pane-@{n}.log") for n in range(50)]
        for turn in range(20):
            for log in logs:
                log.append(b"%d " % turn)
        assert sum("muxwire-log" in thread.name for thread in threading.enumerate()) == 1
    assert threading.active_count() <= before + 2  # anyio's own idle workers
    expected = b"".join(b"%d " % turn for turn in range(20))
    assert all(log.path.read_bytes() == expected for log in logs)
