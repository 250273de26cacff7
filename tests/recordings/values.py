"""How what a driver is told, and what it does, stands in a recording: as JSON, and back.

Bytes are text, one character a byte. A value of a class is an object with the name of the class under `is`, and the
fields that are not as usual; a command, a request and a question that tmux was sent are named by an id or a number.
"""

from __future__ import annotations

import dataclasses
import enum
import types
from pathlib import Path
from typing import Any

from muxwire import errors
from muxwire.shell import SHELLS
from muxwire.shell.execution import Execution
from muxwire.shell.listener import ForegroundShell
from muxwire.shell.look import Foreground, PaneLook, Process, Sleep, StopTarget, TtyModes
from muxwire.shell.shell import Shell
from muxwire.vt.drawn import Picture

_CLASSES = {
    one.__name__: one for one in (StopTarget, ForegroundShell, Foreground, PaneLook, Process, Sleep, TtyModes, Picture)
}
# Of a second: a difference of two moments has more of them than the clock.
_DIGITS = 6
# The moment of a look, by which nothing is decided, would make each of them another value.
_LEFT_OUT = ("seen_at",)


class Names:
    """What the values of one recording are called that are known by who they are."""

    def __init__(self) -> None:
        self.executions: dict[str, Execution] = {}
        self.requests: dict[int, object] = {}
        self.sent: dict[int, object] = {}
        self._numbers: dict[int, int] = {}

    def number(self, value: object, kept: dict[int, Any]) -> int:
        """The number of a request or a question, a new one for a new one; it is kept, so that its id stays its own."""
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self._numbers)
            kept[self._numbers[id(value)]] = value
        return self._numbers[id(value)]

    def plain(self, value: Any) -> Any:
        match value:
            case enum.Enum():
                return value.name
            case float():
                return round(value, _DIGITS)
            case None | bool() | int() | str():
                return value
            case bytes() | bytearray():
                return {"bytes": value.decode("latin-1")}
            case list() if (number := self._numbers.get(id(value))) in self.sent:
                return {"sent": number}
            case list() | tuple():
                return [self.plain(one) for one in value]
            case dict():
                return {str(key): self.plain(one) for key, one in value.items()}
            case Path():
                return str(value)
            case Shell():
                return {"shell": value.name}
            case Execution():
                return {"execution": value.command_id}
            case types.CoroutineType():
                return {"request": self.number(value, self.requests)}
            case BaseException():
                return {"error": type(value).__name__, "text": str(value)}
            case _ if dataclasses.is_dataclass(value):
                return {"is": type(value).__name__} | self._fields(value)
        return type(value).__name__ if not callable(value) else "call"

    def _fields(self, value: Any) -> dict[str, Any]:
        found = ((one.name, getattr(value, one.name), one.default) for one in dataclasses.fields(value))
        return {name: self.plain(it) for name, it, usual in found if it != usual and name not in _LEFT_OUT}

    def value(self, plain: Any) -> Any:
        match plain:
            case list():
                return tuple(self.value(one) for one in plain)
            case {"is": str() as name}:
                return _CLASSES[name](**{key: self.value(one) for key, one in plain.items() if key != "is"})
            case {"bytes": text}:
                return text.encode("latin-1")
            case {"shell": str() as name}:
                return SHELLS[name]
            case {"execution": str() as command_id}:
                return self.executions[command_id]
            case {"sent": int() as number}:
                return self.sent[number]
            case {"error": name, "text": text}:
                kind = getattr(errors, name, RuntimeError)
                error = kind.__new__(kind)
                error.args = (text,)
                return error
            case dict():
                return {key: self.value(one) for key, one in plain.items()}
        return plain


def of_execution(execution: Execution, names: Names) -> list[Any]:
    """What is known of a command, as far as the driver says it."""
    return [
        execution.command_id, execution.phase, execution.begin, execution.end, execution.exit_code, execution.level,
        execution.cwd, execution.note, execution.signal_sent, execution.resists[0], execution.cut, execution.asked_at,
        execution.asked_for, execution.silent_at, execution.at_timeout, names.plain(execution.ours),
        execution.prompt_seq, names.plain(execution.shell_prompt),
    ]  # fmt: skip
