"""Many tabs that all run commands at once, against a bare loop that does the same."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import anyio

from bench.contenders import ATTACHED, PATIENCE, READ, clean_environment, read_until, temporary_home
from bench.scenario import Report, Scale, Target
from muxwire import Tab, open_terminals
from muxwire.client.client import prepared

TABS, TABS_SHORT = 50, 8
COMMANDS, COMMANDS_SHORT = 40, 10


def bare(home: Path, tabs: int, commands: int) -> float:
    """Commands a second: one control client, a line typed into each pane as soon as its last answer is here."""
    socket, env = str(home / "floor"), clean_environment(home)
    argv = ["tmux", "-u", "-S", socket, "-f", "/dev/null", "-C", "new-session", "--", "bash", "--norc"]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, bufsize=0)
    assert process.stdin is not None
    assert process.stdout is not None
    writer, reader = process.stdin.fileno(), process.stdout.fileno()
    try:
        read_until(reader, ATTACHED)
        os.write(writer, b"new-window -d bash --norc\n" * (tabs - 1))
        _warm(writer, reader, tabs)
        counts = [0] * tabs
        begun = time.perf_counter()
        for pane in range(tabs):
            _type(writer, pane, 0)
        rest, left, ends = b"", tabs * commands, [b""] * tabs
        while left:
            *lines, rest = (rest + os.read(reader, READ)).split(b"\n")
            for line in lines:
                if not line.startswith(b"%output %"):
                    continue
                name, text = line.split(b" ", 2)[1:]
                pane = int(name[1:])
                wanted = b"<%d>" % counts[pane]
                text, ends[pane] = ends[pane] + text, text[-len(wanted) :]  # tmux may read it in two pieces
                if wanted in text:
                    counts[pane] += 1
                    left -= 1
                    if counts[pane] < commands:
                        _type(writer, pane, counts[pane])
        return tabs * commands / (time.perf_counter() - begun)
    finally:
        subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)
        process.wait()


def _type(writer: int, pane: int, count: int) -> None:
    set_buffer = prepared(("set-buffer", "-b", f"x{pane}", "--", f"echo '<'{count}'>'\r"))[0].line
    os.write(writer, set_buffer + b"\npaste-buffer -r -d -b x%d -t %%%d\n" % (pane, pane))


def _warm(writer: int, reader: int, tabs: int) -> None:
    """Wait until every shell has answered once."""
    for pane in range(tabs):
        _type(writer, pane, -1)
    seen, rest, until = set[int](), b"", time.monotonic() + PATIENCE * tabs
    while len(seen) < tabs and time.monotonic() < until:
        *lines, rest = (rest + os.read(reader, READ)).split(b"\n")
        seen |= {int(line.split(b" ", 2)[1][1:]) for line in lines if line.startswith(b"%output %") and b"<-1>" in line}


async def ours(home: Path, tabs: int, commands: int) -> float:
    """Commands a second through the library."""
    async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
        opened = [await terminals.create_tab(shell="bash") for _ in range(tabs)]
        for tab in opened:
            await tab.execute("true")

        async def work(tab: Tab) -> None:
            for _ in range(commands):
                assert (await tab.execute("true")).exit_code == 0

        begun = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for tab in opened:
                tasks.start_soon(work, tab)
        return tabs * commands / (time.perf_counter() - begun)


async def run(scale: Scale) -> Report:
    """Both in turn, the better of two runs each."""
    tabs, commands = scale.of(TABS, TABS_SHORT), scale.of(COMMANDS, COMMANDS_SHORT)
    floor, found = 0.0, 0.0
    with temporary_home() as name:
        for _ in range(2):
            floor = max(floor, bare(Path(name), tabs, commands))
            found = max(found, await ours(Path(name), tabs, commands))
    return Report(
        "tabs",
        f"{tabs} tabs, each running commands as fast as it can",
        ("approach", "commands/s", "over the floor"),
        (("bare loop (floor)", floor, 1.0), ("muxwire library", found, found / floor)),
        (Target("commands a second, over the floor's", found / floor, 0.35, at_least=True),),
    )
