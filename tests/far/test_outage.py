"""A connection that is away for a while: calls wait, programs go on, and afterwards everything is there."""

from __future__ import annotations

import json
import os
import re
import signal
from argparse import Namespace
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import Mock

import anyio
import pytest

from muxwire import Tab, TabUnavailable
from muxwire.cli.printing import uncoloured
from muxwire.cli.tabs import _ls
from muxwire.far import connection as remote
from muxwire.instance.stream_join import new_mark
from muxwire.tabs.listing import LISTED_SECONDS
from tests.beside import beside
from tests.deadline import DEADLINE
from tests.far.proxied import Proxied, proxied
from tests.library.opened import known_prompt
from tests.processes import appeared, server_pid

# Ten times as much as is kept.
LINES = 100_000
# Of the 64 KiB that are kept, without marks and a prompt.
LEFT = 60_000


@pytest.fixture
async def box(folder: Path, environ: dict[str, str]) -> AsyncIterator[Proxied]:
    with anyio.fail_after(DEADLINE):
        async with proxied(folder, environ, spool="64K") as opened:
            yield opened


async def link_of(box: Proxied, tab: Tab) -> str:
    (row,) = [row for row in (await box.opened.list_tabs()).tabs if row.window_id == tab.key]
    return row.link


async def test_a_silent_machine_is_listed_as_it_was_known(box: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a list until it is found out that the connection is dead."""
    tab = await box.opened.create_tab(host="box")
    assert (await tab.execute("cd /usr; true")).exit_code == 0
    monkeypatch.setattr(remote, "SILENT_SECONDS", 10 * DEADLINE)
    connections = tab.client.connections
    assert box.lose("stall")
    with anyio.fail_after(5 * LISTED_SECONDS):
        (row,) = [row for row in (await box.opened.list_tabs()).tabs if row.window_id == tab.key]
    assert (row.cwd, row.last_command, tab.client.connections) == ("/usr", "cd /usr; true", connections)
    box.lose("kill")
    await box.regained(tab, connections)
    assert (await tab.execute("pwd")).output == "/usr\n"


async def test_calls_wait_and_what_was_asked_meanwhile_is_done_once(box: Proxied, folder: Path) -> None:
    tab = await box.opened.create_tab(host="box")
    other = await box.opened.create_tab(host="box")
    for one in (tab, other):
        await one.execute("true")
    since = (await box.opened.watch_events(since=0, timeout=0)).next
    ran = folder / "ran-once"
    await box.outage(tab)
    assert await link_of(box, tab) == "reconnecting"
    async with beside(tab.execute, f"echo ran >>{ran}; echo done", timeout=DEADLINE) as told:
        for refused in (tab, other):  # behind that call, and at a prompt: a deadline of its own, and nothing is run
            with pytest.raises(TabUnavailable):
                await refused.execute(f"echo never >>{ran}", timeout=0.3)
        assert await link_of(box, tab) == "reconnecting"
        box.over()
    assert (told[0].output, told[0].exit_code, told[0].note) == ("done\n", 0, ""), told
    assert (await other.execute("echo well")).output == "well\n"
    assert ran.read_text() == "ran\n"
    events = await box.opened.watch_events(kinds=["link"], since=since, timeout=DEADLINE)
    # On a machine without time for it the connection may be taken for lost once more.
    assert [dict(event.details) for event in events.events[:2]] == [
        {"host": "box", "link": "reconnecting"}, {"host": "box", "link": "up"},
    ]  # fmt: skip
    ran.unlink()


async def test_a_command_that_was_never_sent_says_so(box: Proxied, folder: Path) -> None:
    """At its deadline, and when there is nothing left that it could be sent to."""
    ran = folder / "never-ran"
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("true")
    await known_prompt(tab)
    server = await server_pid(tab.client)
    await box.outage(tab)
    with pytest.raises(TabUnavailable, match=r"never sent: the connection to box is lost; muxwire connects again$"):
        await tab.execute(f"touch {ran}", timeout=0.3)
    async with anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(TabUnavailable, match=r"never ran: its line was never sent: .*the tmux server there"):
                await tab.execute(f"touch {ran}", timeout=DEADLINE)

        tasks.start_soon(call)
        while tab.pane.session.running is None:
            await anyio.sleep(0.01)
        os.kill(server, signal.SIGKILL)
        box.over()
    assert not ran.exists()


async def test_a_deadline_in_an_outage_ends_the_call_and_later_the_command(box: Proxied) -> None:
    tab = await box.opened.create_tab(host="box")
    running = await tab.execute("echo begun; sleep 1000", async_=True)
    await box.opened.wait_for([tab.key], regex="^begun", timeout=DEADLINE)
    await box.outage(tab)
    assert not (await tab.stop_process()).success
    shown = Mock(colours=lambda *, plain: uncoloured)
    await _ls(shown, box.opened, Namespace(faces=None, session="", closed=False, json=False, no_colours=True, name=""))
    assert "reconnecting" in str(shown.say.mock_calls)
    with pytest.raises(TabUnavailable, match="box does not answer"):
        await tab.execute("true", timeout=0.3)
    box.over()
    ended = await box.opened.command_result(running.command_id, wait=DEADLINE)
    assert (ended.output.startswith("begun\n"), ended.exit_code, ended.running) == (True, 130, False), ended
    again = await tab.execute("echo again")
    assert (again.output, again.exit_code) == ("again\n", 0), again


async def test_more_than_is_kept_is_a_gap_of_exactly_that_size(box: Proxied, folder: Path) -> None:
    go, done = folder / "go", folder / "done"
    tab = await box.opened.create_tab(host="box", shell="bash")
    command = f"until [ -e {go} ]; do sleep 0.05; done; seq 1 {LINES}; : >{done}"
    running = await tab.execute(command, async_=True)
    await box.opened.wait_for([tab.key], idle=0.3, timeout=DEADLINE)
    await box.outage(tab)
    go.touch()
    await appeared(done)
    box.over()
    ended = await box.opened.command_result(running.command_id, wait=DEADLINE, max_chars=None)
    assert (ended.exit_code, ended.running) == (0, False), ended
    written = "".join(f"{line}\r\n" for line in range(1, LINES + 1))
    # R is in it, once for each time that the connection was taken for lost on a machine without time for it, or more.
    marks = ended.next_byte - ended.from_byte - len(written)
    assert (marks >= 0, marks % len(new_mark(tab))) == (True, 0), marks
    records = [json.loads(line) for line in tab.log_path.with_suffix(".gaps").read_text().splitlines()]
    # A second one, if more was written while the rest was read.
    gaps = [record for record in records if "size" in record]
    assert all(gap["reason"].startswith("the connection to box was lost") for gap in gaps)
    assert 0 < sum(gap["size"] for gap in gaps) < len(written) - LEFT
    log = tab.log_path.read_bytes()
    before, behind = (
        re.sub(rb"\x1b\]7770;R;[0-9a-f]{16}\x07", b"", part)
        for part in (
            log[ended.from_byte : gaps[0]["offset"]],
            log[gaps[-1]["offset"] + gaps[-1]["size"] : ended.next_byte],
        )
    )
    assert (written.encode().startswith(before), written.encode().endswith(behind)) == (True, True)
    assert len(behind) > LEFT
    again = await tab.execute("echo again")
    assert (again.output, again.exit_code) == ("again\n", 0), again
    go.unlink()
    done.unlink()
