"""A step without an answer is unknown, never sent again; what it did in the end is known all the same."""

from __future__ import annotations

import pytest

import muxwire
from muxwire.operations.run import OperationsRun
from tests.library.operations.steps import Ask, Json, setting, statuses
from tests.processes import server_pid, stopped

# Long enough that a step which was written is answered on a busy machine, short enough to wait for.
SHORT = 0.3


@pytest.fixture
def terminals(alone: muxwire.Terminals) -> muxwire.Terminals:
    """An instance for one test: its tmux is stopped and continued."""
    return alone


@pytest.fixture
async def pid(terminals: muxwire.Terminals) -> int:
    return await server_pid(terminals)


async def test_a_step_without_an_answer_is_unknown_and_happens_once(
    terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int, ask: Ask
) -> None:
    late = {"kind": "rename_window", "target": tab.pane_id, "name": "late"}
    with stopped(pid):
        result = await terminals.run_operations([setting("@a"), late], dispatch_timeout=SHORT)
    assert not result.succeeded
    assert statuses(result) == ["unknown", "skipped"]
    assert "may" in result.steps[0].error
    assert await ask("show-options", "-gv", "@a") == ["1"]  # it did happen, when tmux went on


async def test_what_was_not_sent_is_skipped_or_goes_on(
    terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int, ask: Ask
) -> None:
    steps: list[Json] = [{"kind": "split_pane", "target": tab.pane_id, "ref": "c"}, setting("@b"),
                         {"kind": "select_pane", "target": {"ref": "c"}}, setting("@c")]  # fmt: skip
    with stopped(pid):
        first = await terminals.run_operations(steps, dispatch_timeout=SHORT)
        later = [steps[1], setting("@d")]
        going = await terminals.run_operations(later, dispatch_timeout=SHORT, on_error="continue")
    assert (statuses(first), statuses(going)) == (["unknown", "skipped", "skipped", "skipped"], ["unknown", "unknown"])
    assert await ask("show-options", "-gqv", "@c") == []


@pytest.mark.parametrize("step", [
    {"kind": "send_keys", "keys": "true"},
    {"kind": "kill_pane"},
    {"kind": "resize_pane", "zoom": True},
    {"kind": "break_pane"},
    {"kind": "capture_pane"},
    {"kind": "new_window", "session": "s"},
])  # fmt: skip
async def test_every_kind_has_its_time(terminals: muxwire.Terminals, tab: muxwire.Tab, pid: int, step: Json) -> None:
    target = {} if step["kind"] == "new_window" else {"target": tab.pane_id}
    with stopped(pid):
        result = await terminals.run_operations([{**step, **target}], dispatch_timeout=SHORT)
    assert statuses(result) == ["unknown"]


async def test_what_no_step_expects_is_said_at_once(
    terminals: muxwire.Terminals, tab: muxwire.Tab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(OperationsRun, "ask", lambda *_: 1 // 0)
    result = await terminals.run_operations([setting("@a")])
    assert [(step.status, "ZeroDivisionError" in step.error) for step in result.steps] == [("failed", True)]
    assert "ZeroDivisionError" in caplog.text


async def test_a_command_and_a_wait_have_times_of_their_own(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    result = await terminals.run_operations(
        [
            {"kind": "execute", "target": tab.pane_id, "command": "echo part; sleep 60", "timeout_ms": 300},
            {"kind": "wait_for", "target": tab.pane_id, "until": "never", "timeout_ms": 100},
            {"kind": "execute", "target": tab.pane_id, "command": "sleep 0.5", "timeout_ms": 20000},
        ],
        dispatch_timeout=0.2,
        on_error="continue",
    )
    assert statuses(result) == ["failed", "failed", "succeeded"]
    assert result.steps[0].output == "part\n^C" or result.steps[0].output == "part\n^C\n"
    assert "0.3 s" in result.steps[0].error
    assert "0.1 s" in result.steps[1].error
