"""What is typed is sent as it is, refused, or asked for first; tabs are found by their names."""

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


async def test_a_line_is_sent_as_it_is_or_refused(environ: dict[str, str], home: Path) -> None:
    met: list[str] = []
    with anyio.fail_after(30):
        async with muxwire.open_terminals(state_dir=home / "state", environ=environ) as terminals:
            live = Live(terminals, lambda _, version: met.append(version))
            with pytest.raises(ForbiddenCommand):
                await live.send("display-message -p x ; respawnp")
            assert await live.send("lsw -a")
            assert not await live.send("display-message -p x ; lsw -t nothing")
    assert len(met) == 1, "a server is greeted once"


async def test_a_tab_is_made_if_there_is_none(environ: dict[str, str], home: Path) -> None:
    with anyio.fail_after(30):
        async with muxwire.open_terminals(state_dir=home / "state", environ=environ) as terminals:
            live = Live(terminals, lambda *_: None)
            first = await live.tab(".")
            assert await live.tab(".") is first
            with pytest.raises(muxwire.NoSuchTarget):
                await live.tab("nobody")


async def test_the_end_of_a_named_instance_is_asked_for(environ: dict[str, str], home: Path) -> None:
    asked: list[str] = []
    answer = False

    async def confirm(question: str) -> bool:
        asked.append(question)
        return answer

    async def write(written: Sequence[Line]) -> None:
        del written

    with anyio.fail_after(30):
        async with (
            muxwire.open_terminals("dbg", state_dir=home / "state", environ=environ) as terminals,
            anyio.create_task_group() as tasks,
        ):
            session = Session(Printer(write), tasks, confirm=confirm)
            tasks.start_soon(session.printer.run)
            session.live = Live(terminals, lambda *_: None)
            server = await session.live.server()
            assert not await run_entries(session, "display-message -p x ; kill-ser")
            assert asked == ["end instance dbg, and every tab in it? [y/N] "]
            assert not server.client.closed
            answer = True
            await run_entries(session, "kill-server")
            await server.client.wait_closed()
            tasks.cancel_scope.cancel()
    assert len(asked) == 2


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
                last = used.pane.use.last
                assert await run_entries(session, ":stats")
                assert used.pane.use.last == last, "to look is no use, else an idle timeout never comes"
                assert await terminals.tab(".") is used
                await session.printer.flushed()
            tasks.cancel_scope.cancel()
    assert any(line.startswith("dropped ") and "0 B of the tabs' rings" in line for line in lines), lines
