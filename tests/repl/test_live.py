"""A line is claimed as ours exactly if it is sent, by whichever name its command was called."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.errors import ForbiddenCommand
from muxwire.repl.live import Live

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
