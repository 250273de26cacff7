"""Whatever is slow, the control pipe is drained, no byte is lost, and our memory stays bounded."""

from __future__ import annotations

import json
import os
import re
import sys
import threading

import anyio
import pytest

import muxwire
from muxwire.logs.read import read_raw
from tests.library.opened import closed

DEADLINE = 150
# A megabyte and a half of lines: more than the ring holds, the pipe holds, or one read brings.
LINES = 200_000


def printed() -> bytes:
    return b"\r\n".join(b"%d" % number for number in range(1, LINES + 1)) + b"\r\n"


async def check(tab: muxwire.Tab) -> None:
    await closed(tab)
    assert await tab.pane.stream.log.flushed()
    raw = read_raw(tab.log_path, 0, tab.next_byte)
    expected = b"\r\n" + printed() + b"\x1b]7770;X;%s;0\x07" % tab.pane.session.nonce.encode()
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

    tab = await alone.create_tab(command=["sh", "-c", f"read x; seq 1 {LINES}"])
    other = await alone.create_tab(shell="bash")
    monkeypatch.setattr(os, "writev", writev)
    await tab.send_keys(["Enter"])
    # All of it arrives and commands run, while not one byte gets to the disk.
    while not tab.pane.session.closed:
        assert (await other.execute("echo $((6 * 7))")).output == "42\n"
    assert not tab.log_path.stat().st_size
    standing.set()
    await check(tab)


# How much may wait for the disk here, in MiB. With muxwire's 64 a pane would have to write 100 MB to show a bound.
WAITING_MIB = 2
# What is under way between tmux and the logs, in MiB: a few chunks, and what Python does not give back.
UNDER_WAY_MIB = 12


# What an instance may keep of one pane, in KiB: a ring of 1 MiB and a quarter, what waits, and what is under way.
KEPT_KIB = 1024 * 5 // 4 + (WAITING_MIB + UNDER_WAY_MIB) * 1024
# More than that by a quarter, so that a copy of it that was kept anywhere shows.
WRITTEN = KEPT_KIB * 1024 * 5 // 4


# A process of its own, whose memory is measured; KiB: `ru_maxrss` begins with that of the process which started it.
WRITER = r"""
import json, re, sys, anyio, muxwire
from muxwire.logs import store
from muxwire.logs.read import read_raw

def peak_kib():
    return int(re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1])

async def main():
    async with muxwire.open_terminals() as terminals:
        command = f"stty -opost; read x; head -c {sys.argv[1]} /dev/zero | tr '\\0' x"
        tab, before = await terminals.create_tab(command=["sh", "-c", command]), peak_kib()
        await tab.send_keys(["Enter"])
        while not tab.pane.session.closed:
            await tab.pane.stream.changed()
        assert await tab.pane.stream.log.flushed()
        grown = peak_kib() - before
        raw = read_raw(tab.log_path, 0, tab.next_byte)
        rest = raw.replace(b"x", b"").decode()
        print(json.dumps([grown, tab.pane.session.exit_status, raw.count(b"x"), rest]))

store.BACKLOG_MAX = int(sys.argv[2])
anyio.run(main)
"""


@pytest.mark.timeout(DEADLINE + 30)
async def test_memory_is_bounded_whatever_a_pane_writes(environ: dict[str, str]) -> None:
    argv = [sys.executable, "-c", WRITER, str(WRITTEN), str(WAITING_MIB << 20)]
    done = await anyio.run_process(argv, env=environ)
    grown, status, count, rest = json.loads(done.stdout)
    assert (status, count) == (0, WRITTEN)
    assert re.fullmatch(r"\r?\n(\r\n)?\x1b\]7770;.;[0-9a-f]+;0\x07", rest), rest
    assert grown < KEPT_KIB
