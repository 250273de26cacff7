"""A harness's session on another machine: what users of Harbor's `TmuxSession` reported does not happen.

The numbers are of harbor-framework/harbor.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from muxwire import Terminals
from muxwire.adapters.harness import HarnessSession

DEADLINE = 30.0
# As apt does it: what was typed meanwhile is read away.
NEW = "New Terminal Output:\n"
APT = "#!/bin/sh\nstty -icanon min 0 time 2\ncat >/dev/null\nstty icanon\necho installed $2\n"


@pytest.fixture
async def session(terminals: Terminals) -> AsyncIterator[HarnessSession]:
    made = HarnessSession(terminals, "box", shell="bash")
    with anyio.fail_after(DEADLINE):
        await made.start()
        yield made
        await made.stop()
        assert not await made.is_session_alive()


async def shown(session: HarnessSession, text: str, times: int = 1) -> str:
    """The new output, once it has that text, and so often."""
    seen = ""
    while seen.count(text) < times:
        await session.tab.pane.stream.changed_within(0.1)
        new = await session.get_incremental_output()
        if new.startswith(NEW):  # else it is the screen, since nothing is new
            seen += new.removeprefix(NEW)
    return seen


@pytest.mark.parametrize("block", [True, False])
async def test_lines_after_apt_are_not_its_input(session: HarnessSession, folder: Path, block: bool) -> None:
    """#273: `apt` read the lines after it, the completion signal among them, and the call never returned."""
    apt, done = folder / "apt", folder / "done"
    apt.write_text(APT)
    apt.chmod(0o700)
    await session.get_incremental_output()
    await session.send_keys([f"{apt} install one\necho two\n{apt} install three\ntouch {done}\n"], block=block)
    while not done.exists():  # apt asks for keys for a moment, at which a call may return that waits
        await anyio.sleep(0.05)
    seen = await shown(session, "installed three")
    assert [line for line in seen.splitlines() if line.startswith(("installed", "two"))] == [
        "installed one", "two", "installed three",
    ]  # fmt: skip
    done.unlink()
