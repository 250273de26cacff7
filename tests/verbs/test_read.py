"""JSON is read as it is meant, or refused with what the value must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, strategies as st

from muxwire.operations import KINDS, NewWindow
from muxwire.verbs.catalogue import (
    VERBS,
    CommandResult,
    CreateTab,
    ExecuteCommand,
    ReadLogs,
    RunTmuxOperations,
    SendKeys,
    SetHistoryLimit,
    StartProcess,
    StreamLogs,
    TakeSnapshot,
    WaitFor,
)
from muxwire.verbs.describe import Verb, all_parameters, json_names, parameters
from muxwire.verbs.read import Misfit, read_json


@pytest.mark.parametrize(
    ("described", "json", "name", "value"),
    [
        (CreateTab, {"env": {"A": "1"}}, "env", {"A": "1"}),
        (CreateTab, {"env": ["A=1=2", "B="]}, "env", {"A": "1=2", "B": ""}),
        (CreateTab, {"size": [80, 24]}, "size", (80, 24)),
        (CreateTab, {"size": []}, "size", None),
        (CreateTab, {"command": ["a", "b c"]}, "command", ("a", "b c")),
        (CreateTab, {"login": "true"}, "login", True),
        (CreateTab, {"login": 0}, "login", False),
        (CreateTab, {"idle_timeout_ms": 1500}, "idle_timeout", 1.5),
        (ExecuteCommand, {"command": ""}, "command", ""),
        (ExecuteCommand, {"command": "x", "timeout_ms": "250"}, "timeout", 0.25),
        (ExecuteCommand, {"command": "x", "timeout_ms": 250.0}, "timeout", 0.25),
        (ExecuteCommand, {"command": "x", "async": True}, "async_", True),
        (ExecuteCommand, {"command": "x", "strip_ansi": None}, "strip_ansi", None),
        (ExecuteCommand, {"command": "x", "strip_ansi": False}, "strip_ansi", False),
        (SendKeys, {"keys": "x"}, "keys", "x"),
        (SendKeys, {"keys": ["x", "Enter"]}, "keys", ("x", "Enter")),
        (TakeSnapshot, {"scrollback": 0}, "scrollback", 0),
        (WaitFor, {"from_byte": 0}, "from_byte", 0),
        (StartProcess, {"command": "x", "append_newline": False}, "append_newline", False),
        (RunTmuxOperations, {"operations": [{"kind": "x"}]}, "operations", ({"kind": "x"},)),
    ],
)  # fmt: skip
def test_values_are_read(described: type[Verb], json: Mapping[str, Any], name: str, value: object) -> None:
    read = getattr(read_json(described, json), name)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("described", "json", "complaint"),
    [
        (ExecuteCommand, {}, "command is missing"),
        (ExecuteCommand, {"command": None, "more": 1}, "command is missing; more is unknown"),
        (ExecuteCommand, {"command": 3}, "command: must be a string"),
        (ExecuteCommand, {"command": "x", "timeout_ms": True}, "timeout_ms: must be an integer"),
        (ExecuteCommand, {"command": "x", "timeout_ms": 1.5}, "timeout_ms: must be an integer"),
        (ExecuteCommand, {"command": "x", "timeout_ms": 0}, "timeout_ms: must be 1 or more"),
        (ExecuteCommand, {"command": "x", "async": "perhaps"}, "async: must be true or false"),
        (ExecuteCommand, {"command": "x", "on_timeout": "kill"}, "on_timeout: must be one of interrupt, leave"),
        (ExecuteCommand, {"command": "x", "env": {"A": 1}}, "env.A: must be a string"),
        (ExecuteCommand, {"command": "x", "env": ["=1"]}, "env: must be a list of strings NAME=VALUE"),
        (CommandResult, {"command_id": "x", "wait_ms": -1}, "wait_ms: must be 0 or more"),
        (SetHistoryLimit, {"limit": 1_000_001}, "limit: must be 0 to 1000000"),
        (ReadLogs, {"lines": 1_000_001}, "lines: must be 1 to 1000000"),
        (StreamLogs, {"max_bytes": 1 << 25}, "max_bytes: must be 1 to 16777216"),
        (CreateTab, {"command": ["a", 1]}, "command[1]: must be a string"),
        (
            CreateTab,
            {"size": [0, 0]},
            "size: must be columns and rows of 1 or more; leave it out for a size that follows attached terminals",
        ),
        (CreateTab, {"size": [80, "x"]}, "size[1]: must be an integer"),
        (CreateTab, {"size": "80x24"}, "size: must be columns and rows, as [120, 40]"),
        (RunTmuxOperations, {"operations": ["x"]}, "operations[0]: must be an object"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(described: type[Verb], json: Mapping[str, Any], complaint: str) -> None:
    with pytest.raises(Misfit) as caught:
        read_json(described, json)
    assert str(caught.value) == complaint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(st.sampled_from(VERBS), st.data())
def test_any_json_is_read_or_refused(described: type[Verb], data: st.DataObject) -> None:
    names = [*json_names(described), "bogus"]
    json = data.draw(st.dictionaries(st.sampled_from(names), JSON, max_size=6))
    try:
        read = read_json(described, json)
    except Misfit:
        return
    assert "bogus" not in json
    assert {one.name for one in fields(read)} == set(all_parameters(described))  # type: ignore[arg-type]


def test_a_window_of_a_list_takes_what_a_tab_takes() -> None:
    # The machine is that of the other steps: a list is for one.
    assert json_names(NewWindow).keys() - {"ref"} == json_names(CreateTab).keys() - {"host"}
    mine, theirs = json_names(NewWindow), json_names(CreateTab)
    for name in mine.keys() & theirs.keys():
        assert (mine[name].kind, mine[name].default) == (theirs[name].kind, theirs[name].default), name


def test_every_kind_of_operation_can_be_read() -> None:
    for made in KINDS.values():
        assert all(one.json_name for one in parameters(made))
