"""A list of operations does in one call what they do one by one, and says of each what became of it."""

from __future__ import annotations

from typing import Any

import pytest

import muxwire
from muxwire.errors import InvalidArgument
from muxwire.operations import Execute, NewWindow, Ref, SetOption, SplitPane
from muxwire.protocol.commands import MAX_COMMAND_BYTES
from tests.library.operations.steps import NOWHERE, Ask, Json, done, setting, statuses


async def option(ask: Ask, name: str) -> list[str]:
    return await ask("show-options", "-gqv", name)


SPLIT: Json = {"kind": "split_pane", "target": "%999999", "ref": "child"}
NEEDS_IT: Json = {"kind": "send_keys", "target": {"ref": "child"}, "keys": "bad"}


@pytest.mark.parametrize(
    ("on_error", "steps", "said", "happened"),
    [
        ("stop", [setting("@a", "0"), setting("@a", "2")], ["succeeded"] * 2, ["2"]),  # in their order
        ("stop", [setting("@b"), NOWHERE, setting("@a")], ["succeeded", "failed", "skipped"], []),
        ("continue", [NOWHERE, setting("@a", "set")], ["failed", "succeeded"], ["set"]),
        ("stop", [SPLIT, NEEDS_IT, setting("@a")], ["failed", "skipped", "skipped"], []),
        ("continue", [SPLIT, NEEDS_IT, setting("@a")], ["failed", "skipped", "succeeded"], ["1"]),
    ],
)
async def test_what_becomes_of_the_rest_of_a_list(
    terminals: muxwire.Terminals, ask: Ask, on_error: Any, steps: list[Json], said: list[str], happened: list[str]
) -> None:
    await ask("set-option", "-gqu", "@a")
    result = await terminals.run_operations(steps, on_error=on_error)
    assert (result.succeeded, statuses(result)) == ("failed" not in said, said)
    assert all("%999999" in step.error or "child" in step.error for step in result.steps if step.status == "failed")
    assert await option(ask, "@a") == happened


async def test_each_reading_step_has_its_own_answer(terminals: muxwire.Terminals, tab: muxwire.Tab) -> None:
    result = await done(
        terminals,
        {"kind": "execute", "target": tab.window_id, "command": "echo seen"},
        setting("@before", "x"),
        {"kind": "capture_pane", "target": tab.window_id},
        {"kind": "show_option", "option": "@before", "global": True},
        {"kind": "show_option", "option": "@never", "global": True},
        {"kind": "display_message", "target": tab.pane_id, "format": "#{pane_id};#{l:a b}"},
    )
    execute, _, capture, shown, unset, message = result.steps
    assert (execute.output, execute.exit_code) == ("seen\n", 0)
    assert capture.lines is not None
    assert "seen" in capture.lines
    assert (shown.stdout, unset.stdout, message.stdout) == ("x", None, f"{tab.pane_id};a b")


async def test_a_pane_that_a_step_makes_is_a_target_of_later_ones(
    terminals: muxwire.Terminals, tab: muxwire.Tab
) -> None:
    result = await done(
        terminals,
        SplitPane(target=tab.pane_id, ref="child"),
        Execute(target=Ref("child"), command="echo $((6 * 7))"),
        {"kind": "send_keys", "target": {"ref": "child"}, "keys": "echo typed-$((1 + 1))"},
        {"kind": "wait_for", "target": {"ref": "child"}, "until": "typed-2"},
        {"kind": "kill_pane", "target": {"ref": "child"}},
    )
    assert (result.created_panes, result.steps[1].output) == ({"child": result.steps[0].created_pane_id}, "42\n")
    assert result.steps[3].stdout == "typed-2"
    assert [one.pane_id for one in (await terminals.list_tabs()).tabs if not one.closed] == [tab.pane_id]


async def test_a_command_that_fails_is_a_failed_step_with_its_output(
    terminals: muxwire.Terminals, tab: muxwire.Tab
) -> None:
    result = await terminals.run_operations(
        [
            {"kind": "execute", "target": tab.window_id, "command": "echo why; (exit 3)"},
            {"kind": "execute", "target": tab.window_id, "command": "echo never"},
        ]
    )
    assert statuses(result) == ["failed", "skipped"]
    assert (result.steps[0].output, result.steps[0].exit_code, result.steps[0].error) == ("why\n", 3, "exit code 3")


async def test_a_dry_run_sends_nothing_and_shows_everything(
    terminals: muxwire.Terminals, tab: muxwire.Tab, ask: Ask
) -> None:
    before, long = await ask("list-panes", "-a", "-F", "#{pane_id}"), "x" * (MAX_COMMAND_BYTES + 1)
    result = await terminals.run_operations(
        [
            {"kind": "split_pane", "target": tab.window_id, "ref": "child", "horizontal": True, "size": 20},
            {"kind": "send_keys", "target": {"ref": "child"}, "keys": "ls"},
            setting("@dry"),
            {"kind": "capture_pane", "target": {"ref": "child"}},
            {"kind": "execute", "target": {"ref": "child"}, "command": long},  # which is no command of tmux
        ],
        dry_run=True,
    )
    assert result.succeeded
    assert result.dry_run
    assert (statuses(result), result.created_panes) == (["planned"] * 5, {"child": "<ref:child>"})
    assert result.steps[0].created_pane_id == "<ref:child>"
    assert result.steps[0].commands == (f"split-window -t {tab.window_id} -h -l 20",)
    assert [step.commands for step in result.steps[1:]] == [
        ('send-keys -t "<ref:child>" -- ls Enter',),
        ("set-option -g -- @dry 1",),
        ('capture-pane -p -t "<ref:child>"',),
        (f'execute -t "<ref:child>" -- {long}',),
    ]
    assert await ask("list-panes", "-a", "-F", "#{pane_id}") == before
    assert await option(ask, "@dry") == []


async def test_a_dry_run_starts_no_tmux(alone: muxwire.Terminals) -> None:
    result = await alone.run_operations([NewWindow(ref="w"), SplitPane(target=Ref("w"))], dry_run=True)
    assert result.succeeded
    assert not alone.folders.socket_path.exists()


@pytest.mark.parametrize(
    ("operations", "says"),
    [
        ([], "0 operations"),
        ([{"kind": "kill_server"}], "no operation of kind 'kill_server'"),
        ([{"name": "x"}], "kind is missing"),
        ([{"kind": "new_window", "size": [1, 5]}], "columns: 1 is out of range"),
        ([{"kind": "new_window", "size": [80, 10001]}], "rows: 10001 is out of range"),
        ([{"kind": "send_keys", "keys": "x", "target": {"kind": "bogus"}}], "target: must be"),
        ([{"kind": "send_keys", "keys": "x", "target": {"ref": "missing"}}], "no earlier step makes ref missing"),
        ([NOWHERE, {"kind": "select_pane", "target": {"ref": "missing"}}], "operations[1]"),
        (
            [{"kind": "select_pane", "target": {"ref": "w"}}, {"kind": "new_window", "ref": "w"}],
            "no earlier step makes ref w",
        ),
        ([{"kind": "new_window", "ref": "w"}, {"kind": "new_window", "ref": "w"}], "already"),
        ([{"kind": "send_keys", "keys": "x"}], "target is missing"),
        ([{"kind": "new_window", "keys": "x"}], "keys is unknown"),
        ([{"kind": "split_pane", "target": "%1", "size": "#{x}"}], "is not a size"),
        ([{"kind": "make_grid", "target": "%1", "rows": 2, "cols": 2, "refs": ["a"]}], "1 refs for 3"),
        ([{"kind": "execute", "target": "%1", "command": "true", "timeout_ms": 0}], "timeout_ms: must be 1 or more"),
        ([Execute(target="%1", command="true", timeout=0)], "timeout is 0 s"),
    ],
)
async def test_the_whole_list_is_checked_before_anything_is_sent(
    terminals: muxwire.Terminals, ask: Ask, operations: list[Any], says: str
) -> None:
    steps = [setting("@checked"), *operations] if operations else []
    with pytest.raises(InvalidArgument) as caught:
        await terminals.run_operations(steps)
    found = says.replace("operations[1]", "operations[2]")
    assert found in str(caught.value)
    assert await option(ask, "@checked") == []


async def test_the_keeper_and_other_panes_are_nobodys_to_end(terminals: muxwire.Terminals, ask: Ask) -> None:
    [keeper] = await ask("list-panes", "-t", "hub:muxwire-keeper", "-F", "#{pane_id}")
    result = await terminals.run_operations([{"kind": "kill_pane", "target": keeper}])
    assert statuses(result) == ["failed"]
    assert keeper in await ask("list-panes", "-a", "-F", "#{pane_id}")


async def test_a_refused_option_is_refused_before_anything(terminals: muxwire.Terminals) -> None:
    for name in ("exit-empty", "client-attached[0]", "command-alias", "@muxwire-generation", "default-command"):
        with pytest.raises(InvalidArgument, match="is refused: it may run programs"):
            await terminals.run_operations([SetOption(option=name, value="on", global_=True)])
