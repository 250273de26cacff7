"""A line is claimed as ours exactly if it is sent, by whichever name its command was called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.errors import ForbiddenCommand
from muxwire.repl.live import Live
from muxwire.repl.showing import Line, plain
from muxwire.repl.state import Session
from muxwire.repl.words import run_entries
from muxwire.repl.writers import Printer

pytestmark = pytest.mark.anyio


async def test_what_is_refused_is_not_claimed(environ: dict[str, str], home: Path) -> None:
    claimed: list[bytes] = []
    met: list[str] = []
    with anyio.fail_after(30):
        async with muxwire.open_terminals(state_dir=home / "state", environ=environ) as terminals:
            live = Live(terminals, lambda _, version: met.append(version))
            with pytest.raises(ForbiddenCommand):
                await live.send(((b"display-message",), (b"respawnp",)), claimed.append)
            assert claimed == []
            await live.send(((b"lsw", b"-a"),), claimed.append)
    assert claimed == [b"list-windows -a"]
    assert len(met) == 1, "a server is greeted once"


async def test_a_tab_is_made_if_there_is_none(environ: dict[str, str], home: Path) -> None:
    with anyio.fail_after(30):
        async with muxwire.open_terminals(state_dir=home / "state", environ=environ) as terminals:
            live = Live(terminals, lambda *_: None)
            first = await live.tab(".")
            assert await live.tab(".") is first
            with pytest.raises(muxwire.NoSuchTarget):
                await live.tab("nobody")


async def test_the_statistics_leave_the_active_tab(environ: dict[str, str], home: Path) -> None:
    lines: list[str] = []

    async def write(written: Sequence[Line]) -> None:
        lines.extend(map(plain, written))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            session = Session(Printer(write), tasks)
            tasks.start_soon(session.printer.run)
            async with muxwire.open_terminals(
                state_dir=home / "state", environ=environ, wrap=session.wrap
            ) as terminals:
                session.live = Live(terminals, lambda *_: None)
                gone, used, _ = [await terminals.create_tab(name=name) for name in ("gone", "used", "other")]
                await gone.close()
                await terminals.tab("used")
                assert await run_entries(session, ":stats")
                assert await terminals.tab(".") is used
                await session.printer.flushed()
            tasks.cancel_scope.cancel()
    assert any(line.startswith("dropped ") and "0 B of the tabs' rings" in line for line in lines), lines
