"""A connection that is cut at random: no byte is lost or doubled, and each command runs exactly once.

Some tens of cuts; with MUXWIRE_LONG_TESTS=1 a thousand.
"""

from __future__ import annotations

import itertools
import os
import random
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from muxwire import Tab, TabUnavailable
from tests.deadline import DEADLINE
from tests.far.proxied import Proxied, place_of, proxied

LONG = bool(os.environ.get("MUXWIRE_LONG_TESTS"))
CUTS = 1000 if LONG else 10
# A cut and what it interrupts take a second on a busy machine.
pytestmark = pytest.mark.timeout(90.0 + 4.0 * CUTS)
# A silent connection is found out by a wait, so there are fewer of them.
KINDS, WEIGHTS = ("kill", "close", "stall"), (10, 10, 1)
# How often the next cut does not wait for the connection: it is cut while it is opened again.
AT_ONCE = 0.2
# Of every pane: R, which is in both streams.
_REJOINED = re.compile(rb"\x1b\]7770;R;[0-9a-f]{16}\x07")


class Work:
    """What goes on while the connection is cut; each piece of it says what is wrong with what it got."""

    tab: Tab

    def __init__(self, box: Proxied, ran: Path, chance: random.Random) -> None:
        self.opened, self.chance, self.ran = box.opened, chance, ran
        self.ran.write_text("")
        self.number = 0

    async def tab_is_there(self) -> None:
        self.tab = await self.opened.create_tab(host="box", shell="bash")
        await self.tab.execute("true")

    def once(self) -> str:
        """A command that leaves its number behind."""
        self.number += 1
        return f"echo {self.number} >>{self.ran}"

    async def output(self) -> None:
        count = self.chance.randrange(5000)
        told = await self.tab.execute(f"{self.once()}; seq 1 {count}", timeout=DEADLINE, max_chars=None)
        assert told.output == "".join(f"{line}\n" for line in range(1, count + 1)), (
            count,
            told.note,
            told.output[-200:],
        )
        assert (told.exit_code, told.state) == (0, "prompt"), told

    async def typing(self) -> None:
        text = "x" * self.chance.randrange(60_000)
        told = await self.tab.execute(f"{self.once()}; printf %s {text} | wc -c", timeout=DEADLINE)
        assert (told.output.strip(), told.exit_code) == (str(len(text)), 0), told

    async def start(self) -> None:
        made = await self.opened.create_tab(host="box", shell=self.chance.choice(["bash", "dash"]))
        told = await made.execute(f"{self.once()}; echo new", timeout=DEADLINE)
        assert (told.output, told.exit_code) == ("new\n", 0), told
        assert (await self.opened.stream_logs(made.key, max_bytes=1 << 20)).dropped == 0
        await made.close(force=True)

    async def interrupt(self) -> None:
        begun = f"{self.once()}; sleep 1000"
        try:
            told = await self.tab.execute(begun, timeout=0.3)
            assert told.timed_out, told
            if told.running:  # it is interrupted when the connection is back
                told = await self.opened.command_result(told.command_id, wait=DEADLINE)
            assert not told.running, told
        except TabUnavailable:  # its time was over before the connection was back
            pass
        if not self.ran.read_text().endswith(f"{self.number}\n"):
            self.number -= 1  # it was interrupted before it began

    async def snapshot(self) -> None:
        said = f"said-{self.number}"
        told = await self.tab.execute(f"{self.once()}; echo {said}", timeout=DEADLINE)
        assert told.output == f"{said}\n", told
        assert said in "\n".join((await self.tab.snapshot()).lines)

    async def keys(self) -> None:
        mark = f"key-{self.number}"
        await self.tab.send_keys([f"{self.once()}; echo {mark}", "Enter"])
        seen = await self.opened.wait_for([self.tab.key], regex=f"^{mark}", timeout=DEADLINE)
        assert seen.outcome == "met", seen

    async def some(self, over: anyio.Event) -> None:
        """One piece after the other; then the tab is as it was, and every command has run once."""
        kinds: list[Callable[[], Awaitable[None]]]
        kinds = [self.output, self.output, self.typing, self.start, self.interrupt, self.snapshot, self.keys]
        while not over.is_set():
            await self.chance.choice(kinds)()
        final = await self.tab.execute("echo still here", timeout=DEADLINE)
        assert (final.output, final.exit_code) == ("still here\n", 0), final
        assert self.ran.read_text().split() == [str(number) for number in range(1, self.number + 1)]


async def numbers(box: Proxied, folder: Path, over: anyio.Event) -> None:
    """A pane that writes numbered lines all the time: each of them is in its log, once."""
    stop = folder / "stop"
    tab = await box.opened.create_tab(host="box", shell="bash")
    loop = f"i=0; until [ -e {stop} ]; do seq $((i + 1)) $((i += 200)); sleep 0.05; done"
    begun = False
    while not begun:
        with suppress(TabUnavailable):  # a silent connection, which such a call does not wait for: nothing was typed
            await tab.execute(loop, async_=True)
            begun = True
    await over.wait()
    stop.touch()
    assert (await box.opened.wait_for([tab.key], prompt=True, timeout=DEADLINE)).outcome == "met"
    stop.unlink()
    await tab.pane.stream.log.flushed()
    written = _REJOINED.sub(b"", tab.log_path.read_bytes())
    lines = [int(line) for line in re.findall(rb"(\d+)\r\n", written)]
    wrong = next((pair for pair in itertools.pairwise(lines) if pair[1] != pair[0] + 1), None)
    assert (lines[0], wrong, lines[-1] % 200) == (1, None, 0)


async def logs_are_what_was_written(box: Proxied) -> None:
    """Every log is, byte for byte, what tmux there has given the pipe of its pane."""
    for row in (await box.opened.list_tabs(closed=False)).tabs:
        tab = await box.opened.tab(row.window_id)
        spool = place_of(tab) / f"spool-{tab.pane_id}"

        await tab.pane.stream.log.flushed()
        log, kept = tab.log_path.read_bytes(), b""
        while len(kept) < len(log):  # it is written a moment later
            await anyio.sleep(0.05)
            pieces = sorted(spool.iterdir(), key=lambda piece: int(piece.name))
            kept = b"".join(piece.read_bytes() for piece in pieces)
        assert kept.startswith(log), (tab.key, len(kept), len(log))
        assert not tab.log_path.with_suffix(".gaps").exists()


async def test_random_cuts_lose_and_repeat_nothing(folder: Path, environ: dict[str, str]) -> None:
    seed = int(os.environ.get("MUXWIRE_SEED", "0")) or random.randrange(1 << 30)
    chance, cuts = random.Random(seed), 0
    try:
        async with proxied(folder, environ) as box:
            works = [Work(box, folder / f"ran-{name}", chance) for name in "ab"]
            for work in works:
                await work.tab_is_there()
            over = anyio.Event()
            async with anyio.create_task_group() as tasks:
                for work in works:
                    tasks.start_soon(work.some, over)
                tasks.start_soon(numbers, box, folder, over)
                took = 0.0
                while cuts < CUTS:
                    # Where a connection takes long, so does what it is for: else nothing would ever get through.
                    await anyio.sleep(chance.random() * max(0.4, took))
                    connections, began = works[0].tab.client.connections, anyio.current_time()
                    cuts += box.lose(chance.choices(KINDS, WEIGHTS)[0])
                    if chance.random() > AT_ONCE:
                        await box.regained(works[0].tab, connections)
                        took = anyio.current_time() - began
                over.set()
            await logs_are_what_was_written(box)
    except BaseException:
        print(f"MUXWIRE_SEED={seed}, {cuts} cuts, {[work.number for work in works]} commands")
        raise
