"""What a tab says of itself, and what a command finds in each odd state."""

from __future__ import annotations

import pytest

from muxwire import Tab, Terminals
from tests.beside import beside
from tests.deadline import DEADLINE
from tests.library.opened import begun, tab_for


async def test_a_list_says_of_a_builtin_that_reads_what_a_result_does(terminals: Terminals, tab: Tab) -> None:
    await tab.execute("read x", async_=True)
    await tab.wait_for(idle=0.2)
    listed = {row.window_id: row.state for row in (await terminals.list_tabs()).tabs}
    assert listed[tab.key] == (await tab.command_result()).state == "interactive"


# Each leaves its tty raw: the last waits for a key in another thread than its first one.
RAW = {
    "computes": ("import time; end = time.time() + 1\nwhile time.time() < end: pass", False),
    "sleeps": ("import time; time.sleep(1)", False),
    "reads": ("import os; os.read(0, 1)", True),
    "polls": ("import select; select.select([0], [], [])", True),
    "reads in a thread": ("import os, threading; threading.Thread(target=lambda: os.read(0, 1)).start()", True),
}


@pytest.mark.parametrize("shell", ["bash", "dash"])
@pytest.mark.parametrize("kind", RAW)
async def test_a_raw_tty_alone_is_no_wait_for_a_key(terminals: Terminals, tab: Tab, kind: str) -> None:
    code, waits = RAW[kind]
    await tab.execute("true")
    result = await tab.execute(f'python3 -c "import tty; tty.setraw(0); {code}"', timeout=20)
    if waits:
        assert (result.state, result.running) == ("interactive", True), result
        await tab.send_keys(["x"])
        result = await terminals.command_result(result.command_id, wait=10)
    else:
        assert result.note == ""
    assert (result.running, result.exit_code) == (False, 0), result
    assert (await tab.execute("echo ok")).output == "ok\n"


@pytest.mark.parametrize(("shell", "status"), [("bash", None), ("ksh", 129)])  # ksh says how its program ended
async def test_what_runs_in_a_tab_that_another_call_closes_is_told_of_that(
    terminals: Terminals, shell: str, status: int | None
) -> None:
    async with tab_for(terminals, shell) as tab, beside(tab.execute, "sleep 60", timeout=DEADLINE) as results:
        await begun(tab)
        await tab.close(force=True)
    (ran,) = results
    assert (ran.exit_code, ran.note, ran.running) == (status, "the tab was closed", False), ran
