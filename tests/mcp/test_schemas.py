"""The tools as they are listed: exact, short, honest, and changed only on purpose."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from muxwire.mcp.instructions import INSTRUCTIONS
from muxwire.mcp.registry import Catalogue
from muxwire.mcp.tools import TOOLS
from muxwire.verbs.describe import json_names
from muxwire.verbs.read import Misfit

SNAPSHOT = Path(__file__).parent / "tools.json"

# Every model pays for the list in every conversation: 10 KiB are about 2,600 tokens.
MAX_LIST_BYTES = 10 << 10
MAX_INSTRUCTIONS_CHARS = 1_000
# Where Claude Code cuts a description.
MAX_DESCRIPTION_CHARS = 2_000

# What a required argument may be, by its name or its type.
VALUES: dict[str, Any] = {"language": "shell", "keys": "x", "string": "x", "integer": 1, "array": []}


# What OpenAI's strict mode and Gemini know of JSON Schema, as openai-agents 0.24 (ensure_strict_json_schema),
# pydantic-ai 2.68 (OpenAIJsonSchemaTransformer, strict), langchain-core 1.7 and langchain-google-genai 4.4 converted
# all tools without an error.
KNOWN = {"type", "properties", "required", "items", "enum", "anyOf", "description", "default", "minimum", "maximum",
         "minItems", "minLength"}  # fmt: skip

LISTING = Catalogue(TOOLS).listing
EACH = pytest.mark.parametrize("tool", LISTING, ids=[tool["name"] for tool in LISTING])


def test_the_list_is_as_it_was() -> None:
    """Rewrite the snapshot with UPDATE_SNAPSHOTS=1 when a change is meant, and read the difference."""
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(json.dumps(LISTING, indent=1, ensure_ascii=False) + "\n")
    assert json.loads(SNAPSHOT.read_text()) == LISTING


def test_the_list_is_short() -> None:
    packed = json.dumps(LISTING, ensure_ascii=False, separators=(",", ":"))
    assert len(packed.encode()) <= MAX_LIST_BYTES
    assert len(INSTRUCTIONS) < MAX_INSTRUCTIONS_CHARS
    assert all(len(tool["description"]) < MAX_DESCRIPTION_CHARS for tool in LISTING)


def _subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for one in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from _subschemas(one)
    if isinstance(schema.get("items"), dict):
        yield from _subschemas(schema["items"])


@EACH
def test_strict_converters_know_all_of_it_and_everything_has_a_type(tool: dict[str, Any]) -> None:
    for part in _subschemas(tool["inputSchema"]):
        assert part.keys() <= KNOWN
        assert "type" in part or "anyOf" in part, part
        assert part.get("type") != "array" or "items" in part, part
        assert isinstance(part.get("type", ""), str)  # some converters know no list of types


@EACH
def test_schemas_are_valid_and_exact(tool: dict[str, Any]) -> None:
    given = tool["inputSchema"]
    Draft202012Validator.check_schema(given)
    assert given["type"] == "object"
    assert list(given["properties"])[: len(given.get("required", []))] == given.get("required", [])
    text = json.dumps(given)
    assert not any(noise in text for noise in ('"title"', '"null"', "$defs", "$ref"))


@EACH
def test_the_schema_says_what_the_validator_does(tool: dict[str, Any]) -> None:
    [declared] = [each for each in TOOLS if each.name == tool["name"]]
    required, properties = tool["inputSchema"].get("required", []), tool["inputSchema"]["properties"]
    values = {name: VALUES[name] if name in VALUES else VALUES[str(properties[name].get("type"))] for name in required}
    whole = declared.validated(values)
    for name, one in json_names(declared.arguments).items():
        if name not in required and "default" in properties[name]:
            given = declared.validated({**values, name: properties[name]["default"]})
            assert getattr(given, one.name) == getattr(whole, one.name), name
    for name in required:
        with pytest.raises(Misfit, match=f"{name} is missing"):
            declared.validated({key: value for key, value in values.items() if key != name})
