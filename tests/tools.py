"""The MCP tools without their server: called as it calls them, in the process of the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import muxwire
from muxwire.mcp.registry import Call, Progress
from muxwire.mcp.tools import TOOLS
from muxwire.values import to_dict


def named_after_tools(names: Mapping[str, Any]) -> dict[str, Any]:
    """The functions of a test module that have a tool's name; its test of a new tool, which has none, fails."""
    return {tool.name: names[tool.name] for tool in TOOLS if tool.name in names}


class Tools:
    """The tools of a server whose terminals are these."""

    def __init__(self, terminals: muxwire.Terminals) -> None:
        self._call = Call(terminals, Progress(None))

    async def __call__(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        (tool,) = (tool for tool in TOOLS if tool.name == name)
        return dict(to_dict(await tool.run(self._call, tool.validated(arguments))))

    async def refuses(self, name: str, /, **arguments: Any) -> None:
        with pytest.raises(muxwire.NotPermitted) as refused:
            await self(name, **arguments)
        assert refused.value.remedy
