"""The library takes what the verbs say: each parameter under its name, with its default."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from muxwire.library.terminals import Terminals
from muxwire.tabs.tab import Tab
from muxwire.verbs.catalogue import (
    CloseTab,
    CreateTab,
    ListTabs,
    ReadLogs,
    RunTmuxOperations,
    SetHistoryLimit,
    ShowTerminal,
    StartProcess,
    StopProcess,
    StreamLogs,
    TakeSnapshot,
    WatchEvents,
)
from muxwire.verbs.describe import Verb, parameters

TARGET, TARGETS = {"window_id": "target"}, {"window_ids": "targets"}
# A tab is the object that has the method.
OF_TAB = {"window_id": ""}
# The method of each verb, and what its parameters are called there; "" if they are said in another way.
METHODS: dict[type[Verb], tuple[Any, dict[str, str]]] = {
    CreateTab: (Terminals.create_tab, {}),
    ListTabs: (Terminals.list_tabs, {}),
    CloseTab: (Terminals.close_tab, TARGET | {"session": ""}),  # close_session
    StartProcess: (Tab.start_process, OF_TAB),
    StopProcess: (Tab.stop_process, OF_TAB | {"signal": "name"}),
    ReadLogs: (Terminals.read_logs, TARGET),
    StreamLogs: (Terminals.stream_logs, TARGET),
    SetHistoryLimit: (Terminals.set_history_limit, {}),
    TakeSnapshot: (Terminals.snapshot, TARGET | {"image": ""}),  # a function of what that returns
    WatchEvents: (Terminals.watch_events, TARGETS),
    ShowTerminal: (Terminals.tab, TARGET | {"why": ""}),
    RunTmuxOperations: (Terminals.run_operations, {}),
}
# What a program gets more of than a model, or says in another way.
OTHER_DEFAULTS = {
    (ListTabs, "closed"): True,
    (WatchEvents, "max_events"): 100,
}
# A program is given all, a model what it can read.
WITHOUT_END = {"max_chars"}


@pytest.mark.parametrize("verb", METHODS, ids=lambda verb: verb.verb)
def test_each_parameter_is_one_of_the_method(verb: type[Verb]) -> None:
    method, names = METHODS[verb]
    taken = inspect.signature(inspect.unwrap(method)).parameters
    for one in parameters(verb):
        name = names.get(one.name, one.name)
        if not name:
            continue
        assert name in taken, one.name
        default = taken[name].default
        if one.required:
            assert default is inspect.Parameter.empty, one.name
        elif default is not inspect.Parameter.empty and one.name not in WITHOUT_END:
            expected = OTHER_DEFAULTS.get((verb, one.name), one.default)
            # Absent is None there, and "" or 0 here: JSON says it so.
            assert default == expected or (not default and not expected) or name == "target", one.name
