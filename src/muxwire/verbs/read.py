"""JSON to a verb: each value is read as its parameter has it, and what does not fit is said of all at once.

Models send numbers as strings and strict clients give everything, null or something empty for what they would leave
out: what can mean one thing only is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from muxwire.verbs.describe import Parameter, json_names
from muxwire.verbs.types import CommandLine, Folder, Machine, Objects, Strings, Texts

V = TypeVar("V")

# What counts as not given, of a parameter that may be left out: clients send it where a model gave nothing.
ABSENT: tuple[object, ...] = (None, "", [], {})
# A whole number as text, or as a number that another language wrote.
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?\Z")
_FLAGS = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)
# Columns and rows.
_SIZE_LENGTH = 2


class Misfit(Exception):
    """JSON that a verb does not take: `complaints`, each one clause that names the parameter."""

    def __init__(self, complaints: list[str]) -> None:
        super().__init__("; ".join(complaints))
        self.complaints = complaints


class _Mismatch(Exception):
    """A value that its parameter cannot have; `where` in it, if it has parts."""

    def __init__(self, must: str, where: str = "") -> None:
        super().__init__(must)
        self.where = where


def read_json(
    described: type[V], given: Mapping[str, object], special: Mapping[Any, Callable[[object], Any]] | None = None
) -> V:
    """The verb (or another class of parameters) that JSON says; Misfit.

    `special` has the readers of further kinds; they raise ValueError with what the value must be.
    """
    known = json_names(described)
    complaints, values = [], {}
    for name, value in given.items():
        one = known.get(name)
        if one is None:
            complaints.append(f"{name} is unknown")
        elif one.required or not _is_absent(value):
            try:
                values[one.name] = _read(one, value, special or {})
            except _Mismatch as error:
                complaints.append(f"{name}{error.where}: must be {error}")
    missing = [name for name, one in known.items() if one.required and given.get(name) is None]
    complaints = [f"{name} is missing" for name in missing] + [
        text for text in complaints if text.partition(":")[0] not in missing
    ]
    if complaints:
        raise Misfit(complaints)
    return described(**values)


def _is_absent(value: object) -> bool:
    return any(value is nothing or (value == nothing and not isinstance(value, bool)) for nothing in ABSENT)


def _read(one: Parameter, value: object, special: Mapping[Any, Callable[[object], Any]]) -> Any:  # noqa: ANN401
    if one.kind in special:
        try:
            return special[one.kind](value)
        except ValueError as error:
            raise _Mismatch(str(error)) from None
    if one.unit == "ms":
        return _number(one, value) / 1000
    if one.kind is int:
        return _number(one, value)
    if one.choices:
        if value not in one.choices:
            raise _Mismatch(f"one of {', '.join(one.choices)}")
        return value
    read = _READERS[one.kind](value)
    if one.least and not read:
        raise _Mismatch("a string or a list that is not empty")
    return read


def _number(one: Parameter, value: object) -> int:
    number = _integer(value)
    if (one.least is not None and number < one.least) or (one.most is not None and number > one.most):
        raise _Mismatch(one.limits)
    return number


def _integer(value: object) -> int:
    if isinstance(value, bool) or not _WHOLE.match(str(value)):
        raise _Mismatch("an integer")
    return int(str(value).partition(".")[0])


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Mismatch("a string")
    return value


def _flag(value: object) -> bool:
    said = str(value).lower()
    if said not in _FLAGS:
        raise _Mismatch("true or false")
    return _FLAGS[said]


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise _Mismatch("a list of strings")
    return tuple(_part(_text, item, index) for index, item in enumerate(value))


def _text_or_texts(value: object) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else _texts(value)


def _environment(value: object) -> dict[str, str]:
    if isinstance(value, list | tuple):
        pairs = [item.partition("=") for item in value if isinstance(item, str)]
        if len(pairs) != len(value) or not all(name and equals for name, equals, _ in pairs):
            raise _Mismatch("a list of strings NAME=VALUE")
        return {name: text for name, _, text in pairs}
    if not isinstance(value, Mapping):
        raise _Mismatch("an object {NAME: VALUE}, or a list of strings NAME=VALUE")
    return {_text(name): _part(_text, text, name) for name, text in value.items()}


def _size(value: object) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != _SIZE_LENGTH:
        raise _Mismatch("columns and rows, as [120, 40]")
    columns, rows = (_part(_integer, item, index) for index, item in enumerate(value))
    if columns < 1 or rows < 1:
        raise _Mismatch("columns and rows of 1 or more; leave it out for a size that follows attached terminals")
    return columns, rows


def _objects(value: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list | tuple):
        raise _Mismatch("a list of objects")
    for index, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise _Mismatch("an object", f"[{index}]")
    return tuple(value)


def _part(read: Callable[[object], V], value: object, where: object) -> V:
    try:
        return read(value)
    except _Mismatch as error:
        part = f"[{where}]" if isinstance(where, int) else f".{where}"
        raise _Mismatch(str(error), part + error.where) from None


# By a parameter's kind; numbers have limits, and literals choices.
_READERS: Mapping[Any, Callable[[object], Any]] = {
    str: _text,
    bool: _flag,
    CommandLine: _text,
    Folder: _text,
    Machine: _text,
    Strings: _texts,
    Texts: _text_or_texts,
    Mapping[str, str]: _environment,
    tuple[int, int]: _size,
    Objects: _objects,
}
