"""Tabs on another machine by the library: everything that a tab does here, and what it is called."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import AsyncMock

import anyio
import pytest

from muxwire import Carrier, InvalidArgument, NoSuchTarget, Tab, Terminals
from tests.deadline import DEADLINE
from tests.library.opened import SHELLS


@pytest.fixture
async def tab(terminals: Terminals) -> AsyncIterator[Tab]:
    with anyio.fail_after(DEADLINE):
        made = await terminals.create_tab(host="box", shell="bash")
        yield made
        await made.close(force=True)


@pytest.mark.parametrize("shell", SHELLS)
async def test_an_answer_that_ends_a_command_there_has_its_exit_code(terminals: Terminals, shell: str) -> None:
    made = await terminals.create_tab(host="box", shell=shell)
    assert (await made.execute("sh -c 'read line; exit 3'")).state == "interactive"
    sent = await made.send_keys(["hello", "Enter"], wait=DEADLINE)
    assert (sent.outcome, sent.state, sent.exit_code) == ("ended", "prompt", 3), sent
    await made.close()


async def test_a_reader_there_at_the_end_of_a_pipe_is_seen_to_wait(terminals: Terminals, tab: Tab) -> None:
    asked = await tab.execute("true | head -n 1 </dev/tty", timeout=DEADLINE / 4)
    assert (asked.timed_out, asked.state) == (False, "interactive"), asked
    await tab.send_keys(["hello", "Enter"])
    told = await terminals.command_result(asked.command_id, wait=DEADLINE)
    assert (told.output, told.exit_code) == ("hello\nhello\n", 0), told


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user without a password")
async def test_a_program_of_another_user_there_is_seen_to_ask_for_a_secret(terminals: Terminals) -> None:
    made = await terminals.create_tab(host=Carrier(["env", "-i"], user="nobody", cwd="/"), shell="bash")
    asked = await made.execute("su", timeout=DEADLINE / 4)
    assert (asked.state, asked.why_running) == ("interactive", "the program waits for a password (echo is off)"), asked
    await made.close(force=True)


async def test_who_has_a_shell_there_that_we_do_not_know_gets_one_that_we_do(terminals: Terminals) -> None:
    made = await terminals.create_tab(host="odd")
    assert (await made.execute("echo 'a  b'")).output == "a  b\n"
    await made.close()


async def test_what_is_not_there_is_refused(terminals: Terminals, folder: Path) -> None:
    for wrong in ({"cwd": str(folder / "nothing")}, {"shell": "no-such-shell"}, {"command": ["no-such-program"]}):
        with pytest.raises(InvalidArgument, match="box"):
            await terminals.create_tab(host="box", **wrong)


async def test_which_tab_is_meant_is_asked_of_all_machines(terminals: Terminals, tab: Tab) -> None:
    here = await terminals.create_tab()
    there = await terminals.create_tab(host="box", name="build", session="work")
    tab.book.spawn(AsyncMock(side_effect=OSError))  # as without a descriptor: nothing is wrong with the machine
    assert [await terminals.tab("=") for _ in range(2)] + [
        await terminals.tab(f"box/work{of_it}") for of_it in ("", ":build", ":0")
    ] == [here, there, there, there, there]
    listed = await terminals.list_tabs(session="box/work")
    assert ([row.window_id for row in listed], [row.name for row in listed.sessions]) == ([there.key], ["box/work"])
    assert [row.window_id for row in await terminals.list_tabs() if row.active] == [there.key]
    await terminals.close_session("box/work", force=True)
    assert (await terminals.tab_or_new())[0] is here


async def test_an_error_names_only_tabs_that_are_on_another_machine(terminals: Terminals, tab: Tab) -> None:
    await terminals.create_tab(host="brief", name="build")
    for target, said in (("build", "it is brief/build"), ("nothing", "is called HOST/NAME")):
        with pytest.raises(NoSuchTarget) as caught:
            await terminals.tab(target)
        assert caught.value.remedy.endswith(said), caught.value.remedy
