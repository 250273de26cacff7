"""Stopping in the moment after a start: what runs has ended, what did not run never will, and the answer says which."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import anyio
import pytest

from muxwire import ProcessStop, Tab, TabUnavailable, Terminals
from tests.library.opened import SHELLS, busy_loop, processes, seen, tab_for

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL")
# Which signal follows which, and who gets it, is tried in rows (tests/shell/test_stop.py); here each shell, and
# each signal in one of them.
EACH = [*((shell, "SIGINT") for shell in SHELLS), *(("bash", name) for name in SIGNALS[1:])]
EACH_SHELL = [*((shell, "SIGINT") for shell in SHELLS), ("bash", "SIGTERM")]
# Seconds between the start and the stop: the line is being taken, the shell forks, the program starts, it runs.
DELAYS = (0.0, 0.001, 0.005, 0.02)


async def ended(tab: Tab, stopped: ProcessStop, ran: Path, program: str) -> None:
    """Whatever was started has ended, the answer is true of it, and the tab is as before."""
    assert (stopped.success, stopped.state, processes(program)) == (True, "prompt", []), stopped
    assert (stopped.exit_code is not None) == ran.exists(), stopped
    assert (await tab.execute("echo ok")).output == "ok\n"


@pytest.mark.parametrize(("shell", "name"), EACH)
async def test_what_is_stopped_at_once_has_ended(
    terminals: Terminals, tab: Tab, name: str, program: str, tmp_path: Path
) -> None:
    for number, delay in enumerate(2 * DELAYS):
        ran = tmp_path / f"ran{number}"
        running = await tab.execute(f"echo > {ran}; {program}", async_=True)
        await anyio.sleep(delay)
        stopped = await tab.stop_process(name)
        await ended(tab, stopped, ran, program)
        if ran.exists():
            assert stopped.exit_code, stopped
            result = await terminals.command_result(running.command_id)
            assert (result.running, result.exit_code) == (False, stopped.exit_code), result


@pytest.mark.parametrize(("shell", "name"), [*EACH_SHELL, ("zsh", "SIGKILL")])
async def test_what_the_shell_runs_itself_is_stopped_as_only_a_key_can(tab: Tab, shell: str, name: str) -> None:
    for delay in DELAYS:
        await tab.execute(busy_loop(shell), async_=True)
        await anyio.sleep(delay)
        stopped = await tab.stop_process(name)
        assert (stopped.success, stopped.signal_sent, stopped.state) == (True, "SIGINT", "prompt"), stopped
        assert stopped.exit_code == 128 + signal.SIGINT
        assert (await tab.execute("echo ok")).output == "ok\n"


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_stop_does_not_overtake_the_start_that_was_called_before(tab: Tab, program: str) -> None:
    """Before a line is typed fish's prompt is looked for: a stop found nothing to stop, and the program ran on."""
    for number in range(3):
        await tab.execute(f"echo {number}")  # so fish draws a prompt that it has not drawn before
        async with anyio.create_task_group() as calls:
            calls.start_soon(tab.start_process, program)
            calls.start_soon(tab.stop_process)
        assert not processes(program)


@pytest.mark.parametrize("shell", SHELLS)
async def test_what_ended_by_itself_before_the_stop_has_its_own_status(tab: Tab) -> None:
    for _ in range(4):
        await tab.execute("sh -c 'exit 3'")
        stopped = await tab.stop_process()  # its shell is on its way to the prompt
        assert (stopped.success, stopped.signal_sent, stopped.exit_code) == (True, "", 3), stopped
        assert (await tab.execute("echo ok")).output == "ok\n"


async def test_a_shell_that_starts_comes_to_its_prompt_first(terminals: Terminals, tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("sleep 0.3")  # a C-c would end this, and the start-up files with it
    async with tab_for(terminals, HOME=str(tmp_path)) as tab:
        stopped = await tab.stop_process()
        assert (stopped.success, stopped.signal_sent, stopped.state) == (True, "", "prompt"), stopped


# zsh gives the half-typed line back at the next prompt, and runs ours.
@pytest.mark.parametrize("shell", ["bash", "dash", "ksh"])
async def test_what_the_shell_never_runs_is_said_to_have_no_status(
    terminals: Terminals, tab: Tab, tmp_path: Path
) -> None:
    await tab.execute("PS2='more '")  # one that does not say that it is one
    await tab.runner.settled()
    since = tab.next_byte
    await tab.runner.keyboard.type(b"echo 'half a line\r")  # a person's quote, which takes in our line
    await seen(tab, b"more ", since)
    running = await tab.execute(f"echo > {tmp_path}/ran", async_=True)
    stopped = await tab.stop_process()
    assert (stopped.success, stopped.exit_code, stopped.state) == (True, None, "prompt"), stopped
    with pytest.raises(TabUnavailable, match="did not run"):
        await terminals.command_result(running.command_id)
    assert (await tab.execute("echo ok")).output == "ok\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("delay", "name"), [*((delay, "SIGINT") for delay in DELAYS), *((None, name) for name in SIGNALS)]
)
async def test_a_program_in_place_of_a_shell_can_be_stopped(
    terminals: Terminals, name: str, delay: float | None
) -> None:
    tab = await terminals.create_tab(command=[sys.executable, "-q"])
    if delay is None:
        await terminals.wait_for([tab.window_id], until=">>> ")
    else:
        await anyio.sleep(delay)
    stopped = await tab.stop_process(name, grace=0.5 if name == "SIGINT" else 5.0)
    assert (stopped.success, stopped.state) == (True, "dead"), stopped
    if delay is None:
        sent = "SIGTERM" if name == "SIGINT" else name  # at its prompt python goes on after a C-c
        assert (stopped.signal_sent, stopped.exit_code) == (sent, 128 + signal.Signals[sent]), stopped
