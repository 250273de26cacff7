"""What is said of a process that was started, of a command that waits, and of a time-out that is hardly any time."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire import ExecutionResult, ProcessStart, Tab, TabUnavailable, Terminals
from muxwire.tabs import processes
from tests.deadline import DEADLINE

# Seconds, of which the first are over before a shell can have taken the line.
HARDLY_ANY = (0.0001, 0.001, 0.002, 0.005, 0.01, 0.03)


@pytest.fixture(scope="module")
def tab(any_tab: Tab) -> Tab:
    return any_tab


def said(begun: ProcessStart) -> tuple[bool, bool | None, int | None, str]:
    return begun.started, begun.ready, begun.exit_code, begun.state


async def test_what_fails_at_once_is_said_to_have_failed(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_FAILS_WITHIN", DEADLINE)  # a shell may be slow; the wait ends with the command
    for line, ready, is_ready, status, tells in (
        ("sh -c 'echo no such port; exit 3'", "", None, 3, "no such port\n"),
        ("sh -c 'echo no such port; exit 3'", "listening", False, 3, "no such port\n"),
        ("nosuchprogram", "listening", False, 127, "nosuchprogram"),
        ("sh -c 'sleep 9 &'", "listening", False, 0, "what it began still runs: sleep (pid "),  # it may be ready yet
    ):
        begun = await tab.start_process(line, ready=ready)
        assert (*said(begun), tells in begun.output + begun.note) == (True, is_ready, status, "prompt", True), begun


async def test_what_goes_on_is_known_by_its_id(terminals: Terminals, tab: Tab, tmp_path: Path) -> None:
    for ready, is_ready in (("up", True), ("", None), ("down", False)):
        gate = tmp_path / f"gate{ready}"
        waits = f"until [ -e {gate} ]; do sleep 0.05; done"
        within = 0.5 if is_ready is False else DEADLINE
        begun = await tab.start_process(
            f"sh -c 'echo up; {waits}; echo down; exit 4'", ready=ready, ready_timeout=within
        )
        gate.touch()
        assert said(begun) == (True, is_ready, None, "running"), begun
        assert begun.note.startswith("not ready after 0.5 s; it still runs") is (is_ready is False), begun
        rest = await terminals.command_result(begun.command_id, wait=DEADLINE)
        assert (begun.output + rest.output, rest.exit_code) == ("up\ndown\n", 4)


async def test_of_what_is_only_typed_there_is_no_id(tab: Tab) -> None:
    await tab.runner.settled()
    begun = await tab.start_process("true\r", append_newline=False)
    assert (begun.started, begun.command_id, begun.output, begun.exit_code) == (True, "", "", None)
    assert (await tab.execute("echo ok")).output == "ok\n"


async def cut_short(tab: Tab, timeout: float) -> ExecutionResult | None:
    """Run what does not end in that time; None if it was over before the prompt was drawn: nothing was typed."""
    try:
        return await tab.execute("echo out; sleep 1000", timeout=timeout)
    except TabUnavailable as refused:
        if "does not wait at its prompt" not in str(refused):
            raise
        return None


@pytest.mark.parametrize("timeout", HARDLY_ANY)
async def test_a_tiny_time_out_gives_a_true_answer(tab: Tab, timeout: float) -> None:
    for _ in range(3):
        await tab.runner.settled()
        cut = await cut_short(tab, timeout)
        if cut is None:
            continue
        assert (cut.timed_out, cut.running, cut.state, cut.exit_code) == (True, False, "prompt", 130), cut
        assert cut.output.partition("^C")[0].strip() in ("", "out"), cut
        assert (await tab.execute("echo ok")).output == "ok\n"
