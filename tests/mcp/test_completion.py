"""Completion of what a resource's template has to be given."""

from __future__ import annotations

import pytest
from mcp import Client
from mcp.types import PromptReference, ResourceTemplateReference

from tests.mcp.fake_terminals import Opener
from tests.mcp.in_memory import build_server

TEMPLATE = ResourceTemplateReference(type="ref/resource", uri="muxwire://tabs/{window_id}/log")


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
