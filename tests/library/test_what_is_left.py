"""`stop_process` says what of its job still runs; success means that what it started is gone."""

from __future__ import annotations

import os
import re
import shutil
import signal
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire.host import local
from muxwire.host.processes import HAS_PROC
from muxwire.shell.look import PaneLook, TtyModes
from tests.library.opened import tab_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from muxwire import Terminals
    from muxwire.results import ExecutionResult, ProcessStop

pytestmark = pytest.mark.skipif(not HAS_PROC, reason="the kernel's account is not to be had")

DEADLINE = 40.0
SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")


@pytest.fixture
def ends() -> Iterator[list[int]]:
    """Processes that end with the test."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def names(stopped: ProcessStop) -> list[str]:
    return [one.name for one in stopped.left]


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell != "zsh"])  # below
async def test_a_job_that_outlives_its_command_is_named(terminals: Terminals, shell: str, ends: list[int]) -> None:
    async with tab_for(DEADLINE, terminals, shell) as tab:
        await tab.execute("/bin/sleep 76 &")  # an earlier one is not of this job
        await anyio.sleep(0.05)
        await tab.execute("/bin/sleep 77 & wait", async_=True)
        while [name for _, name in tab.pane.host.session_since(tab.pane.leader_pid, 0)].count("sleep") < 2:
            await anyio.lowlevel.checkpoint()
        stopped = await tab.stop_process()
        ends += [one.pid for one in stopped.left]
        assert (names(stopped), stopped.success, stopped.state) == (["sleep"], False, "prompt")
        command = await tab.execute(f"ps -o args= -p {stopped.left[0].pid}")
        assert command.output.split() == ["/bin/sleep", "77"]


APART = {
    "by its parents": "sh -c 'setsid /bin/sleep 77 > /dev/null 2>&1 < /dev/null & wait'",
    "by the terminal, which it has open": "setsid /bin/sleep 77 & wait; /bin/sleep 9",
}


@pytest.mark.skipif(shutil.which("setsid") is None, reason="there is no setsid")
@pytest.mark.parametrize("known", APART)
async def test_what_has_a_session_of_its_own_is_named(terminals: Terminals, known: str, ends: list[int]) -> None:
    async with tab_for(DEADLINE, terminals, "bash") as tab:
        earlier = await tab.execute("sh -c 'setsid /bin/sleep 76 > /dev/null & echo $!'")  # is not of this job
        ends.append(int(earlier.output))
        await anyio.sleep(0.05)
        await tab.execute(APART[known], async_=True)
        begun = tab.pane.session.running
        assert begun is not None
        found: dict[int, str] = {}
        while "sleep" not in map(tab.pane.host.program_of, found):
            await anyio.lowlevel.checkpoint()
            found = tab.pane.host.begun_apart(tab.pane.leader_pid, tab.pane.tty, begun.typed_time)
        stopped = await tab.stop_process()
        ends += [one.pid for one in stopped.left]
        assert (names(stopped), stopped.success, stopped.state) == (["sleep"], False, "prompt")
        listed = await tab.execute(f"ps -o args= -p {stopped.left[0].pid}")
        assert listed.output.split() == ["/bin/sleep", "77"]
        assert (await tab.stop_process()).success  # it was told once


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_job_of_the_line_that_ended_last_is_named(terminals: Terminals, shell: str, ends: list[int]) -> None:
    """Each line ends some ticks (10 ms) after its job has begun."""
    async with tab_for(DEADLINE, terminals, shell) as tab:
        await tab.execute("/bin/sleep 74 & /bin/sleep 0.05")
        by_command = await tab.stop_process()
        await tab.send_keys(["Enter"])  # no line has run since
        again = await tab.stop_process()
        await tab.send_keys(["/bin/sleep 75 & /bin/sleep 0.05; echo u''p", "Enter"], wait=0)
        await terminals.wait_for([tab.key], regex="^up", timeout=DEADLINE)
        by_keys = await tab.stop_process()
        ends += [one.pid for stopped in (by_command, by_keys) for one in stopped.left]
        assert (names(by_command), by_command.success, by_command.signal_sent) == (["sleep"], False, "")
        if tab.pane.session.has_preexec_mark:  # elsewhere an empty line is not distinguished
            assert again.left == by_command.left
        assert (names(by_keys), by_keys.success) == (["sleep"], False)
        assert by_keys.left != by_command.left


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell != "zsh"])
async def test_what_a_command_leaves_that_its_timeout_ended_is_named(
    terminals: Terminals, shell: str, ends: list[int]
) -> None:
    async with tab_for(DEADLINE, terminals, shell) as tab:
        for command in ("sh -c '/bin/sleep 72 & /bin/sleep 73'", "/bin/sleep 72 & /bin/sleep 73"):
            ran = await tab.execute(command, timeout=0.2)
            found = re.fullmatch(r"what it began still runs: sleep \(pid ([0-9]+)\)", ran.note)
            assert ran.timed_out, ran
            assert found is not None, ran
            ends.append(int(found[1]))
        assert (await tab.execute("/bin/sleep 73", timeout=0.2)).note == ""  # what earlier ones began is not its
        listed = await tab.execute(f"ps -o args= -p {ends[0]} -p {ends[1]}")
        assert listed.output.split() == ["/bin/sleep", "72", "/bin/sleep", "72"]


async def test_what_the_next_command_runs_is_not_left_of_the_one_before(terminals: Terminals, ends: list[int]) -> None:
    """It waits for its turn, and is typed as soon as the prompt is there."""
    async with tab_for(DEADLINE, terminals, "bash") as tab:
        ran: list[ExecutionResult] = []

        async def run(command: str, timeout: float) -> None:
            ran.append(await tab.execute(command, timeout=timeout))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, "/bin/sleep 70 & /bin/sleep 71", 0.5)
            while tab.pane.session.running is None:
                await anyio.lowlevel.checkpoint()
            tasks.start_soon(run, "/bin/sleep 1 | /bin/cat", DEADLINE)
        found = re.fullmatch(r"what it began still runs: sleep \(pid ([0-9]+)\)", ran[1].note or ran[0].note)
        assert found is not None, ran
        ends.append(int(found[1]))
        assert sorted(one.exit_code or 0 for one in ran) == [0, 130], ran
        assert "" in (ran[0].note, ran[1].note), ran


async def test_what_a_program_leaves_is_named(terminals: Terminals, ends: list[int]) -> None:
    async with tab_for(DEADLINE, terminals, "bash") as tab:
        await tab.start_process("sh -c 'sleep 78 & echo up; exec sleep 79'", ready="up")
        stopped = await tab.stop_process()  # a shell's job in the background ignores SIGINT
        ends += [one.pid for one in stopped.left]
        assert (names(stopped), stopped.success) == (["sleep"], False)


@pytest.mark.parametrize("shell", SHELLS)
async def test_where_nothing_is_left_it_is_a_success(terminals: Terminals, shell: str) -> None:
    async with tab_for(DEADLINE, terminals, shell) as tab:
        await tab.execute("sleep 5 &")
        await anyio.sleep(0.05)
        await tab.start_process("sh -c 'echo up; sleep 80 | sleep 81'", ready="up")
        stopped = await tab.stop_process()
        assert (stopped.left, stopped.success) == ((), True)
        assert (await tab.stop_process()).left == ()


async def test_what_keys_started_is_named_too(terminals: Terminals, ends: list[int]) -> None:
    async with tab_for(DEADLINE, terminals, "bash") as tab:
        # It says so itself: before that a C-c would still end it.
        await tab.send_keys(["sh -c '(echo u''p; exec sleep 82) & exec sleep 83'", "Enter"], wait=0)
        await terminals.wait_for([tab.key], regex="^up", timeout=DEADLINE)
        stopped = await tab.stop_process()
        ends += [one.pid for one in stopped.left]
        assert (names(stopped), stopped.success) == (["sleep"], False)


async def test_what_runs_for_a_slow_prompt_is_not_left(terminals: Terminals) -> None:
    async with tab_for(DEADLINE, terminals, "bash") as tab:
        await tab.execute("PROMPT_COMMAND='sleep 0.8'")
        await tab.execute("sleep 60", async_=True)
        stopped = await tab.stop_process()
        assert (stopped.left, stopped.success, stopped.state) == ((), True, "prompt"), stopped


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_what_reads_the_terminal_from_another_session_ends_too(
    terminals: Terminals, tmp_path: Path, shell: str
) -> None:
    """As pinentry does: its agent starts it for a program here, and nothing that is sent to that reaches it.

    It puts back the modes of the terminal that it has found, after the shell has set its own.
    """
    (tmp_path / "asks").write_text("trap 'stty sane; exit' TERM; echo $$; while :; do read x; done\n")
    (tmp_path / "calls").write_text(f"t=$(tty); setsid sh {tmp_path}/asks <$t & wait $!\n")
    async with tab_for(DEADLINE, terminals, shell) as tab:
        left = await tab.execute(f"sh {tmp_path}/calls", timeout=DEADLINE, on_timeout="leave")
        assert left.state == "interactive", left
        pid = int(left.output.split()[0])
        await tab.stop_process()
        assert (await tab.execute("echo ok", timeout=DEADLINE)).output == "ok\n"
        while await anyio.Path(f"/proc/{pid}").exists():
            await anyio.sleep(0.01)


async def test_what_read_before_and_does_something_else_as_its_caller_is_stopped_ends_too(
    terminals: Terminals, tmp_path: Path
) -> None:
    """It was not seen to read then, stayed, and read again: the next commands were refused."""
    (tmp_path / "asks").write_text("trap 'sleep 2' USR1; echo $$; while :; do read x; done\n")
    (tmp_path / "calls").write_text(
        f"t=$(tty); setsid sh {tmp_path}/asks <$t & trap 'kill -USR1 '$!'; exit' INT; wait $!\n"
    )
    async with tab_for(DEADLINE, terminals, "bash") as tab:
        left = await tab.execute(f"sh {tmp_path}/calls", timeout=DEADLINE, on_timeout="leave")
        assert left.state == "interactive", left
        pid = int(left.output.split()[0])
        assert (await tab.stop_process()).success
        while await anyio.Path(f"/proc/{pid}").exists():
            await anyio.sleep(0.01)
        assert (await tab.execute("echo ok", timeout=DEADLINE)).output == "ok\n"


async def test_what_is_about_to_run_when_it_is_looked_at_ends_too(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a pinentry on a busy machine: two looks missed it, and the next commands were refused."""
    async with tab_for(DEADLINE, terminals, "bash") as tab:
        left = await tab.execute("(setsid sh -c 'echo $$; exec cat' <$(tty) & wait $!)", timeout=DEADLINE)
        assert left.state == "interactive", left
        host = tab.pane.host
        look_all, missed = host.look_all, 0

        async def misses(leader: int, tty: str) -> PaneLook:
            nonlocal missed
            missed += 1
            seen, sees = await look_all(leader, tty), missed == 2 and tab.pane.session.running is not None
            return replace(seen, processes=tuple(one for one in seen.processes if one.controls or sees))

        monkeypatch.setattr(type(host), "look_all", staticmethod(misses))
        assert (await tab.stop_process()).success
        monkeypatch.undo()
        while await anyio.Path(f"/proc/{int(left.output.split()[0])}").exists():
            await anyio.sleep(0.01)


@pytest.mark.parametrize("changes", range(4))
async def test_a_look_during_which_the_front_changes_is_taken_again(
    monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    """It shows no process, so that a pinentry was not seen, and a program that waits was looked at seconds later."""
    looks = []

    class Look(list[None]):
        def __init__(self, leader: int, tty: str) -> None:
            looks.append(tty)
            foreground = 0 if len(looks) <= changes else leader
            self.seen = PaneLook(leader, TtyModes(icanon=True, echo=True, isig=True), foreground)

    monkeypatch.setattr("muxwire.host.look.LookInSteps", Look)
    seen = await local.LocalHost(environ={}).look_all(7, "/dev/pts/0")
    assert (seen.foreground, len(looks)) == ((7, changes + 1) if changes < 3 else (0, 3))


async def test_without_proc_a_reused_pid_is_not_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    here = local.LocalHost(environ={})
    assert here.detects_pid_reuse
    monkeypatch.setattr("muxwire.host.processes.HAS_PROC", False)
    assert here.started(os.getpid()) == here.started(os.getppid())
    assert not here.detects_pid_reuse
