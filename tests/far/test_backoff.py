"""When a machine is tried again: soon where its connection is cut again and again, seldom where it is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from muxwire import HostUnavailable, TmuxUnavailable
from muxwire.far import connection as remote
from muxwire.far.connection import BACKOFF_MAX_SECONDS, BACKOFF_SECONDS, RemoteConnection

KEEP = 600.0
# What opening a connection takes.
OPENS_IN = 0.5


class Machine:
    """A connection whose clock stands still while nothing is waited for; `cuts` says which attempts fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cuts: Iterator[bool]) -> None:
        self.now, self.cuts = 1000.0, cuts
        self.waits: list[float] = []
        monkeypatch.setattr(remote, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(remote, "anyio", SimpleNamespace(sleep=self.sleep))
        monkeypatch.setattr(remote, "CarrierProcess", lambda *_: None)
        host: Any = SimpleNamespace(link=SimpleNamespace(up=True), name="box")
        carrier: Any = SimpleNamespace(keep=KEEP, spool=0)
        self.connection = RemoteConnection(host, carrier, {}, "", Path("/nonexistent"))
        monkeypatch.setattr(self.connection, "open", self.open)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    async def open(self, *, again: bool) -> None:
        assert again
        self.now += OPENS_IN
        if next(self.cuts):
            raise HostUnavailable("box", "connect", "cut", remedy="")


async def test_steady_cuts_put_the_next_connection_off_for_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of connections that are being opened, and of those that tmux has not answered on yet."""
    machine = Machine(monkeypatch, iter([True, False] * 100))
    machine.connection.works()
    for cut in range(60):
        await machine.connection.reopen()
        machine.now += 0.2
        if cut % 3 == 0:
            machine.connection.works()
    assert max(machine.waits) <= 2 * BACKOFF_SECONDS
    machine.connection.works()
    machine.waits.clear()
    await machine.connection.reopen()
    assert machine.waits[0] == 0.0


async def test_a_machine_that_is_gone_is_tried_again_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, iter([True] * 1000))
    machine.connection.works()
    with pytest.raises(TmuxUnavailable):
        await machine.connection.reopen()
    assert machine.waits[0] == 0.0
    assert machine.waits[1:] == sorted(machine.waits[1:])
    assert machine.waits[-1] == BACKOFF_MAX_SECONDS
    assert len(machine.waits) < KEEP / 10
