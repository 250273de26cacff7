"""A verb to the JSON Schema of what it takes, as short as can be: every model reads it before its first call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muxwire.verbs.describe import Parameter, parameters
from muxwire.verbs.types import Objects, Texts

Schema = dict[str, Any]

_STRING: Schema = {"type": "string"}
_STRINGS: Schema = {"type": "array", "items": _STRING}
_SCHEMAS: Mapping[Any, Schema] = {
    str: _STRING,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "integer"},  # milliseconds
    tuple[str, ...]: _STRINGS,
    Texts: {"anyOf": [_STRING, _STRINGS]},
    Mapping[str, str]: {"items": _STRING, "type": ["object", "array"]},
    tuple[int, int]: {"items": {"type": "integer"}, "type": "array"},
    Objects: {"items": {"type": "object"}, "type": "array"},
}


def input_schema(described: type[Any], special: Mapping[Any, Schema] | None = None) -> Schema:
    """The schema of what a verb takes: what must be given comes first.

    That nothing else may be given it does not say, nor what a number may be: a model learns nothing by it, and learns
    by the error if it breaks it. `special` has the schemas of further kinds.
    """
    known = sorted(parameters(described), key=lambda one: not one.required)  # stable
    schema: Schema = {"type": "object", "properties": {one.json_name: _of(one, special) for one in known}}
    if required := [one.json_name for one in known if one.required]:
        schema["required"] = required
    return schema


def _of(one: Parameter, special: Mapping[Any, Schema] | None) -> Schema:
    schema: Schema = {}
    if (default := one.json_default) is not None:
        schema["default"] = default
    if one.brief:
        schema["description"] = one.brief
    return schema | kind_schema(one, special)


def kind_schema(one: Parameter, special: Mapping[Any, Schema] | None = None) -> Schema:
    """What JSON Schema says of a parameter's type alone."""
    if one.choices:
        return {"enum": list(one.choices), "type": "string"}
    return {**_SCHEMAS, **(special or {})}[one.kind]
