"""What is kept of logs: the newest, within the limits, and never less than what is being written."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from muxwire.errors import InvalidArgument, NoSuchTarget
from muxwire.host.folders import folders_for
from muxwire.host.locks import named_process
from muxwire.logs.history import HISTORY_FILE
from muxwire.logs.limits import LogLimits, hold, in_use, keep_within, sweep_dead
from muxwire.logs.read import read_raw
from muxwire.logs.segments import layout_of, record, script_path, segment_path
from muxwire.logs.store import LogStore
from muxwire.tabs.ended import ENDED_INSTANCES, ended_tabs
from muxwire.tabs.log_access import find_log

DAY = 86400


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made(tmp_path / "state" / "dev")


def made(home: Path, generation: int = 1) -> Path:
    (home / str(generation) / "logs").mkdir(parents=True)
    return home


def put(home: Path, tab: int, size: int, *, age: float, older: int = 0, generation: int = 1) -> Path:
    """A log of `older` segments and a file of that size each, which were written one second after the other."""
    path = home / str(generation) / "logs" / f"pane-@{tab}.log"
    for number in range(older + 1):
        last = number == older
        file = path if last else segment_path(path, number * size)
        file.write_bytes(bytes([number]) * size)
        os.utime(file, (time.time(), time.time() - age - older + number))
    if older:
        record(path)
    return path


def names(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*.log")}


def test_the_oldest_segment_of_all_goes_first(home: Path) -> None:
    noisy, quiet = put(home, 1, 1000, age=100, older=5), put(home, 2, 1000, age=500)
    earlier = put(made(home, 2), 1, 1000, age=9000, generation=2)
    keep_within(home, LogLimits(instance_bytes=10_000), ())
    assert len(names(home)) == 8
    keep_within(home, LogLimits(instance_bytes=7000), {noisy})
    assert not earlier.exists()
    assert len(names(home)) == 7
    keep_within(home, LogLimits(instance_bytes=4000), {noisy})
    assert not quiet.exists()
    assert layout_of(noisy).first == 2000
    keep_within(home, LogLimits(instance_bytes=1), {noisy})
    assert (names(home), layout_of(noisy).live_first) == ({"1/logs/pane-@1.log"}, 5000)
    keep_within(home, LogLimits(instance_bytes=1), ())
    assert not any((home / "1" / "logs").iterdir())


def test_what_is_too_old_goes_and_what_is_being_written_stays(home: Path) -> None:
    old, written = put(home, 1, 10, age=31 * DAY, older=1), put(home, 2, 10, age=31 * DAY, older=1)
    young = put(home, 3, 10, age=29 * DAY, older=1)
    keep_within(home, LogLimits(days=30), {written})
    assert names(home) == {f"1/logs/{path.name}" for path in (written, young, segment_path(young, 0))}
    assert not old.with_suffix(".gaps").exists()


def put_script(log: Path, size: int, *, age: float) -> Path:
    path = script_path(log, "script-00c0ffee.py")
    path.write_bytes(b"#" * size)
    os.utime(path, (time.time(), time.time() - age))
    return path


def test_a_script_counts_and_goes_as_a_finished_file_of_its_log_does(home: Path) -> None:
    written, closed = put(home, 1, 1000, age=0, older=1), put(home, 2, 1000, age=50)
    old, young = put_script(written, 1000, age=100), put_script(closed, 1000, age=50)
    keep_within(home, LogLimits(instance_bytes=5000), {written})
    assert old.exists()
    keep_within(home, LogLimits(instance_bytes=4000), {written})
    assert (old.exists(), young.exists(), len(names(home))) == (False, True, 3)
    keep_within(home, LogLimits(instance_logs=0), {written})
    assert (young.exists(), closed.exists()) == (False, False)


def test_a_tab_was_used_last_when_its_log_was_and_not_when_its_script_was_written(home: Path) -> None:
    used, unused = put(home, 1, 10, age=10), put(home, 2, 10, age=50)
    put_script(used, 10, age=100)
    keep_within(home, LogLimits(instance_logs=1), ())
    assert (used.exists(), unused.exists()) == (True, False)


def test_a_clock_that_was_set_back_takes_no_newer_segment_before_an_older_one(home: Path) -> None:
    path = put(home, 1, 1000, age=100, older=3)
    os.utime(segment_path(path, 2000), (1, 1))
    keep_within(home, LogLimits(instance_bytes=3000, days=100_000), {path})
    assert [segment.first for segment in layout_of(path).older] == [1000, 2000]


async def test_a_flood_is_kept_within_bounds_while_it_is_written(home: Path) -> None:
    limits = LogLimits(segment_bytes=10_000, instance_bytes=50_000)
    async with LogStore(limits=limits, home=home) as store:
        log = store.open(home / "1" / "logs" / "pane-@1.log")
        for number in range(400):
            log.append(b"%07d\n" % number * 125)
            assert await log.flushed()
        assert log.end == 400_000
    assert 40_000 <= sum(path.stat().st_size for path in (home / "1" / "logs").glob("*.log")) <= 60_000
    first = layout_of(log.path).first
    assert read_raw(log.path, 0, 400_000) == b"".join(b"%07d\n" % number * 125 for number in range(400))[first:]


# -- other instances


def dead(state: Path, name: str, size: int, *, age: float) -> Path:
    home = made(state / name)
    (home / "in-use").touch()
    (home / "server").write_text('{"pid": 1, "started": "of another process", "socket": "/nowhere"}')
    put(home, 1, size, age=age, older=1)
    return home


async def test_dead_instances_are_limited_by_number_size_and_age(tmp_path: Path) -> None:
    for limits, left in (
        (LogLimits(dead_instances=2), {"e1-aaaaaa", "e2-aaaaaa"}),
        (LogLimits(dead_bytes=2500), {"e1-aaaaaa"}),
        (LogLimits(days=5), {"e1-aaaaaa", "e2-aaaaaa", "e3-aaaaaa"}),
        (LogLimits(), {"e1-aaaaaa", "e2-aaaaaa", "e3-aaaaaa", "e4-aaaaaa"}),
    ):
        state = tmp_path / str(hash(limits))
        for number in range(1, 5):
            dead(state, f"e{number}-aaaaaa", 1000, age=number * 1.5 * DAY)
        own = made(state / "e9-ffffff")
        async with LogStore(limits=limits, home=own):
            pass
        assert {home.name for home in state.iterdir()} == left | {"e9-ffffff"}, limits


def test_what_lives_or_may_come_back_is_not_swept(tmp_path: Path) -> None:
    state = tmp_path / "state"
    living, named, older = (
        dead(state, "e1-aaaaaa", 9, age=0),
        dead(state, "dev", 9, age=0),
        dead(state, "old", 9, age=9 * DAY),
    )
    starting = made(state / "e2-aaaaaa")  # has made no lock yet
    gone = dead(state, "e3-aaaaaa", 9, age=0)
    held = hold(living)
    assert held is not None
    sweep_dead(state, LogLimits(dead_bytes=1, days=7), "e9-ffffff")
    assert [bool(names(home)) for home in (living, named, older)] == [True, True, False]
    assert (starting.exists(), gone.exists()) == (True, False)
    os.close(held)
    sweep_dead(state, LogLimits(dead_bytes=1), "e9-ffffff")
    assert (living.exists(), bool(names(named))) == (False, True)


def test_a_sweep_leaves_what_is_its_own_and_what_it_cannot_know(tmp_path: Path) -> None:
    state = tmp_path / "state"
    own, odd, runs = (dead(state, name, 9, age=9 * DAY) for name in ("dev", "e1-aaaaaa", "e2-aaaaaa"))
    (odd / "in-use").unlink()
    (odd / "in-use").symlink_to("/nowhere")
    (runs / "server").write_text(json.dumps(named_process(os.getpid())))
    for stray in ("pane-@7.gaps", "pane-@7.times"):
        (runs / "1" / "logs" / stray).touch()
    sweep_dead(state, LogLimits(days=7), "dev")
    assert (bool(names(own)), bool(names(odd))) == (True, True)
    assert [left.name for left in runs.iterdir()] == ["server"]


async def test_a_store_holds_its_instance_while_it_is_open(home: Path) -> None:
    async with LogStore(home=home):
        assert in_use(home)
        second = hold(home)
        assert second is not None
        os.close(second)
        assert in_use(home)
    assert not in_use(home)


def test_limits_from_the_environment() -> None:
    given = {"MUXWIRE_LOG_SEGMENT_BYTES": "1000", "MUXWIRE_LOG_DAYS": "7", "MUXWIRE_LOG_DEAD_BYTES": ""}
    assert LogLimits.from_environment(given) == LogLimits(segment_bytes=1000, days=7)
    for wrong in ("0", "-1", "1k", "²"):
        with pytest.raises(InvalidArgument, match=r"MUXWIRE_LOG_DAYS is .*, which is not a number of 1 or more"):
            LogLimits.from_environment({"MUXWIRE_LOG_DAYS": wrong})


def test_of_the_last_ended_instances_the_logs_are_listed(tmp_path: Path) -> None:
    """Each by what the reading of logs takes; not those of instances that run, that have a name, or of ours."""
    state = tmp_path / "state"
    folders = replace(folders_for("e1-000000", {}, state_dir=state), state=state)
    for number in range(1, ENDED_INSTANCES + 2):
        home = made(state / f"e{number}0-00000{number}")
        (home / "in-use").touch()
        put(home, 1, 10, age=1000 - number)
    latest = made(state / f"e{ENDED_INSTANCES + 1}0-00000{ENDED_INSTANCES + 1}", 2)
    again = put(latest, 1, 20, age=0, generation=2)
    ran = {"time": 1.0, "window_id": "@1", "generation": 2, "name": "build", "by": "execute", "cwd": "/srv"}
    ran |= {"duration_ms": 1.0, "exit_code": 3, "from_byte": 0, "next_byte": 9, "command_id": "c", "command": "make"}
    (latest / HISTORY_FILE).write_text(json.dumps(ran) + "\n")
    own, named, runs = made(state / "e1-000000"), made(state / "dev"), made(state / "e77-777777")
    for home in (own, named, runs):
        put(home, 1, 10, age=0)
    held = hold(runs)
    rows = ended_tabs(folders)
    instance = latest.name
    assert [row.window_id for row in rows[:2]] == [f"{instance}/@1", f"{instance}/1/@1"]
    assert (rows[0].log_path, rows[0].next_byte, rows[0].closed) == (str(again), 20, True)
    assert (rows[0].name, rows[0].cwd, rows[0].last_command, rows[0].last_exit_code) == ("build", "/srv", "make", 3)
    assert {row.window_id.partition("/")[0] for row in rows} == {f"e{n}0-00000{n}" for n in range(2, 5)}
    error = NoSuchTarget("none", remedy="")
    assert [str(find_log(folders, row.window_id, error).path) for row in rows] == [row.log_path for row in rows]
    with pytest.raises(NoSuchTarget):
        find_log(folders, "e99-999999/@1", error)
    assert held is not None
    os.close(held)
