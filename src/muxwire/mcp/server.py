"""The MCP server: tools, instructions and the lifetime of the terminals, over stdio."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast, final

from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from muxwire import __version__
from muxwire.mcp.calls import DirectCalls, outcome, succeeded
from muxwire.mcp.channel import CAPABILITY, Channel
from muxwire.mcp.confirm import Person
from muxwire.mcp.instructions import INSTRUCTIONS, Prompts, without_unavailable
from muxwire.mcp.lifespan import LazyTerminals
from muxwire.mcp.pages import UI_EXTENSION
from muxwire.mcp.profiles import PROFILES
from muxwire.mcp.registry import Catalogue, Progress, in_span, select
from muxwire.mcp.resources import (
    MAX_COMPLETIONS,
    TEMPLATES,
    WINDOW_ID,
    Subject,
    Updates,
    listed,
    matching,
    page,
    updating,
)
from muxwire.mcp.stdio import run_on_stdio
from muxwire.mcp.tasks import (
    EXTENSION,
    TaskParams,
    Tasks,
    TaskUpdateParams,
    asks_for_tasks,
    check_declared,
    is_declared,
)
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
    open_terminals: OpenTerminals,
    *,
    toolsets: Iterable[str] | None = None,
    read_only: bool = False,
    channel: bool = False,
    profile: str = "",
) -> None:
    """Serve MCP on stdin and stdout until the client goes away or a signal comes.

    `open_terminals` is called at the first tool call, not before, and left when the server ends. With `channel` the end
    of a command that was left running is sent into the session (channel.py). `profile`: tools in the shapes of another
    program, in place of muxwire's (profiles.py).
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
        opening,
        toolsets=toolsets,
        read_only=read_only,
        channel=channel,
        profile=profile,
        on_overdue=lambda: overdue.append(True),
    )
    await run_on_stdio(server, calls, on_end=end, experimental={CAPABILITY: {}} if channel else None)
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
    channel: bool = False,
    profile: str = "",
    on_overdue: Callable[[], None] = lambda: None,
) -> tuple[Server[Connection], DirectCalls]:
    """Return the server as `serve` runs it, and its calls that a transport may run without the SDK.

    `on_overdue` is called if the terminals cannot be closed in the time that a client grants.
    """
    offered = PROFILES[profile] if profile else select(TOOLS, toolsets=toolsets, read_only=read_only)
    catalogue, known = Catalogue(offered), [tool.name for tool in TOOLS]
    prompts = Prompts(catalogue, known)

    tasks = Tasks()
    calling = partial(call_tool, catalogue, tasks)
    collected = spans_are_collected()
    # Spans are made by the SDK's dispatch: where they are collected, every call goes through it.
    calls = DirectCalls(Catalogue([]) if collected else catalogue)

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return catalogue.listing

    async def list_prompts(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return prompts.listing()

    async def get_prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return prompts.get(params)

    server = Server(
        "muxwire",
        version=__version__,
        instructions=None if profile else without_unavailable(INSTRUCTIONS, catalogue, known),
        lifespan=lambda _server: _connection(LazyTerminals(open_terminals, on_overdue), calls, channel=channel),
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
        on_subscriptions_listen=partial(listen, tasks),
    )
    server.extensions[UI_EXTENSION] = {}
    add_tasks(server, tasks)
    if not collected:
        server.middleware.clear()  # the SDK's tracing takes a tenth of an empty call
    return server, calls


@asynccontextmanager
async def _connection(lazy: LazyTerminals, calls: DirectCalls, *, channel: bool) -> AsyncIterator[Connection]:
    """What runs as long as a connection: its calls, updates and, with `channel`, the news of commands left running."""
    ends = Channel(calls.notify)
    lazy.channel = ends if channel else None
    async with (
        aclosing(lazy) as terminals,
        updating(terminals) as updates,
        calls.running(terminals),
        ends.running(),
    ):
        yield Connection(terminals, updates)


async def call_tool(
    catalogue: Catalogue, tasks: Tasks, context: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    """Check, run and shape one call; only an unknown tool is a protocol error."""
    try:
        tool = catalogue[params.name]
    except KeyError:
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name}") from None
    terminals = context.lifespan_context.terminals
    if not terminals.client and (said := context.session.client_params) is not None:
        terminals.client = f"{said.client_info.name} {said.client_info.version}".strip()
    given = params.arguments or {}
    result = await outcome(tool, given, terminals, _progress_of(context), Person(context, params))
    if not isinstance(result, dict):
        return result
    if is_declared(context) and (task := await tasks.made_of(given, result, await terminals.get())) is not None:
        return cast("types.CallToolResult", task)  # the SDK has no model of it, and sends a map as it is
    return succeeded(result)


def add_tasks(server: Server[Connection], tasks: Tasks) -> None:
    """Serve the methods of the tasks extension, in requests that declare it."""

    async def get(context: Context, params: TaskParams) -> dict[str, Any]:
        check_declared(context)
        return await tasks.get(params.task_id, await context.lifespan_context.terminals.get())

    async def update(context: Context, params: TaskUpdateParams) -> dict[str, Any]:
        """No task asks for input of MCP: there is nothing to answer, and the answer is empty."""
        await get(context, params)
        return {}

    async def cancel(context: Context, params: TaskParams) -> dict[str, Any]:
        check_declared(context)
        await tasks.cancel(params.task_id, await context.lifespan_context.terminals.get())
        return {}

    server.extensions[EXTENSION] = {}
    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", TaskUpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)


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
    if (found := page(params.uri)) is not None:
        return found
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


async def listen(
    tasks: Tasks, context: Context, params: types.SubscriptionsListenRequestParams
) -> types.SubscriptionsListenResult:
    """Push updates, as asked for from 2026-07-28 on: the answer is the stream."""
    asked, ends = params.notifications, {}
    if asks_for_tasks(asked):
        check_declared(context)
        ends = await tasks.ends(asked, await context.lifespan_context.terminals.get())
    return await context.lifespan_context.updates.listen(asked, context.request_id, context.session, ends)


def _progress_of(context: Context) -> Progress:
    if context.meta is None or "progress_token" not in context.meta:
        return Progress(None)

    async def send(elapsed: float, message: str) -> None:
        await context.session.report_progress(elapsed, None, message)

    return Progress(send)
