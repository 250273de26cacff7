"""Whatever is slow, the control pipe is drained, no byte is lost, and our memory stays bounded."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.logs.read import read_raw
from tests.faults.victims import victim
from tests.library.opened import closed

DEADLINE = 150
LONG = bool(os.environ.get("MUXWIRE_LONG_TESTS"))
# A megabyte and a half of lines: more than the ring holds, the pipe holds, or one read brings.
LINES = 200_000


def printed(lines: int) -> bytes:
    return b"\r\n".join(b"%d" % number for number in range(1, lines + 1)) + b"\r\n"


async def flood(terminals: muxwire.Terminals, lines: int = LINES) -> muxwire.Tab:
    """A tab that prints so many lines once it is typed into, and ends."""
    return await terminals.create_tab(command=["sh", "-c", f"read x; seq 1 {lines}"])


async def check(tab: muxwire.Tab, lines: int = LINES) -> None:
    await closed(tab)
    assert await tab.pane.stream.log.flushed()
    raw = read_raw(tab.log_path, 0, tab.next_byte)
    expected = b"\r\n" + printed(lines) + b"\x1b]7770;X;%s;0\x07" % tab.pane.session.nonce.encode()
    assert len(raw) == len(expected)
    assert raw == expected
    assert not tab.log_path.with_suffix(".gaps").exists()


async def test_a_disk_that_stands_still_holds_up_nothing(
    alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing, real = threading.Event(), os.writev

    def writev(descriptor: int, pieces: list[bytes]) -> int:
        standing.wait(DEADLINE)
        return real(descriptor, pieces)

    tab, other = await flood(alone), await alone.create_tab(shell="bash")
    monkeypatch.setattr(os, "writev", writev)
    await tab.send_keys(["Enter"])
    # All of it arrives and commands run, while not one byte gets to the disk.
    while not tab.pane.session.closed:
        assert (await other.execute("echo $((6 * 7))")).output == "42\n"
    assert not tab.log_path.stat().st_size
    standing.set()
    await check(tab)


# -- in a process of its own

# SIGSTOP for so long. tmux would throw out a client after 300 s.
STOPPED_SECONDS = 60 if LONG else 3


@pytest.mark.timeout(STOPPED_SECONDS + DEADLINE + 30)
async def test_a_process_that_was_stopped_under_load_loses_nothing(environ: dict[str, str]) -> None:
    panes, lines = (10, 3_000_000) if LONG else (5, 100_000)
    with anyio.fail_after(STOPPED_SECONDS + DEADLINE):
        async with victim(environ, panes, lines, "lines", stop_at=20_000) as stopped:
            told = await stopped.says()
            stopped.go_on()
            await stopped.stops()
            sizes = [Path(log).stat().st_size for log in told["logs"]]
            await anyio.sleep(STOPPED_SECONDS)  # not to wait for something: to be stopped that long is the fault
            assert sizes == [Path(log).stat().st_size for log in told["logs"]]
            assert min(sizes) < len(printed(lines)), "it was over before the process was stopped"
            os.kill(told["pid"], signal.SIGCONT)
            done = await stopped.says()
            assert done["statuses"] == [0] * panes
            for log, end, mark in zip(told["logs"], done["ends"], done["marks"], strict=True):
                assert not Path(log).with_suffix(".gaps").exists()
                raw = read_raw(Path(log), 0, end)
                assert raw[: len(raw) - mark] == b"\r\n" + printed(lines)
            stopped.go_on()


# How much may wait for the disk here, in MiB. With muxwire's 64 a pane would have to write 100 MB to show a bound.
WAITING_MIB = 2
# What is under way between tmux and the logs, in MiB: a few chunks, and what Python does not give back.
UNDER_WAY_MIB = 12


# What an instance may keep of one pane, in KiB: a ring of 1 MiB and a quarter, what waits, and what is under way.
KEPT_KIB = 1024 * 5 // 4 + (WAITING_MIB + UNDER_WAY_MIB) * 1024
# More than that by a quarter, so that a copy of it that was kept anywhere shows.
WRITTEN = KEPT_KIB * 1024 * 5 // 4


@pytest.mark.timeout(DEADLINE + 30)
async def test_memory_is_bounded_whatever_a_pane_writes(environ: dict[str, str]) -> None:
    async with victim(environ, 1, WRITTEN, "no-newline", waiting=WAITING_MIB << 20) as writer:
        told = await writer.says()
        writer.go_on()
        done = await writer.says()
        assert done["statuses"] == [0]
        assert done["grown_kib"] < KEPT_KIB
        (log,), (end,), (mark,) = told["logs"], done["ends"], done["marks"]
        raw = read_raw(Path(log), 0, end)[:-mark]
        assert raw.removeprefix(b"\n").removeprefix(b"\r\n").strip(b"x") == b""
        assert raw.count(b"x") == WRITTEN
        writer.go_on()
