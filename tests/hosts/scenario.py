"""What every host runs: an instance in ordinary use, with all that the library starts of its own accord."""

from __future__ import annotations

from pathlib import Path

import anyio

import muxwire
from tests.users import environ_of

# Seconds that no host needs: each step ends as soon as what it waits for is there.
LONG = 20.0


def environ(folder: Path) -> dict[str, str]:
    """The environment of a user whose home is in `folder`."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return environ_of(home, runtime=folder)


async def use_tabs(terminals: muxwire.Terminals) -> None:
    """Run a command that is interrupted, one that ends at once, one that takes longer, and a program that ends."""
    tab = await terminals.create_tab()
    result = await tab.execute("echo three; sleep 60", timeout=0.2)  # the first: a shell may take its time to start
    assert result.timed_out, result
    assert result.output.startswith("three\n"), result
    result = await tab.execute("echo one; (exit 3)")
    assert (result.output, result.exit_code) == ("one\n", 3), result
    result = await tab.execute("sleep 0.05; echo two")
    assert (result.output, result.exit_code) == ("two\n", 0), result
    brief = await terminals.create_tab(command=["sh", "-c", "exit 4"])
    seen = await terminals.wait_for([brief.window_id], exit=True, timeout=LONG)
    assert (seen.outcome, seen.match) == ("met", "exit 4"), seen


async def use_instance(folder: Path) -> None:
    """Open an instance, use it, and leave it; AssertionError if something was not as it should be."""
    with anyio.fail_after(LONG):
        async with muxwire.open_terminals(state_dir=folder / "state", environ=environ(folder)) as terminals:
            await use_tabs(terminals)
            socket = terminals.folders.socket_path
            assert socket.exists()
    assert not socket.exists()


async def use_two(folder: Path) -> None:
    """Use one instance, then two at once in the same loop."""
    await use_instance(folder)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(use_instance, folder)
        tasks.start_soon(use_instance, folder)
