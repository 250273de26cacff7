"""A verb to the JSON Schema of what it takes, as short as can be: every model reads it before its first call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muxwire.verbs.describe import Parameter, parameters
from muxwire.verbs.types import CommandLine, Folder, Machine, Objects, Strings, Texts

Schema = dict[str, Any]

_STRING: Schema = {"type": "string"}
_STRINGS: Schema = {"type": "array", "items": _STRING}
_SCHEMAS: Mapping[Any, Schema] = {
    str: _STRING,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "integer"},  # milliseconds
    CommandLine: _STRING,
    Folder: _STRING,
    Machine: _STRING,
    Strings: _STRINGS,
    Texts: {"anyOf": [_STRING, _STRINGS]},
    Mapping[str, str]: {"type": "object"},
    tuple[int, int]: {"items": {"type": "integer"}, "type": "array"},
    # Names that are not known here: operations/lists.py reads a step.
    Objects: {"items": {"type": "object", "properties": {"kind": _STRING}, "required": ["kind"]}, "type": "array"},
}


def input_schema(described: type[Any]) -> Schema:
    """The schema of what a verb takes: what must be given comes first.

    That nothing else may be given it does not say, nor what a number may be: a model learns nothing by it, and learns
    by the error if it breaks it.
    """
    known = sorted(parameters(described), key=lambda one: not one.required)  # stable
    schema: Schema = {"type": "object", "properties": {one.json_name: _of(one) for one in known}}
    if required := [one.json_name for one in known if one.required]:
        schema["required"] = required
    return schema


def _of(one: Parameter) -> Schema:
    schema: Schema = {}
    # Of several values the first one is the default.
    if (default := one.json_default) is not None and default != (*one.choices, "")[0]:
        schema["default"] = default
    if one.brief:
        schema["description"] = one.brief
    if one.choices:
        return schema | {"enum": list(one.choices), "type": "string"}
    return schema | _SCHEMAS[one.kind]
