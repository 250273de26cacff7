"""Whatever ends the owner, and at whatever rate the panes write: no line is lost or doubled, and ends are true."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import termios
from pathlib import Path

import anyio
import pytest

from muxwire.logs import read as log_read, store
from muxwire.logs.segments import PRUNE_BYTES
from muxwire.tabs.tab import Tab
from tests.deadline import DEADLINE, until
from tests.processes import WATCHDOG, children_of

from .conftest import Instance

KILLS_EACH = 50
KILLS = 2
NUMBERED = Path(__file__).with_name("numbered.py")
# All in one search: there may be a million of them.
LINES = re.compile(rb"^(?:\x1b\]7770;S;[0-9a-f]{16}\x07)?([0-9]{12}) so that a line has some length\r$", re.MULTILINE)
# What is printed where two streams of a pane are joined.
JOINED = re.compile(rb"\x1b\]7770;R;[0-9a-f]{16}\x07")
END = re.compile(rb"^end ([0-9]+)\r$", re.MULTILINE)


def numbered(rate: int, stop: Path) -> str:
    return f"{sys.executable} {NUMBERED} {rate} {stop}; (exit 7)"


async def lines_of(tab: Tab) -> tuple[list[int], int, list[bytes]]:
    """The numbers in a tab's log, how many there should be (-1: not said), and lines that are not whole."""
    assert await tab.pane.stream.log.flushed()
    raw = JOINED.sub(b"", log_read.read_raw(tab.log_path, 0, 1 << 50))
    numbers, odd = list(map(int, LINES.findall(raw))), []
    if len(numbers) != raw.count(b"so that a line"):
        lines = (line for line in raw.split(b"\n") if b"so that a line" in line or re.match(rb"[0-9]{3}", line))
        odd = [line for line in lines if not LINES.fullmatch(line)]
    return numbers, int(end[1]) if (end := END.search(raw)) else -1, odd


def gaps(tab: Tab) -> str:
    path = tab.log_path.with_suffix(".gaps")
    return path.read_text() if path.exists() else ""


async def assert_no_line_is_missing(tab: Tab) -> int:
    """Every numbered line is in the log once, in order, and the log records no gap; return how many there are."""
    numbers, end, odd = await lines_of(tab)
    assert (odd, numbers) == ([], list(range(end)))
    assert gaps(tab) == ""
    return len(numbers)


@pytest.mark.parametrize("rates", [(200, 5000), (0, 0, 300)], ids=str)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
async def test_no_line_is_lost_or_doubled(instance: Instance, rates: tuple[int, ...], number: signal.Signals) -> None:
    await kill_owners(instance, rates, number, KILLS, random.Random(f"{rates} {number}"))


@pytest.mark.skipif("MUXWIRE_LONG_TESTS" not in os.environ, reason="takes 20 minutes: MUXWIRE_LONG_TESTS=1")
@pytest.mark.timeout(KILLS_EACH * DEADLINE)
@pytest.mark.parametrize("attempt", range(20))
async def test_no_line_is_lost_or_doubled_over_a_thousand_kills(instance: Instance, attempt: int) -> None:
    await kill_owners(instance, (200, 5000), signal.SIGKILL, KILLS_EACH, random.Random(attempt))


async def kill_owners(
    instance: Instance, rates: tuple[int, ...], number: signal.Signals, kills: int, chance: random.Random
) -> None:
    stop = instance.socket.parent.parent / "stop"
    with anyio.fail_after(kills * DEADLINE):
        owner, started = await instance.owner(*(numbered(rate, stop) for rate in rates))
        for _ in range(kills):
            await anyio.sleep(chance.random() / 2)  # so that the kill comes anywhere
            owner.send_signal(number)
            owner.wait()
            await anyio.sleep(chance.choice((0, 0.02, 0.5)))  # at times the next one meets the watchdog at work
            owner, _ = await instance.owner()
        owner.kill()
        owner.wait()
        stop.touch()
        async with instance.open() as terminals:
            for window, command in started:
                result = await terminals.command_result(command, wait=DEADLINE, max_chars=100)
                assert (result.running, result.exit_code) == (False, 7)
                assert await assert_no_line_is_missing(await terminals.tab(window)) > 10


async def test_the_watchdog_is_killed_too(instance: Instance) -> None:
    """A client that nobody drives holds tmux up: the next owner frees the panes."""
    stop = instance.socket.parent.parent / "stop"
    owner, started = await instance.owner(numbered(0, stop))
    (window, command) = started[0]
    owner.send_signal(signal.SIGSTOP)  # it would start another one
    os.waitpid(owner.pid, os.WUNTRACED)
    for pid in children_of(owner.pid, WATCHDOG):
        os.kill(pid, signal.SIGKILL)
    owner.kill()
    owner.wait()
    async with instance.open() as terminals:
        tab = await terminals.tab(window)
        before = tab.next_byte
        while tab.next_byte == before:
            await tab.pane.stream.changed()
        stop.touch()
        assert (await terminals.command_result(command, wait=DEADLINE, max_chars=100)).exit_code == 7
        await assert_no_line_is_missing(tab)


async def test_a_spool_holds_no_more_than_the_log_lacks(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is in the log its whole files go; with the tab the rest of it."""
    monkeypatch.setattr(store, "PRUNE_BYTES", 64 << 10)
    spool = instance.home / "1" / "spool"
    async with instance.open() as terminals:
        tab = await terminals.create_tab()
        files = [0]
        while 0 in files:  # until it has written more than a file holds
            await tab.execute("seq 300000", timeout=DEADLINE, max_chars=100)
            assert await tab.pane.stream.log.flushed()
            files = sorted(int(path.name) for path in (spool / tab.log_path.stem).iterdir())
        assert tab.next_byte - files[0] <= 2 * PRUNE_BYTES
        await tab.close(force=True)
    assert list(spool.iterdir()) == []


async def test_a_terminal_that_a_person_has_stopped(instance: Instance) -> None:
    """Nothing can be printed there: its tab is known, and its output is whole once the person lets it continue."""
    waits = instance.socket.parent.parent / "wait"
    os.mkfifo(waits)
    owner, started = await instance.owner(f"cat {waits}; seq 1000")
    ((window, command),) = started
    tty = os.open(instance.tmux("display-message", "-p", "-t", window, "#{pane_tty}"), os.O_RDWR | os.O_NOCTTY)
    runs = ("display-message", "-p", "-t", window, "#{pane_current_command}")
    await until(lambda: instance.tmux(*runs) == "cat")
    termios.tcflow(tty, termios.TCOOFF)
    waits.write_text("before\n")  # what it writes has to wait
    owner.kill()
    owner.wait()
    async with instance.open() as terminals:
        tab = await terminals.tab(window)
        assert tab.pane.stream.rejoining
        termios.tcflow(tty, termios.TCOON)
        result = await terminals.command_result(command, wait=DEADLINE, max_chars=None)
        assert result.output == "before\n" + "".join(f"{number}\n" for number in range(1, 1001))
        assert (gaps(tab), (await tab.execute("echo on")).output) == ("", "on\n")
    os.close(tty)
