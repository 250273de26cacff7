"""When which byte of a log came: records, what is known of a time, and what is kept of many."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from muxwire.errors import InvalidArgument
from muxwire.logs import times as times_module
from muxwire.logs.store import LogStore
from muxwire.logs.times import LogTimes, Record, offset_at, read_times, thinned, times_path

NOW = 10_000.0
# Output, a pause of 100 s, output; then a time in which muxwire did not run.
KNOWN: list[Record] = [(9000.0, 0), (9000.5, 40), (9100.5, 40), (9100.6, 70), (9500.0, 90)]


@pytest.mark.parametrize(
    ("records", "ago", "says"),
    [
        (KNOWN, 700, "bytes 70 to 90 came between 899.4 and 500.0 s ago"),
        (KNOWN, 1001, "recorded only since 1000.0 s ago"),
        ([], 1, "not recorded when the bytes"),
    ],
)
def test_what_is_not_known_is_said(records: list[Record], ago: float, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        offset_at(records, ago, NOW)


def test_what_shows_nothing_may_have_come_at_any_time() -> None:
    """A verb that attaches writes a mark: where no output came beside it, the screen was the same all the time."""
    asked = []

    def shows(begin: int, end: int) -> bool:
        asked.append((begin, end))
        return end > 90

    assert offset_at(KNOWN, 700, NOW, shows) == 70
    with pytest.raises(InvalidArgument, match="muxwire was not running then"):
        offset_at([*KNOWN, (9900.0, 95)], 300, NOW, shows)
    assert asked == [(70, 90), (90, 95)]


def test_long_ago_may_be_less_exact() -> None:
    assert offset_at([(0.0, 0), (5.0, 9), (65.0, 20)], 9960.0, NOW) == 9


def test_a_clock_that_was_set_back() -> None:
    records = [(9000.0, 0), (9001.0, 10), (8000.0, 10), (8000.1, 30)]
    assert (offset_at(records, 5, 8010.0), offset_at(records, 9.95, 8010.0)) == (30, 10)


@pytest.mark.parametrize(
    ("notes", "records"),
    [
        # While output comes the newest record moves on, for a step.
        ([(1.0, 1.0, 0, 5, True), (1.05, 1.05, 5, 6, True), (1.09, 1.09, 6, 9, True)], [(1.0, 0), (1.09, 9)]),
        ([(1.0, 1.0, 0, 5, True), (1.2, 1.2, 5, 6, True)], [(1.0, 0), (1.0, 5), (1.2, 5), (1.2, 6)]),
        ([(1.0, 1.0, 0, 5, True), (1.05, 1.12, 5, 6, True)], [(1.0, 0), (1.0, 5), (1.12, 6)]),
        ([(1.0, 1.0, 0, 5, True), (9.0, 9.2, 5, 5, True)], [(1.0, 0), (1.0, 5), (9.2, 5)]),
        # Of what was read late nothing says that it came now.
        (
            [(1.0, 1.0, 0, 5, True), (9.0, 9.0, 5, 8, False), (9.1, 9.1, 8, 8, True)],
            [(1.0, 0), (1.0, 5), (9.0, 8), (9.1, 8)],
        ),
    ],
)
def test_what_is_noted(path: Path, notes: list[tuple[float, float, int, int, bool]], records: list[Record]) -> None:
    times = LogTimes(path)
    for began, came, begin, end, present in notes:
        times.note(began, came, begin, end, present=present)
    times.flush()
    assert read_times(times_path(path)) == records


def test_many_records_are_thinned_and_what_was_long_ago_is_still_known(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(times_module, "RECORDS_MAX", 4000)
    days = [(second / 1.0, second) for second in range(100_000)]
    kept = thinned(days, 100_000.0)
    assert len(kept) < 2500
    for ago in [random.Random(ago).uniform(1, 99_000) for ago in range(200)]:
        assert offset_at(kept, ago, 100_000.0) == pytest.approx(100_000 - ago, abs=max(2, ago / 100))
    times = LogTimes(path)
    for second in range(9000):
        times.note(float(second), float(second), second, second + 1, present=True)
    assert len(read_times(times_path(path))) < 4000
    assert offset_at(read_times(times_path(path)), 8000, 9000.0) == pytest.approx(1000, abs=80)


async def test_a_log_notes_its_times(path: Path) -> None:
    async with LogStore() as store:
        log = store.open(path)
        log.append(b"one")
        assert await log.flushed()
        log.late()
        log.append(b"two")
        log.live()
        assert await log.flushed()
        await store.written()
        known = read_times(times_path(path))
    assert (known[0][1], known[-1][1], offset_at(known, 1.0, known[-1][0] + 2)) == (0, 6, 6)
