"""The answers to a client's requests, as handlers of the SDK's lowlevel server, which speaks MCP in all its revisions.

This module and those that it alone imports (messages, resources, tasks, confirm, prompts) import the SDK, which takes
0.3 s: so nothing imports this one before there is a connection (connection.py).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp import MCPError, types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from muxwire import __version__
from muxwire.mcp.channel import Channel
from muxwire.mcp.confirm import SEALED, Person, question
from muxwire.mcp.encoding import as_json, readable
from muxwire.mcp.messages import Answers, Lines
from muxwire.mcp.offer import Connection, Offer
from muxwire.mcp.pages import SKILL, SKILLS_EXTENSION, UI_EXTENSION, fixed, skill
from muxwire.mcp.prompts import Prompts
from muxwire.mcp.registry import Call, NeedsAnswer, Progress, Text, Told, explained, refused
from muxwire.mcp.resources import (
    LIST_CHANGES,
    MAX_COMPLETIONS,
    TEMPLATES,
    WINDOW_ID,
    Subject,
    Updates,
    listed,
    matching,
    not_found,
    push,
)
from muxwire.mcp.tasks import (
    EXTENSION,
    TaskParams,
    Tasks,
    TaskUpdateParams,
    check_declared,
    is_declared,
    succeeded,
)
from muxwire.tabs.event_log import EventFilter
from muxwire.verbs.read import Misfit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.mcp.wire import Wire

    Context = ServerRequestContext[Connection, Any]

NAME = "muxwire"
Lifespan = Callable[[], AbstractAsyncContextManager[Connection]]

# Tabs come and go; tools and prompts do not.
_NOTIFICATIONS = NotificationOptions(resources_changed=True)


async def answer(offer: Offer, terminals: LazyTerminals, wire: Wire) -> None:
    """Answer the requests of one connection, until its lines end."""
    said = Answers(wire)
    notify = said.notify if offer.experimental else None
    server = built(offer, lambda: connected(terminals, notify))
    await server.run(
        Lines(server, wire),
        said,
        server.create_initialization_options(_NOTIFICATIONS, dict(offer.experimental) or None),
    )


@asynccontextmanager
async def connected(
    terminals: LazyTerminals, notify: Callable[[str, dict[str, Any]], None] | None = None
) -> AsyncIterator[Connection]:
    """What runs as long as a connection. With `notify`, the ends of commands left running are sent into the session."""
    try:
        async with anyio.create_task_group() as tasks:
            channel = None if notify is None else Channel(notify, tasks)
            yield Connection(terminals, Updates(terminals, tasks), channel, Told())
            tasks.cancel_scope.cancel()
    finally:
        await terminals.aclose()


def built(offer: Offer, lifespan: Lifespan) -> Server[Connection]:
    """Return the SDK's server of an offer. `lifespan` gives the connection of each `run`."""
    catalogue, prompts, tasks = offer.catalogue, Prompts(offer.catalogue), Tasks()

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": catalogue.listing}, by_alias=True)

    async def list_prompts(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate({"prompts": prompts.listing()})

    async def get_prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        description, text = prompts.get(params.name, params.arguments or {})
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=description, messages=[message])

    server = Server(
        NAME,
        version=__version__,
        instructions=offer.instructions,
        lifespan=lambda _server: lifespan(),
        on_list_tools=list_tools,
        on_call_tool=partial(_call_tool, offer, tasks),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_resource_templates,
        on_read_resource=_read_resource,
        on_completion=_complete,
        on_subscribe_resource=_subscribe,
        on_unsubscribe_resource=_unsubscribe,
        on_subscriptions_listen=partial(_listen, tasks),
    )
    server.extensions[UI_EXTENSION] = {}
    _add_skills(server)
    _add_tasks(server, tasks)
    server.middleware[:] = [SEALED]  # without the SDK's tracing, which takes a tenth of an empty call
    return server


async def _call_tool(
    offer: Offer, tasks: Tasks, context: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    """Check, run and shape one call; only an unknown tool is a protocol error."""
    if (tool := offer.catalogue.get(params.name)) is None:
        raise MCPError(
            code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name}; there are {', '.join(offer.catalogue)}"
        )
    connection = context.lifespan_context
    terminals = connection.terminals
    if not terminals.client and (said := context.session.client_params) is not None:
        terminals.client = f"{said.client_info.name} {said.client_info.version}".strip()
    try:
        arguments = tool.validated(params.arguments or {})
    except Misfit as error:
        return _text(refused(tool, error))
    try:
        opened = await terminals.get()
        call = Call(opened, _progress_of(context), Person(context, params), told=connection.told)
        result = await tool.result(call, arguments)
    except NeedsAnswer as needed:
        return question(needed)
    except Exception as error:  # noqa: BLE001 (the one boundary: every error becomes two lines for the model)
        return _text(explained(tool, error))
    if connection.channel is not None:
        connection.channel.note(result, opened, call.stopped)
    if call.pictures:
        return _text(Text(as_json(readable(result))), call.pictures)
    if tool.returns is Text:
        return _text(Text(result["text"], is_error=result.get("is_error", False)))
    if is_declared(context) and (task := await tasks.made_of(arguments, result, opened)) is not None:
        return cast("types.CallToolResult", task)  # the SDK has no model of it, and sends a map as it is
    return succeeded(result)


def _text(result: Text, pictures: Sequence[bytes] = ()) -> types.CallToolResult:
    """A result without fields: of a call that failed, or of a tool of another program's shape. Pictures are PNGs."""
    text = result.text.encode("utf-8", "replace").decode()
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    content += [
        types.ImageContent(type="image", data=b64encode(picture).decode(), mime_type="image/png")
        for picture in pictures
    ]
    return types.CallToolResult(content=content, is_error=result.is_error)


def _progress_of(context: Context) -> Progress:
    if context.meta is None or "progress_token" not in context.meta:
        return Progress(None)

    async def send(elapsed: float, message: str) -> None:
        await context.session.report_progress(elapsed, None, message)

    return Progress(send)


def _add_tasks(server: Server[Connection], tasks: Tasks) -> None:
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


def _add_skills(server: Server[Connection]) -> None:
    """Serve the two methods that every server of skills has."""
    as_lists_are: dict[str, Any] = {"cacheScope": "private", "resultType": "complete", "ttlMs": 0}

    async def list_skills(_context: Context, _params: types.PaginatedRequestParams) -> dict[str, Any]:
        return as_lists_are | {"skills": [skill()]}

    async def get_skill(_context: Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        if params.uri != SKILL:
            raise not_found(params.uri, f"there is no skill {params.uri}; the only one is {SKILL}")
        return as_lists_are | {"skill": skill()}

    server.extensions[SKILLS_EXTENSION] = {}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, list_skills)
    server.add_request_handler("skills/get", types.ReadResourceRequestParams, get_skill)


async def _list_resources(context: Context, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    connection = context.lifespan_context
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        connection.updates.list_was_asked(context.session.send_resource_list_changed)
    return types.ListResourcesResult.model_validate({"resources": await listed(connection.terminals.seen)})


async def _list_resource_templates(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": TEMPLATES})


async def _read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    if (found := fixed(params.uri)) is None:
        found = await Subject.of(params.uri).read(await context.lifespan_context.terminals.get())
    return types.ReadResourceResult.model_validate({"contents": [found]})


async def _complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """The tabs whose ids or names begin with what is typed for a resource or a prompt; to ask opens nothing."""
    found: list[str] = []
    if params.argument.name == WINDOW_ID:
        found = await matching(context.lifespan_context.terminals.seen, params.argument.value)
    return types.CompleteResult(completion=types.Completion(values=found[:MAX_COMPLETIONS], total=len(found)))


async def _subscribe(context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
    """Push updates, as asked for up to 2025-11-25."""
    if fixed(params.uri) is None:  # what never changes has no news
        tell = partial(context.session.send_resource_updated, params.uri)
        await context.lifespan_context.updates.subscribe(params.uri, tell)
    return types.EmptyResult()


async def _unsubscribe(context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    context.lifespan_context.updates.unsubscribe(params.uri)
    return types.EmptyResult()


async def _listen(
    tasks: Tasks, context: Context, params: types.SubscriptionsListenRequestParams
) -> types.SubscriptionsListenResult:
    """Push updates, as asked for from 2026-07-28 on: the answer is the stream."""
    asked, ends = params.notifications, {}
    if asked_for := (asked.model_extra or {}).get("taskIds"):
        check_declared(context)
        ends = await tasks.ends(asked_for, await context.lifespan_context.terminals.get())
    return await _stream(context.lifespan_context, asked, context.request_id, context.session, ends)


async def _stream(
    connection: Connection,
    asked: types.SubscriptionFilter,
    request_id: types.RequestId | None,
    session: ServerSession,
    ends: Mapping[str, Callable[[], Awaitable[Any]]],
) -> types.SubscriptionsListenResult:
    """Serve one listen stream until the client cancels it. `ends` has what waits for the notification of each task."""
    if request_id is None:
        raise MCPError(code=types.INVALID_REQUEST, message="subscriptions/listen needs a request id")
    uris = list(dict.fromkeys(asked.resource_subscriptions or ()))
    lists = bool(asked.resources_list_changed)
    meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: request_id}
    terminals, wanted = await connection.updates.wanted(uris)
    tasks: dict[str, Any] = {"taskIds": list(ends)} if ends else {}
    honored = types.SubscriptionFilter(
        resources_list_changed=lists or None, resource_subscriptions=list(wanted) or None, **tasks
    )
    said = types.SubscriptionsAcknowledgedNotificationParams(notifications=honored, _meta=meta)

    async def send(notification: types.ServerNotification) -> None:
        await session.send_notification(notification, related_request_id=request_id)

    async with anyio.create_task_group() as streams:
        for uri, changes in wanted.items():
            params = types.ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
            streams.start_soon(
                push, terminals, changes, partial(send, types.ResourceUpdatedNotification(params=params))
            )
        if lists:
            changed = types.ResourceListChangedNotification(params=types.NotificationParams(_meta=meta))
            streams.start_soon(push, terminals, EventFilter.checked((), LIST_CHANGES), partial(send, changed))
        await send(types.SubscriptionsAcknowledgedNotification(params=said))
        for ended in ends.values():
            streams.start_soon(_send_end, send, ended, meta)
        await anyio.sleep_forever()
    raise AssertionError("a listen stream ends by being cancelled")


async def _send_end(
    send: Callable[[Any], Awaitable[None]], ended: Callable[[], Awaitable[Any]], meta: dict[str, Any]
) -> None:
    notification = await ended()
    notification.params["_meta"] = meta
    await send(notification)
