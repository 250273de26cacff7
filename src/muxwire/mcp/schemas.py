"""JSON Schemas, as short as they can be said: every model reads all of them before its first call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

Schema = dict[str, Any]

STRING: Final[Schema] = {"type": "string"}
INTEGER: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
BOOLEAN: Final[Schema] = {"type": "boolean"}
ARRAY: Final[Schema] = {"type": "array"}
INTEGER_OR_NULL: Final[Schema] = {"type": ["integer", "null"]}


def object_of(fields: Mapping[str, Schema], *, like: str = "") -> Schema:
    """Return the schema of a result. A list of what is always present would say every name twice.

    `like` names the tool whose fields are there too: three tools return an execution, and one of them spells it out.
    A field that has only a type is named without it: the first result shows it, and all types are a tenth of the list.
    """
    described = {"description": f"also all of {like}"} if like else {}
    return {
        "type": "object",
        **described,
        "properties": {name: {} if schema.keys() == {"type"} else schema for name, schema in fields.items()},
    }


def input_schema(arguments: type[BaseModel]) -> Schema:
    """Return the exact schema of a tool's arguments: what must be given first, nothing beyond it allowed."""
    full = arguments.model_json_schema()
    required = full.get("required", [])
    properties = full.get("properties", {})
    ordered = sorted(properties, key=lambda name: name not in required)  # stable: the models' order within each half
    schema: Schema = {"type": "object", "properties": {name: _terse(properties[name]) for name in ordered}}
    if required:
        schema["required"] = required
    return schema | {"additionalProperties": False}


def _terse(schema: Schema) -> Schema:
    return {key: _terse_value(key, value) for key, value in schema.items() if not _is_noise(key, value)}


def _terse_value(key: str, value: Any) -> Any:  # noqa: ANN401 (JSON)
    return _terse(value) if key in {"items", "additionalProperties"} and isinstance(value, dict) else value


def _is_noise(key: str, value: object) -> bool:
    """Tell what a model knows anyway: pydantic's titles, absent is absent, and a count is not negative."""
    return key == "title" or (key == "default" and not value) or (key == "minimum" and value in (0, 1))
