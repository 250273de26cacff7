"""One clock wakes all who wait too long, each in his time, and nobody else; with nobody waiting it does not run."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio
import anyio.abc
import anyio.lowlevel
import pytest

from muxwire.pane.deadlines import Deadlines

pytestmark = pytest.mark.anyio

# Seconds that no test here needs: it ends as soon as what it waits for is there.
LONG = 20.0
SHORT = 0.05


class Spawner:
    """Starts tasks and counts those that run."""

    def __init__(self, tasks: anyio.abc.TaskGroup) -> None:
        self.running = 0
        self._tasks = tasks
        self.ended = anyio.Event()

    def __call__(self, work: Callable[[], Awaitable[object]]) -> None:
        async def run() -> None:
            self.running += 1
            await work()
            self.running -= 1
            self.ended.set()

        self._tasks.start_soon(run)


async def test_who_waits_too_long_is_woken_in_his_time() -> None:
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as tasks:
            alarm, woken = Deadlines(Spawner(tasks)), list[float]()

            async def wait(seconds: float) -> None:
                begun = time.monotonic()
                await alarm.wait(anyio.Event(), seconds)
                assert time.monotonic() - begun >= seconds
                woken.append(seconds)

            for seconds in (3 * SHORT, SHORT, 2 * SHORT):  # the second is due before the first, for which it sleeps
                tasks.start_soon(wait, seconds)
    assert woken == [SHORT, 2 * SHORT, 3 * SHORT]


async def test_an_event_in_time_wakes_at_once_and_the_alarm_ends() -> None:
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as tasks:
            spawner = Spawner(tasks)
            alarm, event = Deadlines(spawner), anyio.Event()
            tasks.start_soon(alarm.wait, event, SHORT)
            await anyio.lowlevel.checkpoint()
            event.set()
            await spawner.ended.wait()
            assert not spawner.running
            await alarm.wait(anyio.Event(), SHORT)  # it begins anew


async def test_a_cancelled_wait_leaves_the_others_alone() -> None:
    with anyio.fail_after(LONG):
        async with anyio.create_task_group() as tasks:
            alarm, event = Deadlines(Spawner(tasks)), anyio.Event()
            with anyio.move_on_after(SHORT):
                await alarm.wait(anyio.Event(), LONG)
            tasks.start_soon(alarm.wait, event, LONG)
            await alarm.wait(anyio.Event(), SHORT)
            assert not event.is_set()
            event.set()
            tasks.cancel_scope.cancel()
