"""The MCP server: tools, instructions and the lifetime of the terminals, over stdio."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from muxwire import __version__
from muxwire.mcp.calls import DirectCalls, outcome, succeeded
from muxwire.mcp.instructions import INSTRUCTIONS, Prompts, without_unavailable
from muxwire.mcp.lifespan import LazyTerminals
from muxwire.mcp.registry import Catalogue, Progress, in_span, select
from muxwire.mcp.resources import MAX_COMPLETIONS, TEMPLATES, WINDOW_ID, Subject, Updates, listed, matching, updating
from muxwire.mcp.stdio import run_on_stdio
from muxwire.mcp.tools import TOOLS
from muxwire.tabs.tab_events import spans_are_collected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from mcp.server.context import ServerRequestContext

    from muxwire.library.terminals import Terminals

    OpenTerminals = Callable[[], AbstractAsyncContextManager[Terminals]]


@final
@dataclass(frozen=True, slots=True)
class Connection:
    """What every request of one connection may use."""

    terminals: LazyTerminals
    updates: Updates


if TYPE_CHECKING:
    Context = ServerRequestContext[Connection, Any]


async def serve(
    open_terminals: OpenTerminals, *, toolsets: Iterable[str] | None = None, read_only: bool = False
) -> None:
    """Serve MCP on stdin and stdout until the client goes away or a signal comes.

    `open_terminals` is called at the first tool call, not before, and left when the server ends.
    Raises InvalidArgument for an unknown toolset.
    """
    opened: list[Terminals] = []

    @asynccontextmanager
    async def opening() -> AsyncIterator[Terminals]:
        async with open_terminals() as terminals:
            opened.append(terminals)
            yield terminals

    def end() -> None:
        for terminals in opened:
            terminals.leave_running()

    overdue: list[bool] = []
    server, calls = server_and_calls(
        opening, toolsets=toolsets, read_only=read_only, on_overdue=lambda: overdue.append(True)
    )
    await run_on_stdio(server, calls, on_end=end)
    if overdue:
        # All that waits would be cancelled now, in the middle of its end, and tell stderr of that.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)


def build_server(
    open_terminals: OpenTerminals, *, toolsets: Iterable[str] | None = None, read_only: bool = False
) -> Server[Connection]:
    """Return the server without a transport; all of its calls go through the SDK."""
    return server_and_calls(open_terminals, toolsets=toolsets, read_only=read_only)[0]


def server_and_calls(
    open_terminals: OpenTerminals,
    *,
    toolsets: Iterable[str] | None = None,
    read_only: bool = False,
    on_overdue: Callable[[], None] = lambda: None,
) -> tuple[Server[Connection], DirectCalls]:
    """Return the server as `serve` runs it, and its calls that a transport may run without the SDK.

    `on_overdue` is called if the terminals cannot be closed in the time that a client grants.
    """
    catalogue = Catalogue(select(TOOLS, toolsets=toolsets, read_only=read_only))
    known = [tool.name for tool in TOOLS]
    prompts = Prompts(catalogue, known)

    calling = partial(call_tool, catalogue)
    collected = spans_are_collected()
    # Spans are made by the SDK's dispatch: where they are collected, every call goes through it.
    calls = DirectCalls(Catalogue([]) if collected else catalogue)

    @asynccontextmanager
    async def lifespan(_server: Server[Connection]) -> AsyncIterator[Connection]:
        async with (
            aclosing(LazyTerminals(open_terminals, on_overdue)) as terminals,
            updating(terminals) as updates,
            calls.running(terminals),
        ):
            yield Connection(terminals, updates)

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return catalogue.listing

    async def list_prompts(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return prompts.listing()

    async def get_prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return prompts.get(params)

    server = Server(
        "muxwire",
        version=__version__,
        instructions=without_unavailable(INSTRUCTIONS, catalogue, known),
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=in_span(calling) if collected else calling,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_list_resource_templates=list_resource_templates,
        on_read_resource=read_resource,
        on_completion=complete,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=listen,
    )
    if not collected:
        server.middleware.clear()  # the SDK's tracing takes a tenth of an empty call
    return server, calls


async def call_tool(
    catalogue: Catalogue, context: Context, params: types.CallToolRequestParams
) -> types.CallToolResult:
    """Check, run and shape one call; only an unknown tool is a protocol error."""
    try:
        tool = catalogue[params.name]
    except KeyError:
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name}") from None
    terminals = context.lifespan_context.terminals
    if not terminals.client and (said := context.session.client_params) is not None:
        terminals.client = f"{said.client_info.name} {said.client_info.version}".strip()
    result = await outcome(tool, params.arguments or {}, terminals, _progress_of(context))
    return result if isinstance(result, types.CallToolResult) else succeeded(result)


async def list_resources(context: Context, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    connection = context.lifespan_context
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        connection.updates.list_was_asked(context.session)
    return await listed(connection.terminals.opened)


async def list_resource_templates(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return TEMPLATES


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    return await Subject.of(params.uri).read(await context.lifespan_context.terminals.get())


async def complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """The tabs whose ids or names begin with what is typed in a resource's template; to ask opens nothing."""
    found: list[str] = []
    if isinstance(params.ref, types.ResourceTemplateReference) and params.argument.name == WINDOW_ID:
        found = await matching(context.lifespan_context.terminals.opened, params.argument.value)
    return types.CompleteResult(completion=types.Completion(values=found[:MAX_COMPLETIONS], total=len(found)))


async def subscribe(context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
    """Push updates, as asked for up to 2025-11-25."""
    await context.lifespan_context.updates.subscribe(params.uri, context.session)
    return types.EmptyResult()


async def unsubscribe(context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    context.lifespan_context.updates.unsubscribe(params.uri)
    return types.EmptyResult()


async def listen(context: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
    """Push updates, as asked for from 2026-07-28 on: the answer is the stream."""
    return await context.lifespan_context.updates.listen(params.notifications, context.request_id, context.session)


def _progress_of(context: Context) -> Progress:
    if context.meta is None or "progress_token" not in context.meta:
        return Progress(None)

    async def send(elapsed: float, message: str) -> None:
        await context.session.report_progress(elapsed, None, message)

    return Progress(send)
