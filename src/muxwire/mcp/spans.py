"""Spans of tool calls: the SDK makes them; here they get the tab, and what came of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from mcp import types

from muxwire.tabs.spans import EXIT_CODE, TAB, add_to_span

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Context = TypeVar("Context")

_BYTES = "muxwire.result_bytes"


def in_span(
    call: Callable[[Context, types.CallToolRequestParams], Awaitable[types.CallToolResult]],
) -> Callable[[Context, types.CallToolRequestParams], Awaitable[types.CallToolResult]]:
    """Make a handler of tool calls add its result to the span that it runs in."""

    async def run(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = await call(context, params)
        add_to_span(_attributes(params.arguments or {}, result))
        return result

    return run


def _attributes(given: dict[str, Any], result: types.CallToolResult) -> dict[str, str | int]:
    said = result.structured_content or {}
    texts = (part.text for part in result.content if isinstance(part, types.TextContent))
    attributes: dict[str, str | int] = {_BYTES: sum(len(text.encode()) for text in texts)}
    if tab := given.get("window_id") or said.get("window_id") or said.get("pane"):
        attributes[TAB] = str(tab)
    if isinstance(code := said.get("exit_code"), int):
        attributes[EXIT_CODE] = code
    return attributes
