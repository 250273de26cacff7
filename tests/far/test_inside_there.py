"""Who waits for input on another machine: the helper there sees what the kernel here would show."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator

import anyio
import pytest

from muxwire import Tab, Terminals
from tests.users import needs

DEADLINE = 60.0
SPAWN = f"{sys.executable} -c 'import pty, sys; pty.spawn(sys.argv[1:])'"
READS = """sh -c 'printf "Name? "; read x; echo "got $x."'"""
WORKS = """sh -c 'printf "Continue? [Y/n] "; sleep 2; exit 0'"""
RELAYS = {"script": "script -qec {} /dev/null", "spawn": SPAWN + " {}"}


@pytest.fixture
async def tab(terminals: Terminals) -> AsyncIterator[Tab]:
    with anyio.fail_after(DEADLINE):
        made = await terminals.create_tab(host="box", shell="bash")
        yield made
        await made.close(force=True)


def relayed(relay: str, command: str) -> str:
    return RELAYS[relay].format(shlex.quote(command) if relay == "script" else command)


@pytest.mark.parametrize("relay", RELAYS)
async def test_what_works_inside_a_relay_waits_for_nothing(tab: Tab, relay: str) -> None:
    needs("script")
    done = await tab.execute(relayed(relay, WORKS), timeout=DEADLINE)
    assert (done.exit_code, done.running, done.note) == (0, False, ""), done


@pytest.mark.parametrize("command", [*(relayed(relay, READS) for relay in RELAYS), f"busybox {READS}"])
async def test_what_reads_is_seen_wherever_it_is(terminals: Terminals, tab: Tab, command: str) -> None:
    needs("script")
    needs("busybox")
    asked = await tab.execute(command, timeout=DEADLINE)
    assert (asked.state, asked.running) == ("interactive", True), asked
    assert "a line of input" in asked.note
    await tab.send_keys(["me", "Enter"])
    done = await terminals.command_result(asked.command_id, wait=DEADLINE)
    assert "got me." in done.output, done
