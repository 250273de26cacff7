"""A log in several files is one log: offsets go on, readers see no seam, what is retired is said to be gone."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from muxwire.host.patterns import Pattern
from muxwire.logs import segments as log_segments, store as log_module
from muxwire.logs.grep import Search, last_matches
from muxwire.logs.limits import LogLimits
from muxwire.logs.read import LogFileReader, View, last_lines, read_range, read_raw
from muxwire.logs.segments import UNKNOWN_SIZE, gaps_path, layout_of, open_log, retire, segment_path
from muxwire.logs.store import LogStore

SMALL = LogLimits(segment_bytes=1000)
FINAL = View(final=True)
LINES = b"".join(b"line %05d\n" % number for number in range(1000))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "i" / "1" / "logs"
    folder.mkdir(parents=True)
    return folder / "pane-@1.log"


async def write(path: Path, data: bytes, *, piece: int = 100, limits: LogLimits = SMALL) -> None:
    async with LogStore(limits=limits) as store:
        log = store.open(path)
        for begin in range(0, len(data), piece):
            log.append(data[begin : begin + piece])
            assert await log.flushed()


async def test_segments_are_named_by_their_offsets_and_make_up_the_whole(path: Path) -> None:
    await write(path, LINES)
    names = sorted(found.name for found in path.parent.glob("*.log"))
    assert names == [f"pane-@1.{offset:016d}.log" for offset in range(0, 10000, 1000)] + ["pane-@1.log"]
    assert b"".join((path.parent / name).read_bytes() for name in names) == LINES
    assert {found.stat().st_mode & 0o777 for found in path.parent.iterdir()} == {0o600}


async def test_a_log_goes_on_behind_its_segments_whoever_wrote_last(path: Path) -> None:
    await write(path, LINES[:2500])
    with path.open("ab") as other:  # as `cat >>` of somebody who knows nothing of segments
        other.write(LINES[2500:4700])
    async with LogStore(limits=SMALL) as store:
        log = store.open(path)
        assert log.end == 4700
        log.append(LINES[4700:])
        assert log.end == len(LINES)
        assert await log.read(4690, 4710) == LINES[4690:4710]
    assert read_raw(path, 0, len(LINES)) == LINES
    assert [segment.first for segment in layout_of(path).older] == [0, 1000, 2000]


async def test_readers_see_no_seam(path: Path) -> None:
    await write(path, LINES, piece=130)
    chosen = random.Random(7)
    for _ in range(100):
        begin = chosen.randrange(len(LINES))
        end = min(len(LINES), begin + chosen.randrange(3000))
        assert read_raw(path, begin, end) == LINES[begin:end]
        piece = read_range(path, begin, end - begin or 1, FINAL)
        assert LINES[begin:].startswith(piece.data)
        assert piece.next_offset == begin + len(piece.data)
    for lines in (1, 99, 100, 101, 555, 1000, 2000):
        tail = last_lines(path, lines, FINAL)
        assert tail.content.encode() == LINES[-10 * lines - lines :]
        assert (tail.truncated, tail.first_byte) == (lines < 1000, 0)
    found = last_matches(path, Search(Pattern("line 00[19]99$")), 10, FINAL)
    assert found.content == "line 00199\nline 00999\n"


async def test_what_is_retired_is_counted_as_dropped(path: Path) -> None:
    await write(path, LINES)
    while older := layout_of(path).older:
        retire(path, older[0])
        first = older[0].last
        piece = read_range(path, 500, 10, FINAL)
        assert (piece.data, piece.dropped, piece.first) == (LINES[first : first + 10], first - 500, first)
        tail = last_lines(path, 5000, FINAL)
        assert tail.content.encode() == LINES[first:]
        assert (tail.truncated, tail.first_byte, tail.next_byte) == (True, first, len(LINES))
        assert last_matches(path, Search(Pattern("line")), 5000, FINAL).truncated
        assert read_raw(path, 0, len(LINES)) == LINES[first:]
    # Nothing but the file that is written is left, and its offsets are still known.
    await write(path, b"more")
    assert read_raw(path, len(LINES), len(LINES) + 4) == b"more"


async def test_a_death_at_any_step_of_a_rotation_costs_no_offset(path: Path) -> None:
    await write(path, LINES[:900])
    log_segments.record(path)  # died before the file was renamed
    await write(path, LINES[900:1500])
    path.rename(segment_path(path, 1000))  # died before the next was begun
    with LogFileReader(path) as log:
        assert (log.first, log.end) == (0, 1500)
    await write(path, LINES[1500:2100])
    assert read_raw(path, 0, 5000) == LINES[:2100]
    older = layout_of(path).older
    log_segments.record(path, first=older[0].last)  # died before the segment was removed
    assert read_raw(path, 0, 5000) == LINES[:2100]


async def test_a_rotation_while_somebody_reads_shows_each_byte_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(path, LINES[:3500])
    real, looks = log_segments._open, 0

    def open_and_rotate(opened: Path) -> int:
        nonlocal looks
        looks += 1
        if opened == path and looks < 6:
            path.rename(segment_path(path, 3000))
            path.write_bytes(LINES[3500:4000])
        return real(opened)

    monkeypatch.setattr(log_segments, "_open", open_and_rotate)
    assert read_raw(path, 0, 9999) == LINES[:4000]
    layout, opened = open_log(path)
    assert [first for _, first, _ in opened] == [0, 1000, 2000, 3000, 3500]
    for descriptor, _, _ in opened:
        os.close(descriptor)
    assert layout.live_first == 3500


async def test_a_reader_keeps_what_is_retired_under_it(path: Path) -> None:
    await write(path, LINES)
    with LogFileReader(path) as log:
        for segment in layout_of(path).older:
            retire(path, segment)
        assert log.pread(0, len(LINES)) == LINES


async def test_holes_in_segments_are_where_they_were(path: Path) -> None:
    async with LogStore(limits=SMALL) as store:
        log = store.open(path)
        expected = b""
        for number in range(10):
            log.append(LINES[number * 700 : number * 700 + 700])
            expected += LINES[number * 700 : number * 700 + 700]
            log.lose(150)
        log.lose(UNKNOWN_SIZE, reason="because", since=1.5, until=2.5)
        log.append(b"end")
        assert await log.flushed()
        assert log.end == 10 * 850 + UNKNOWN_SIZE + 3
    assert read_raw(path, 0, 99999) == expected + b"end"
    assert last_lines(path, 1, FINAL).content == expected.decode().splitlines()[-1] + "end"
    records = gaps_path(path).read_text().splitlines()
    assert '{"offset": 700, "size": 150}' in records
    assert records[-1] == '{"offset": 8500, "size": 1, "reason": "because", "since": 1.5, "until": 2.5}'
    piece = read_range(path, 8400, 1000, FINAL)
    assert (piece.data, piece.dropped) == (b"end", 101)


async def test_the_writer_keeps_few_files_open_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "kept_max", lambda: 5)
    async with LogStore(limits=SMALL) as store:
        logs = [store.open(tmp_path / f"pane-@{number}.log") for number in range(30)]
        for begin in range(0, 3000, 300):
            for log in logs:
                log.append(LINES[begin : begin + 300])
            await store.written()
        assert sum(log.file._descriptor is not None for log in logs) <= 5
    for log in logs:
        assert read_raw(log.path, 0, 9999) == LINES[:3000]


def test_the_end_of_two_gigabytes_costs_what_the_end_of_a_small_log_does(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long it takes, the benchmarks say; what it reads is the same on every machine."""
    size, block = 64 << 20, LINES * 10
    for first in range(0, 2 << 30, size):
        with segment_path(path, first).open("wb") as segment:
            segment.truncate(size)
            segment.seek(size - len(block))
            segment.write(block)
    log_segments.record(path)
    path.write_bytes(LINES[:-5])
    alone = path.with_name("pane-@2.log")
    alone.write_bytes(LINES * 20)
    read, real = 0, os.pread

    def pread(descriptor: int, count: int, offset: int) -> bytes:
        nonlocal read
        data = real(descriptor, count, offset)
        read += len(data)
        return data

    monkeypatch.setattr(os, "pread", pread)

    def cost(log: Path, lines: int) -> int:
        nonlocal read
        read = 0
        assert last_lines(log, lines, FINAL).returned_lines == lines
        return read

    assert 0 < cost(path, 500) <= cost(alone, 500) < 200_000
    # From the segment before, too.
    assert cost(path, 1500) <= cost(alone, 1500) < 200_000
    assert last_lines(path, 500, FINAL).next_byte == (2 << 30) + len(LINES) - 5


async def test_segments_of_other_tabs_are_not_ours(path: Path) -> None:
    await write(path, LINES[:2500])
    await write(path.with_name("pane-@1-%7.log"), LINES[:3500])
    await write(path.with_name("pane-@11.log"), LINES[:4500])
    assert len(layout_of(path).older) == 2
    assert read_raw(path, 0, 9999) == LINES[:2500]
    assert read_raw(path.with_name("pane-@1-%7.log"), 0, 9999) == LINES[:3500]
    await write(path, LINES[2500:])
    assert read_raw(path, 0, 99999) == LINES
