"""What a program gives for a parameter is of its type and in its limits, or refused with what it must be."""

from __future__ import annotations

import math
from typing import Any

import pytest

from muxwire.errors import InvalidArgument
from muxwire.verbs.catalogue import CreateTab, ExecuteCommand, ReadLogs, SendKeys, StopProcess
from muxwire.verbs.check import check
from muxwire.verbs.describe import Verb, all_parameters


@pytest.mark.parametrize(("verb", "name", "values"), [
    (ExecuteCommand, "timeout", (0.5, 1)),
    (ExecuteCommand, "command", ("x", b"x")),
    (ExecuteCommand, "on_timeout", ("leave",)),
    (CreateTab, "login", (True,)),
    (CreateTab, "shell", ("zsh", None)),
    (CreateTab, "env", ({"A": "b"},)),
    (SendKeys, "keys", ("x", ["x", "y"])),
    (SendKeys, "wait", (0,)),
    (ReadLogs, "lines", (1,)),
    (StopProcess, "grace", (0, 2.5)),
])  # fmt: skip
def test_check__lets_through(verb: type[Verb], name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        check(all_parameters(verb)[name], value)


@pytest.mark.parametrize(("verb", "name", "values", "said"), [
    (ExecuteCommand, "timeout", (-1, 0), "is (-1|0) s"),
    (SendKeys, "wait", (-0.1,), "is -0.1 s"),
    (ExecuteCommand, "timeout", ("1", True, math.nan), "must be a number of seconds"),
    (ExecuteCommand, "command", (7,), "must be a string, not 7"),
    (ExecuteCommand, "on_timeout", ("wait",), "must be interrupt or leave"),
    (CreateTab, "env", (["A=b"],), "must be a mapping, None|must be a mapping"),
    (SendKeys, "keys", ([1], {"x": "y"}), "must be a string"),
    (ReadLogs, "lines", (-1, 1.5, True), "lines (is -1|must be a whole number)"),
])  # fmt: skip
def test_check__refuses_with_what_it_must_be(verb: type[Verb], name: str, values: tuple[Any, ...], said: str) -> None:
    for value in values:
        with pytest.raises(InvalidArgument, match=said) as refused:
            check(all_parameters(verb)[name], value)
        assert refused.value.remedy
