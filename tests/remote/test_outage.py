"""A connection that is away for a while: calls wait, programs go on, and afterwards everything is there."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire import TabUnavailable, TmuxSilent
from muxwire.client.watchdog import process_table
from muxwire.instance import remote
from muxwire.shell.prompt_line import BUSY_GRACE
from muxwire.tabs.listing import LISTED_SECONDS
from tests.library.opened import known_prompt
from tests.processes import gone
from tests.remote.proxied import PATIENT, Proxied, place_of, proxied

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from muxwire import Tab

DEADLINE = 60.0
# Ten times as much as is kept.
LINES = 100_000
# Of the 64 KiB that are kept, without marks and a prompt.
LEFT = 60_000


@pytest.fixture
async def box(folder: Path, environ: dict[str, str]) -> AsyncIterator[Proxied]:
    with anyio.fail_after(DEADLINE):
        async with proxied(folder, environ, 'spool = "64K"\n') as opened:
            yield opened


async def there(path: Path) -> None:
    """Wait for a file of a program there."""
    while not path.exists():
        await anyio.sleep(0.02)


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


async def test_a_tab_whose_output_is_not_kept_yet_loses_nothing(folder: Path, environ: dict[str, str]) -> None:
    """The pipe of a new pane is there at once; the program at its end begins later, on a busy machine much later."""
    slow = folder / "slow"
    slow.mkdir()
    (slow / "mkdir").write_text(f'#!/bin/sh\ncase $* in *spool-*) sleep 1 ;; esac\nexec {shutil.which("mkdir")} "$@"\n')
    (slow / "mkdir").chmod(0o755)
    async with proxied(folder, environ | {"PATH": f"{slow}:{environ['PATH']}"}) as box:
        tab = await box.opened.create_tab(host="box", shell="bash")
        box.lose("kill")
        assert (await tab.execute("echo new", timeout=PATIENT)).output == "new\n"
        assert (await box.opened.stream_logs(tab.key, from_byte=0, max_bytes=1 << 20)).dropped == 0
        assert tab.client.connections > 0


async def test_calls_wait_and_what_was_asked_meanwhile_is_done_once(box: Proxied, folder: Path) -> None:
    tab = await box.opened.create_tab(host="box")
    other = await box.opened.create_tab(host="box")
    for one in (tab, other):
        await one.execute("true")
    since = (await box.opened.watch_events(since=0, timeout=0)).next
    ran, told = folder / "ran-once", []
    await box.outage(tab)
    assert await link_of(box, tab) == "reconnecting"
    async with anyio.create_task_group() as tasks:

        async def call() -> None:
            told.append(await tab.execute(f"echo ran >>{ran}; echo done", timeout=PATIENT))

        tasks.start_soon(call)
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
    (server,) = await tab.client.command("display-message", "-p", "#{pid}")
    await box.outage(tab)
    with pytest.raises(TabUnavailable, match="never ran: its line was never sent: the connection to box is lost"):
        await tab.execute(f"touch {ran}", timeout=0.3)
    async with anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(TabUnavailable, match=r"never ran: its line was never sent: .*the tmux server there"):
                await tab.execute(f"touch {ran}", timeout=PATIENT)

        tasks.start_soon(call)
        while tab.pane.session.running is None:
            await anyio.sleep(0.01)
        os.kill(int(server), signal.SIGKILL)
        box.over()
    assert not ran.exists()


async def test_a_deadline_in_an_outage_ends_the_call_and_later_the_command(box: Proxied) -> None:
    tab = await box.opened.create_tab(host="box")
    running = await tab.execute("echo begun; sleep 1000", async_=True)
    await box.opened.wait_for([tab.key], regex="^begun", timeout=PATIENT)
    async with anyio.create_task_group() as tasks:

        async def interrupt() -> None:
            assert not (await tab.stop_process()).success

        await box.outage(tab)
        tasks.start_soon(interrupt)
    assert await link_of(box, tab) == "reconnecting"
    with pytest.raises(TabUnavailable, match="box does not answer"):
        await tab.execute("true", timeout=0.3)
    box.over()
    ended = await box.opened.command_result(running.command_id, wait=PATIENT)
    assert (ended.output.startswith("begun\n"), ended.exit_code, ended.running) == (True, 130, False), ended
    again = await tab.execute("echo again")
    assert (again.output, again.exit_code) == ("again\n", 0), again


async def test_the_first_beat_comes_at_once(box: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the far half a driver is silent that has not said anything since an earlier process ended."""
    monkeypatch.setattr(remote, "BEAT_SECONDS", 10 * DEADLINE)
    tab = await box.opened.create_tab(host="box")
    while not await tab.client.command("show-options", "-sqv", "@muxwire-beat"):
        await anyio.sleep(0.02)


async def test_what_was_to_be_ended_in_an_outage_is_ended_whatever_became_of_its_key(box: Proxied) -> None:
    """A C-c may come before the program that it is for; this one takes none."""
    tab = await box.opened.create_tab(host="box")
    ignores = "sh -c \"trap '' INT; echo begun; while :; do sleep 0.1; done\""
    running = await tab.execute(ignores, async_=True)
    await box.opened.wait_for([tab.key], regex="^begun", timeout=PATIENT)
    await box.outage(tab)
    assert not (await tab.stop_process()).success
    box.over()
    ended = await box.opened.command_result(running.command_id, wait=PATIENT)
    assert (ended.exit_code, ended.running) == (143, False), ended


async def test_what_nobody_can_be_asked_about_is_not_claimed(box: Proxied) -> None:
    """What was last known of the terminal is older than the command: then the shell waited for keys."""
    tab = await box.opened.create_tab(host="box")
    idle = await box.opened.create_tab(host="box", shell="dash")
    assert (await idle.execute("true")).state == "prompt"
    running = await tab.execute("sleep 1000", async_=True)
    await box.outage(tab)
    assert (tab.state, idle.state) == ("running", "prompt")
    asked = await box.opened.command_result(running.command_id)
    assert (asked.state, asked.running, asked.note) == ("running", True, ""), asked
    box.over()


async def test_a_tab_that_is_asked_for_in_an_outage_is_refused_after_as_long_as_an_answer_may_take(
    box: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await box.opened.create_tab(host="box")
    monkeypatch.setattr(tab.client.patience, "seconds", 0.3)
    await box.outage(tab)
    refused = []

    async def create() -> None:
        with pytest.raises(TmuxSilent, match="box is lost"):
            await box.opened.create_tab(host="box")
        refused.append(True)

    async with anyio.create_task_group() as calls:
        calls.start_soon(create)
        calls.start_soon(create)
    assert await link_of(box, tab) == "reconnecting"
    box.over()
    await box.regained(tab, 0)
    monkeypatch.undo()
    assert (await (await box.opened.create_tab(host="box")).execute("echo new")).output == "new\n"


async def test_more_than_is_kept_is_a_gap_of_exactly_that_size(box: Proxied, folder: Path) -> None:
    go, done = folder / "go", folder / "done"
    tab = await box.opened.create_tab(host="box", shell="bash")
    command = f"until [ -e {go} ]; do sleep 0.05; done; seq 1 {LINES}; : >{done}"
    running = await tab.execute(command, async_=True)
    await box.opened.wait_for([tab.key], idle=0.3, timeout=PATIENT)
    await box.outage(tab)
    go.touch()
    await there(done)
    box.over()
    ended = await box.opened.command_result(running.command_id, wait=PATIENT, max_chars=None)
    assert (ended.exit_code, ended.running) == (0, False), ended
    written = "".join(f"{line}\r\n" for line in range(1, LINES + 1))
    marks = ended.next_byte - ended.from_byte - len(written)
    assert marks in range(100), marks  # R is in it, once or a few times
    records = [json.loads(line) for line in tab.log_path.with_suffix(".gaps").read_text().splitlines()]
    # A second one, if more was written while the rest was read.
    gaps = [record for record in records if "size" in record]
    assert all(gap["reason"].startswith("the connection to box was lost") for gap in gaps)
    assert 0 < sum(gap["size"] for gap in gaps) < len(written) - LEFT
    log = tab.log_path.read_bytes()
    before = log[ended.from_byte : gaps[0]["offset"]]
    behind = re.sub(
        rb"\x1b\]7770;R;[0-9a-f]{16}\x07", b"", log[gaps[-1]["offset"] + gaps[-1]["size"] : ended.next_byte]
    )
    assert (written.encode().startswith(before), written.encode().endswith(behind)) == (True, True)
    assert len(behind) > LEFT
    again = await tab.execute("echo again")
    assert (again.output, again.exit_code) == ("again\n", 0), again
    go.unlink()
    done.unlink()


async def test_a_line_that_has_ended_meanwhile_refuses_no_command(box: Proxied, tmp_path: Path) -> None:
    """What was known of the shell before the connection was lost says nothing of now."""
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("true")
    await tab.send_keys([f"until [ -e {tmp_path}/gate ]; do sleep 0.02; done; echo typed", "Enter"])
    while tab.state != "busy":
        await tab.pane.stream.changed()
    await box.outage(tab)
    (tmp_path / "gate").touch()
    async with anyio.create_task_group() as calls:

        async def run() -> None:
            assert (await tab.execute("echo next", timeout=PATIENT)).output == "next\n"

        calls.start_soon(run)
        await anyio.sleep(3 * BUSY_GRACE)  # a command is refused after that
        box.over()


async def test_nothing_runs_on_in_the_panes_of_a_server_that_was_killed(box: Proxied) -> None:
    """The kernel hangs up on what is in the foreground; a shell in a loop is not, and would run for ever."""
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("while :; do sleep 0.01; done", async_=True)
    folder = place_of(tab)
    while not (shells := [pid for pid, row in process_table().items() if row.parent == tab.pane.leader_pid]):
        await anyio.sleep(0.05)
    listed = await anyio.run_process(["tmux", "-S", f"{folder}/s", "display-message", "-p", "#{pid}"])
    os.kill(int(listed.stdout), signal.SIGKILL)
    await gone(shells, folder, tab.runner.folder.parent)
