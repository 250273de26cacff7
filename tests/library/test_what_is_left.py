"""`stop_process` says what of its job still runs; success means that what it started is gone."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from muxwire import Terminals
from muxwire.host.processes import HAS_PROC
from muxwire.results import ProcessStop
from tests.library.opened import tab_for

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


@pytest.mark.parametrize("shell", SHELLS)
async def test_where_nothing_is_left_it_is_a_success(terminals: Terminals, shell: str) -> None:
    async with tab_for(DEADLINE, terminals, shell) as tab:
        await tab.execute("sleep 5 &")
        await anyio.sleep(0.05)
        await tab.start_process("sh -c 'echo up; sleep 80 | sleep 81'", ready="up")
        stopped = await tab.stop_process()
        assert (stopped.left, stopped.success) == ((), True)
        assert (await tab.stop_process()).left == ()


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
