"""Operations as JSON, in the words of the MCP tool and of `muxwire ops`: every field checked, unknown ones refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, get_args

from muxwire.errors import InvalidArgument
from muxwire.operations.kinds import KINDS
from muxwire.operations.operation import Operation, Ref
from muxwire.operations.options import Scope

# JSON says milliseconds, and has no reserved words.
_NAME = {"with_": "with", "global_": "global", "timeout": "timeout_ms", "idle": "idle_ms"}


# How a schema without unions says what `{"ref": NAME}` says, too.
_REF = "ref:"
# What clients send for a field that a model left out.
_ABSENT: tuple[object, ...] = (None, "", [], {})


class _Mismatch(Exception):
    """A value that its field cannot have."""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Mismatch("must be a string")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Mismatch("must be true or false")
    return value


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Mismatch("must be an integer")
    return value


def _milliseconds(value: object) -> float:
    count = _integer(value)
    if count < 0:
        raise _Mismatch("must be 0 or more milliseconds")
    return count / 1000


def _target(value: object) -> str | Ref:
    if isinstance(value, str):
        return Ref(value.removeprefix(_REF)) if value.startswith(_REF) else value
    if isinstance(value, Mapping) and set(value) == {"ref"}:
        return Ref(_text(value["ref"]))
    raise _Mismatch('must be an id or selector, or "ref:NAME"')


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise _Mismatch('must be a list of strings, as ["htop", "-d", "5"]')
    return tuple(_text(item) for item in value)


def _keys(value: object) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else _texts(value)


def _environment(value: object) -> Mapping[str, str]:
    if isinstance(value, list):
        pairs = [_text(item).partition("=") for item in value]
        if not all(equals for _, equals, _ in pairs):
            raise _Mismatch("must be a list of texts NAME=VALUE")
        return {name: text for name, _, text in pairs}
    if not isinstance(value, Mapping):
        raise _Mismatch("must be an object of strings")
    return {_text(name): _text(text) for name, text in value.items()}


def _size(value: object) -> str:
    return str(_integer(value)) if isinstance(value, int) else _text(value)


def _scope(value: object) -> str:
    if value not in get_args(Scope):
        raise _Mismatch(f"must be one of {', '.join(get_args(Scope))}")
    return _text(value)


# By the type of a field, as it is declared.
_READERS: Mapping[str, Callable[[object], Any]] = {
    "str": _text,
    "bool": _flag,
    "int": _integer,
    "float": _milliseconds,
    "tuple[str, ...]": _texts,
    "str | tuple[str, ...]": _keys,
    "Mapping[str, str]": _environment,
    "Target": _target,
    "Scope": _scope,
}


def json_fields(made: type[Operation]) -> dict[str, Field[Any]]:
    """The fields of a kind by their names in JSON."""
    return {_NAME.get(one.name, one.name): one for one in fields(made)}


def is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def read_operation(given: object, where: str) -> Operation:
    """Return one operation of its JSON object; InvalidArgument, which names `where` it stands."""
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"{where} is no object", remedy='for example {"kind": "new_window"}')
    kind = given.get("kind")
    made = KINDS.get(kind) if isinstance(kind, str) else None
    if made is None:
        raise InvalidArgument(f"{where}: no operation of kind {kind!r}", remedy=f"use one of {', '.join(KINDS)}")
    where = f"{where} ({kind})"
    known = json_fields(made)
    needed = [name for name, one in known.items() if is_required(one)]
    said = {
        name: value
        for name, value in given.items()
        if name != "kind" and (value not in _ABSENT or (value is not None and name in needed))
    }
    if unknown := sorted(set(said).difference(known)):
        raise InvalidArgument(f"{where} takes no {', '.join(unknown)}", remedy=f"it takes {', '.join(known)}")
    if missing := [name for name in needed if name not in said]:
        raise InvalidArgument(f"{where} needs {', '.join(missing)}", remedy=f"it takes {', '.join(known)}")
    values: dict[str, Any] = {known[name].name: _value(known[name], name, value, where) for name, value in said.items()}
    operation: Operation = made(**values)
    return operation


def _value(field: Field[Any], name: str, value: object, where: str) -> Any:  # noqa: ANN401 (JSON)
    reader = _size if name == "size" else _READERS[str(field.type).removesuffix(" | None")]
    try:
        return reader(value)
    except _Mismatch as error:
        raise InvalidArgument(f"{where}: {name} {error}", remedy="correct it and call again") from None


def read_operations(given: Sequence[Operation | Mapping[str, object]]) -> list[Operation]:
    """Return the operations of a list in which any may be given as JSON; InvalidArgument."""
    return [
        one if isinstance(one, Operation) else read_operation(one, f"operations[{index}]")
        for index, one in enumerate(given)
    ]
