"""Completion of what a resource's template has to be given, and schemas that strict converters take as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.types import PromptReference, ResourceTemplateReference

from muxwire.mcp.registry import Catalogue
from muxwire.mcp.tools import TOOLS
from tests.mcp.fake_terminals import Opener
from tests.mcp.in_memory import build_server

TEMPLATE = ResourceTemplateReference(type="ref/resource", uri="muxwire://tabs/{window_id}/log")
# What OpenAI's strict mode and Gemini know of JSON Schema, as openai-agents 0.24 (ensure_strict_json_schema),
# pydantic-ai 2.68 (OpenAIJsonSchemaTransformer, strict), langchain-core 1.7 and langchain-google-genai 4.4 converted
# all tools without an error.
KNOWN = {"type", "properties", "required", "items", "enum", "anyOf", "description", "default", "minimum", "maximum"}
KNOWN |= {"minItems", "minLength"}


@pytest.mark.parametrize(("begun", "values"), [("", ["@1", "work"]), ("@", ["@1"]), ("wo", ["work"]), ("x", [])])
async def test_tabs_are_completed(begun: str, values: list[str]) -> None:
    async with Client(build_server(Opener(print))) as client:
        argument = {"name": "window_id", "value": begun}
        assert (await client.complete(TEMPLATE, argument)).completion.values == []  # to ask opens nothing
        await client.call_tool("list_tabs", {})
        assert (await client.complete(TEMPLATE, argument)).completion.values == values
        prompt = PromptReference(type="ref/prompt", name="diagnose_tab")
        assert (await client.complete(prompt, argument)).completion.values == values
        assert (await client.complete(prompt, argument | {"name": "command"})).completion.values == []


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for one in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from _parts(one)
    if "items" in schema:
        yield from _parts(schema["items"])


@pytest.mark.parametrize("tool", Catalogue(TOOLS).listing, ids=lambda tool: tool["name"])
def test_strict_converters_know_all_of_it(tool: dict[str, Any]) -> None:
    for part in _parts(tool["inputSchema"]):
        assert part.keys() <= KNOWN
        assert isinstance(part.get("type", ""), str)  # some converters know no list of types
