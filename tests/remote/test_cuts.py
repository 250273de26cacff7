"""A connection that is cut at random: no byte is lost or doubled, and each command runs exactly once.

Some tens of cuts; with MUXWIRE_LONG_TESTS=1 a thousand.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire import TabUnavailable
from tests.remote.proxied import PATIENT, Proxied, proxied

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from muxwire import Tab

pytestmark = pytest.mark.anyio

CUTS = 1000 if os.environ.get("MUXWIRE_LONG_TESTS") else 25
# A cut and what it interrupts take a second on a busy machine.
DEADLINE = 60.0 + 4.0 * CUTS
# A silent connection is found out by a wait, so there are fewer of them.
KINDS, WEIGHTS = ("kill", "close", "stall"), (10, 10, 1)


class Work:
    """What goes on while the connection is cut; each piece of it says what is wrong with what it got."""

    tab: Tab

    def __init__(self, box: Proxied, folder: Path, chance: random.Random) -> None:
        self.opened, self.chance = box.opened, chance
        self.ran = folder / "ran"
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
        told = await self.tab.execute(f"{self.once()}; seq 1 {count}", timeout=PATIENT, max_chars=None)
        assert told.output == "".join(f"{line}\n" for line in range(1, count + 1)), (
            count,
            told.note,
            told.output[-200:],
        )
        assert (told.exit_code, told.state) == (0, "prompt"), told

    async def typing(self) -> None:
        text = "x" * self.chance.randrange(60_000)
        told = await self.tab.execute(f"{self.once()}; printf %s {text} | wc -c", timeout=PATIENT)
        assert (told.output.strip(), told.exit_code) == (str(len(text)), 0), told

    async def start(self) -> None:
        made = await self.opened.create_tab(host="box", shell=self.chance.choice(["bash", "dash"]))
        told = await made.execute(f"{self.once()}; echo new", timeout=PATIENT)
        assert (told.output, told.exit_code) == ("new\n", 0), told
        assert (await self.opened.stream_logs(made.key, max_bytes=1 << 20)).dropped == 0
        await made.close(force=True)

    async def interrupt(self) -> None:
        begun = f"{self.once()}; sleep 1000"
        try:
            told = await self.tab.execute(begun, timeout=0.3)
            assert told.timed_out, told
            if told.running:  # it is interrupted when the connection is back
                told = await self.opened.command_result(told.command_id, wait=PATIENT)
            assert not told.running, told
        except TabUnavailable:  # its time was over before the connection was back
            pass
        if not self.ran.read_text().endswith(f"{self.number}\n"):
            self.number -= 1  # it was interrupted before it began

    async def snapshot(self) -> None:
        said = f"said-{self.number}"
        told = await self.tab.execute(f"{self.once()}; echo {said}", timeout=PATIENT)
        assert told.output == f"{said}\n", told
        assert said in "\n".join((await self.tab.snapshot()).lines)

    async def keys(self) -> None:
        mark = f"key-{self.number}"
        await self.tab.send_keys([f"{self.once()}; echo {mark}", "Enter"])
        seen = await self.opened.wait_for([self.tab.key], regex=f"^{mark}", timeout=PATIENT)
        assert seen.outcome == "met", seen

    async def some(self) -> None:
        """One piece."""
        kinds: list[Callable[[], Awaitable[None]]]
        kinds = [self.output, self.output, self.typing, self.start, self.interrupt, self.snapshot, self.keys]
        await self.chance.choice(kinds)()


async def test_random_cuts_lose_and_repeat_nothing(folder: Path, environ: dict[str, str]) -> None:
    seed = int(os.environ.get("MUXWIRE_SEED", "0")) or random.randrange(1 << 30)
    cuts, number = 0, 0
    try:
        with anyio.fail_after(DEADLINE):
            async with proxied(folder, environ) as box:
                work = Work(box, folder, random.Random(seed))
                await work.tab_is_there()
                async with anyio.create_task_group() as tasks:
                    over = anyio.Event()

                    async def cutting() -> None:
                        nonlocal cuts
                        while cuts < CUTS:
                            await anyio.sleep(work.chance.random() * 0.4)
                            await box.cut(work.tab, work.chance.choices(KINDS, WEIGHTS)[0])
                            cuts += 1
                        over.set()

                    tasks.start_soon(cutting)
                    while not over.is_set():
                        await work.some()
                        number = work.number
                assert work.ran.read_text().split() == [str(number) for number in range(1, work.number + 1)]
                final = await work.tab.execute("echo still here")
                assert (final.output, final.exit_code) == ("still here\n", 0), final
    except BaseException:
        print(f"MUXWIRE_SEED={seed}, {cuts} cuts, {number} commands")
        raise
