"""`stop_process` says what of its job still runs; success means that what it started is gone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.results import ProcessStop
from tests.deadline import DEADLINE, until
from tests.library.opened import SHELLS, processes
from tests.processes import gone


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


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_job_of_the_line_that_ended_last_is_named(terminals: Terminals, tab: Tab, ends: list[int]) -> None:
    """Each line ends some ticks (10 ms) after its job has begun."""
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


@pytest.mark.parametrize("shell", SHELLS)
async def test_where_nothing_is_left_it_is_a_success(tab: Tab) -> None:
    await tab.execute("sleep 5 &")
    await anyio.sleep(0.05)
    await tab.start_process("sh -c 'echo up; sleep 80 | sleep 81'", ready="up")
    stopped = await tab.stop_process()
    assert ((stopped.left, stopped.success), (await tab.stop_process()).left) == (((), True), ())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_what_reads_the_terminal_from_another_session_ends_too(tab: Tab, tmp_path: Path) -> None:
    """As pinentry does: its agent starts it for a program here, and nothing that is sent to that reaches it.

    It puts back the modes of the terminal that it has found, after the shell has set its own.
    """
    (tmp_path / "asks").write_text("trap 'stty sane; exit' TERM; echo $$; while :; do read x; done\n")
    (tmp_path / "calls").write_text(f"t=$(tty); setsid sh {tmp_path}/asks <$t & wait $!\n")
    left = await tab.execute(f"sh {tmp_path}/calls", timeout=DEADLINE, on_timeout="leave")
    assert left.state == "interactive", left
    pid = int(left.output.split()[0])
    await tab.stop_process()
    assert (await tab.execute("echo ok", timeout=DEADLINE)).output == "ok\n"
    await gone([pid])


# In which shell, what ran there before, and what leaves a program running.
LEAVES = [
    *((shell, "/bin/sleep 76 &", "{} & wait") for shell in SHELLS if shell != "zsh"),
    ("bash", "sh -c 'setsid /bin/sleep 9 > /dev/null &'", "sh -c 'setsid {} > /dev/null 2>&1 < /dev/null & wait'"),
    ("bash", "sh -c 'setsid /bin/sleep 9 > /dev/null &'", "setsid {} & wait; /bin/sleep 9"),
]


@pytest.mark.parametrize(("shell", "before", "leaves"), LEAVES)
async def test_what_outlives_its_command_is_named(tab: Tab, program: str, before: str, leaves: str) -> None:
    """In the session of its shell, or in one of its own: known by its parents, or by the terminal that it has open."""
    await tab.execute(before)  # an earlier one is not of this job
    await anyio.sleep(0.05)
    await tab.execute(leaves.format(program), async_=True)
    await until(lambda: processes(program))
    stopped = await tab.stop_process()
    assert (names(stopped), stopped.success, stopped.state) == (["sleep"], False, "prompt")
    assert [one.pid for one in stopped.left] == processes(program)


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell != "zsh"])
async def test_what_a_command_leaves_that_its_timeout_ended_is_named(tab: Tab, program: str) -> None:
    for command in (f"sh -c '{program} & /bin/sleep 73'", f"{program} & /bin/sleep 73"):
        before = processes(program)
        ran = await tab.execute(command, timeout=0.2)
        (left,) = set(processes(program)) - set(before)
        assert (ran.timed_out, ran.note) == (True, f"what it began still runs: sleep (pid {left})"), ran
    assert (await tab.execute("/bin/sleep 73", timeout=0.2)).note == ""  # what earlier ones began is not its
