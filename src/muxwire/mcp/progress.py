"""What a call reports besides its result: to its client that it is alive, to a span what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, final

import anyio
from mcp import types

from muxwire.tabs.spans import EXIT_CODE, TAB, add_to_span

T = TypeVar("T")
Context = TypeVar("Context")

_BYTES = "muxwire.result_bytes"
# Clients end a silent call after 30 s to 5 min, and the contract promises a word at least every 5 s.
INTERVAL_SECONDS = 3.0

# Claude Code shows at most 200 characters of a message; the counts before the line need some of them.
MAX_LINE_CHARS = 160

Send = Callable[[float, str], Awaitable[None]]


@final
class Progress:
    """Progress of one call; silent, and free, unless the client asked with a progress token."""

    __slots__ = ("_last_line", "_send", "_size")

    def __init__(self, send: Send | None) -> None:
        self._send = send
        self._size = -1
        self._last_line = ""

    async def note(self, size: int, last_line: str) -> None:
        """Take the newest state of the output; sent with the next report."""
        self._size = size
        self._last_line = last_line

    async def during(self, work: Awaitable[T]) -> T:
        if self._send is None:
            return await work
        async with anyio.create_task_group() as reporting:
            reporting.start_soon(self._report, self._send)
            result = await work
            reporting.cancel_scope.cancel()
        return result

    async def _report(self, send: Send) -> None:
        started = anyio.current_time()
        while True:
            await anyio.sleep(INTERVAL_SECONDS)
            elapsed = anyio.current_time() - started
            # The specification wants a value that only grows; bytes do not while a command is silent.
            await send(round(elapsed, 1), self._message(elapsed))

    def _message(self, elapsed: float) -> str:
        if self._size < 0:
            return f"waiting, {elapsed:.0f} s"
        line = self._last_line[-MAX_LINE_CHARS:]
        return f"{elapsed:.0f} s, {self._size} bytes: {line}" if line else f"{elapsed:.0f} s, {self._size} bytes"


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
