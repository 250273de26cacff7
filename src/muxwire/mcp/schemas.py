"""The JSON Schemas of arguments and results, of which a model or a frozen dataclass is the one definition.

Schemas are as short as they can be said: every model reads those of the arguments before its first call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from pydantic import BaseModel

Schema = dict[str, Any]


def input_schema(arguments: type[BaseModel]) -> Schema:
    """Return the schema of a tool's arguments: what must be given comes first.

    That nothing else may be given it does not say: a model learns nothing by it, and who breaks it learns by the error.
    """
    full = arguments.model_json_schema()
    required = full.get("required", [])
    properties = full.get("properties", {})
    ordered = sorted(properties, key=lambda name: name not in required)  # stable: the models' order within each half
    schema: Schema = {"type": "object", "properties": {name: _terse(properties[name]) for name in ordered}}
    if required:
        schema["required"] = required
    return schema


def output_schema(result: type[Any]) -> Schema:
    """Return the schema of a result: the type of each field, and those that are always there."""
    full = TypeAdapter(result).json_schema(mode="serialization")
    return _of_result(full, full.get("$defs", {})) | {"required": full.get("required", [])}


def _of_result(schema: Schema, definitions: Schema) -> Schema:
    """Return the types of a schema; what is absent is never null."""
    if "$ref" in schema:
        return _of_result(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        of = [_of_result(one, definitions) for one in schema["anyOf"]]
        some = [one for one in of if one != {"type": "null"}]
        if len(some) == len(of) or len(some) > 1:
            return {"anyOf": of}
        return some[0] if "default" in schema else some[0] | {"type": [some[0]["type"], "null"]}
    kept = {key: value for key, value in schema.items() if key == "type"}
    if "properties" in schema:
        kept["properties"] = {name: _of_result(one, definitions) for name, one in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            kept[key] = _of_result(schema[key], definitions)
    return kept


def _terse(schema: Schema) -> Schema:
    return {key: _terse_value(key, value) for key, value in schema.items() if not _is_noise(key, value)}


def _terse_value(key: str, value: Any) -> Any:  # noqa: ANN401 (JSON)
    if key == "anyOf":
        return [_terse(one) for one in value]
    return _terse(value) if key == "items" and isinstance(value, dict) else value


def _is_noise(key: str, value: object) -> bool:
    """Tell what a model knows anyway: pydantic's titles, absent is absent, and what is counted from where."""
    return key == "title" or (key == "default" and not value) or key == "minimum"
