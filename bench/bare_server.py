"""The least that an MCP server can be with the SDK: one tool that does nothing. What start-up is compared with."""

from __future__ import annotations

from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def list_tools(_context: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:  # noqa: ANN401
    """One tool."""
    return types.ListToolsResult(tools=[types.Tool(name="empty", input_schema={"type": "object"})])


async def call_tool(_context: Any, _params: types.CallToolRequestParams) -> types.CallToolResult:  # noqa: ANN401
    """Nothing."""
    return types.CallToolResult(content=[])


async def main() -> None:
    """Serve on standard input and output."""
    server = Server("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
