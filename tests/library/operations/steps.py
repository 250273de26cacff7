"""What tests of operations say: steps as JSON, and questions to tmux past the library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import muxwire

Ask = Callable[..., Awaitable[list[str]]]
Json = dict[str, Any]
# A step that fails.
NOWHERE: Json = {"kind": "send_keys", "target": "%999999", "keys": "bad", "enter": False}


def setting(name: str, value: str = "1") -> Json:
    return {"kind": "set_option", "option": name, "value": value, "global": True}


def statuses(result: Any) -> list[str]:
    return [step.status for step in result.steps]


async def done(terminals: muxwire.Terminals, *steps: Any) -> Any:
    """The result of a list that succeeds."""
    result = await terminals.run_operations(steps)
    assert result.succeeded, result.steps
    return result
