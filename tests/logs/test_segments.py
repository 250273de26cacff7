"""A log in several files is one log: offsets go on, readers see no seam, what is retired is said to be gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muxwire.logs import segments as log_segments
from muxwire.logs.limits import LogLimits
from muxwire.logs.read import LogFileReader, View, last_lines, read_range, read_raw
from muxwire.logs.segments import (
    UNKNOWN_SIZE,
    Spool,
    gaps_path,
    layout_of,
    open_log,
    retire,
    segment_path,
    spooled,
    spools_beside,
)
from muxwire.logs.sizes import PaneSize
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
        assert (log.end, await log.read(4690, 4710)) == (len(LINES), LINES[4690:4710])
    assert read_raw(path, 0, len(LINES)) == LINES
    assert [segment.first for segment in layout_of(path).older] == [0, 1000, 2000]


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


async def test_a_log_that_cannot_be_opened_whole_leaves_no_file_open(path: Path) -> None:
    await write(path, LINES)
    segment_path(path, 9999).symlink_to(path)  # is refused, like a file of another user
    before = [*Path("/proc/self/fd").iterdir()]
    with pytest.raises(OSError, match="symbolic links"):
        open_log(path)
    assert [*Path("/proc/self/fd").iterdir()] == before


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


async def test_a_hole_cuts_off_nothing_that_another_process_has_written(path: Path) -> None:
    async with LogStore() as store:
        log = store.open(path)
        with path.open("ab") as other:
            other.write(LINES[:100])
        log.lose(10)
        assert await log.flushed()
    assert path.read_bytes() == LINES[:100]


def test_a_spool_is_read_and_pruned_by_the_offsets_of_its_files(path: Path) -> None:
    folder, spool = spools_beside(path.parent) / path.stem, Spool(path)
    for one in (folder, folder.with_name("pane-@2.gone")):  # the second was about to be removed
        one.mkdir(parents=True)
    assert spooled(path.parent) == [path]
    for first, data in (("10", b"abcde"), ("15", b"fghi"), ("19", b"j")):
        (folder / first).write_bytes(data)
    read = {offset: spool.read(offset) for offset in (3, 10, 13, 15, 20)}
    begins = (10, b"abcde")  # also before what is kept
    assert read == {3: begins, 10: begins, 13: (13, b"de"), 15: (15, b"fghi"), 20: (20, b"")}
    left = []
    for held in (14, 15, 18, 99):
        spool.prune(held)
        left.append(sorted(file.name for file in folder.iterdir()))
    assert left == [["10", "15", "19"], ["15", "19"], ["15", "19"], ["19"]]  # the newest is still written
    spool.remove()
    assert (spool.read(0), list(folder.parent.iterdir())) == ((-1, b""), [])


async def test_what_is_said_of_a_size_is_read_again(path: Path) -> None:
    async with LogStore() as store:
        log = store.open(path)
        log.append(b"ab")
        log.resized(100, 40, sure=False)
        log.append(b"c")
        log.resized(90, 30, blank=False)
    assert layout_of(path).sizes == (PaneSize(2, 100, 40, sure=False), PaneSize(3, 90, 30, blank=False))
