"""The SDK's server, imported when the first message comes that nothing else answers (conversation.py).

Its own stdio is not used: it reads the lines that are left to it, and writes through the one writer of the connection.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast, final

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp import MCPError, types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.message import SessionMessage
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from muxwire import __version__
from muxwire.mcp.calls import outcome
from muxwire.mcp.confirm import Person, question
from muxwire.mcp.conversation import ENDLESS, NAME, Connection, Offer
from muxwire.mcp.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RequestError
from muxwire.mcp.pages import UI_EXTENSION
from muxwire.mcp.registry import NeedsAnswer, Progress, Text
from muxwire.mcp.resources import (
    LIST_CHANGES,
    MAX_COMPLETIONS,
    TEMPLATES,
    WINDOW_ID,
    Subject,
    listed,
    matching,
    page,
    push,
)
from muxwire.mcp.tasks import (
    EXTENSION,
    TaskParams,
    Tasks,
    TaskUpdateParams,
    asks_for_tasks,
    check_declared,
    is_declared,
    succeeded,
)
from muxwire.tabs.event_log import EventFilter
from muxwire.tabs.spans import EXIT_CODE, TAB, add_to_span

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from muxwire.mcp.conversation import Conversation
    from muxwire.mcp.resources import Tell
    from muxwire.mcp.wire import WireWriter

    Context = ServerRequestContext[Connection, Any]

log = logging.getLogger(__name__)

# A line that is left to the SDK, and the object that stands for it in `WireWriter.unanswered`.
Left = tuple[bytes, object]
Lifespan = Callable[[], AbstractAsyncContextManager[Connection]]
Result = TypeVar("Result")

# Tabs come and go; tools and prompts do not.
_NOTIFICATIONS = NotificationOptions(resources_changed=True)
_NO_ID = "The id of a request must be a string or an integer"
_BYTES = "muxwire.result_bytes"


# The server.


def built(offer: Offer, lifespan: Lifespan) -> Server[Connection]:
    """Return the SDK's server of an offer. `lifespan` gives the connection of each `run`."""
    catalogue, prompts, tasks = offer.catalogue, offer.prompts, Tasks()

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        return await _call_tool(offer, tasks, context, params)

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": catalogue.listing}, by_alias=True)

    async def list_prompts(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate({"prompts": prompts.listing()})

    async def get_prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        with _SdkErrors():
            description, text = prompts.get(params.name, params.arguments or {})
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=description, messages=[message])

    @asynccontextmanager
    async def connected(_server: Server[Connection]) -> AsyncIterator[Connection]:
        async with lifespan() as connection:
            yield connection

    server = Server(
        NAME,
        version=__version__,
        instructions=offer.instructions,
        lifespan=connected,
        on_list_tools=list_tools,
        on_call_tool=in_span(call_tool) if offer.only_sdk else call_tool,
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
    _add_tasks(server, tasks)
    if not offer.only_sdk:
        server.middleware.clear()  # the SDK's tracing takes a tenth of an empty call
    return server


class _SdkErrors:
    """Raise a RequestError as the SDK's own error."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, RequestError):
            raise MCPError(code=error.code, message=error.message, data=error.data) from None


async def _call_tool(
    offer: Offer, tasks: Tasks, context: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    """Check, run and shape one call; only an unknown tool is a protocol error."""
    try:
        tool = offer.catalogue[params.name]
    except KeyError:
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}") from None
    terminals = context.lifespan_context.terminals
    if not terminals.client and (said := context.session.client_params) is not None:
        terminals.client = f"{said.client_info.name} {said.client_info.version}".strip()
    given = params.arguments or {}
    try:
        result = await outcome(tool, given, terminals, _progress_of(context), Person(context, params))
    except NeedsAnswer as needed:
        return question(needed)
    if isinstance(result, Text):
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=result.text)]
        content += [types.ImageContent(type="image", data=data, mime_type="image/png") for data in result.pictures]
        return types.CallToolResult(content=content, is_error=result.is_error)
    if is_declared(context) and (task := await tasks.made_of(given, result, await terminals.get())) is not None:
        return cast("types.CallToolResult", task)  # the SDK has no model of it, and sends a map as it is
    return succeeded(result)


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


async def _list_resources(context: Context, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    connection = context.lifespan_context
    with _SdkErrors():
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            connection.updates.list_was_asked(context.session.send_resource_list_changed)
        return types.ListResourcesResult.model_validate({"resources": await listed(connection.terminals.opened)})


async def _list_resource_templates(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": TEMPLATES})


async def _read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    with _SdkErrors():
        if (found := page(params.uri)) is None:
            found = await Subject.of(params.uri).read(await context.lifespan_context.terminals.get())
    return types.ReadResourceResult.model_validate({"contents": [found]})


async def _complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """The tabs whose ids or names begin with what is typed for a resource or a prompt; to ask opens nothing."""
    found: list[str] = []
    if params.argument.name == WINDOW_ID:
        found = await matching(context.lifespan_context.terminals.opened, params.argument.value)
    return types.CompleteResult(completion=types.Completion(values=found[:MAX_COMPLETIONS], total=len(found)))


async def _subscribe(context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
    """Push updates, as asked for up to 2025-11-25."""
    tell = partial(context.session.send_resource_updated, params.uri)
    with _SdkErrors():
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
    if asks_for_tasks(asked):
        check_declared(context)
        ends = await tasks.ends(asked, await context.lifespan_context.terminals.get())
    with _SdkErrors():
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
        raise MCPError(code=INVALID_REQUEST, message="subscriptions/listen needs a request id")
    uris = list(dict.fromkeys(asked.resource_subscriptions or ()))
    lists = bool(asked.resources_list_changed)
    meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: request_id}
    terminals, wanted = await connection.updates.wanted(uris, lists + len(ends))
    tasks: dict[str, Any] = {"taskIds": list(ends)} if ends else {}
    honored = types.SubscriptionFilter(
        resources_list_changed=lists or None, resource_subscriptions=list(wanted) or None, **tasks
    )
    said = types.SubscriptionsAcknowledgedNotificationParams(notifications=honored, _meta=meta)

    async def send(notification: types.ServerNotification) -> None:
        await session.send_notification(notification, related_request_id=request_id)

    with connection.updates.listening(len(wanted) + lists + len(ends)):
        async with anyio.create_task_group() as streams:
            for uri, changes in wanted.items():
                params = types.ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
                streams.start_soon(
                    push, terminals, changes, _teller(send, types.ResourceUpdatedNotification(params=params))
                )
            if lists:
                changed = types.ResourceListChangedNotification(params=types.NotificationParams(_meta=meta))
                streams.start_soon(push, terminals, EventFilter.checked((), LIST_CHANGES), _teller(send, changed))
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


def _teller(
    send: Callable[[types.ServerNotification], Awaitable[None]], notification: types.ServerNotification
) -> Tell:
    return lambda: send(notification)


def in_span(
    call: Callable[[Context, types.CallToolRequestParams], Awaitable[Result]],
) -> Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]:
    """Make a handler of tool calls add its result to the span that it runs in."""

    async def run(context: Context, params: types.CallToolRequestParams) -> Result:
        result = await call(context, params)
        if isinstance(result, types.CallToolResult):  # else a task, or a question to the person
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


# The lines that are left to the SDK's server, as the streams that it reads and writes.


async def run(
    server: Server[Connection],
    offer: Offer,
    conversation: Conversation,
    lines: MemoryObjectReceiveStream[Left],
    writer: WireWriter,
) -> None:
    """Serve the lines of a connection that nothing else answers, until they end."""
    await server.run(_Reader(lines, conversation, writer), _Writer(conversation, writer), options(server, offer))


def options(server: Server[Connection], offer: Offer) -> Any:  # noqa: ANN401 (the SDK does not export its type)
    """What the SDK's server is run with."""
    return server.create_initialization_options(_NOTIFICATIONS, dict(offer.experimental) or None)


@final
class _Reader(ObjectReceiveStream[SessionMessage]):
    """The lines, parsed; what is no message is answered at once."""

    def __init__(self, lines: MemoryObjectReceiveStream[Left], conversation: Conversation, writer: WireWriter) -> None:
        self._lines = lines
        self._conversation = conversation
        self._writer = writer

    async def aclose(self) -> None:
        """Nothing is owned here."""

    async def receive(self) -> SessionMessage:
        """Return the next message for the server; raises EndOfStream at the end."""
        while True:
            line, token = await self._lines.receive()
            message = self._parsed(line)
            self._writer.settle(token)  # if it is a request, its id is among what is unanswered now
            if message is not None:
                return SessionMessage(message)

    def _parsed(self, line: bytes) -> types.JSONRPCMessage | None:
        """Parse one line; None if it was answered here: with the result, or with an error if it is no message."""
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            self._refuse(*_what_is_wrong_with(line, error))
            return None
        match message:
            # The SDK's model ignores an id of a wrong type, takes the request for a notification, and answers nothing.
            case types.JSONRPCNotification() if "id" in json.loads(line):
                self._refuse(RequestError(INVALID_REQUEST, _NO_ID))
                return None
            case types.JSONRPCRequest():
                early = self._conversation.discovery(message.method, message.params or {})
                if early is not None:
                    self._writer.answer(message.id, early)
                    return None
                if message.method != ENDLESS and message.id != self._conversation.replay_id:
                    self._writer.unanswered.add(message.id)
        return message

    def _refuse(self, error: RequestError, request_id: types.RequestId | None = None) -> None:
        self._writer.answer(request_id, error.member())


@final
class _Writer(ObjectSendStream[SessionMessage]):
    """The writer of the connection, as the SDK writes to it."""

    def __init__(self, conversation: Conversation, writer: WireWriter) -> None:
        self._conversation = conversation
        self._writer = writer

    async def aclose(self) -> None:
        """Nothing is owned here either."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message; returns when the client is not too far behind."""
        message = item.message
        answered = message.id if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) else None
        if answered == self._conversation.replay_id:
            return
        self._writer.write(_encoded(message))
        if isinstance(message, types.JSONRPCResponse):
            self._conversation.answered(message.id, message.result)
        if answered is not None:
            self._writer.settle(answered)
        await self._writer.room()


def _what_is_wrong_with(line: bytes, error: ValidationError) -> tuple[RequestError, types.RequestId | None]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return RequestError(PARSE_ERROR, "Parse error: not JSON"), None
    if isinstance(value, list):
        return RequestError(INVALID_REQUEST, "Batches are not supported: send one message per line"), None
    request_id = _usable_id(value.get("id")) if isinstance(value, dict) else None
    for found in error.errors():
        if found["type"] == "json_invalid":  # JSON that is no text: half of a surrogate pair
            return RequestError(PARSE_ERROR, f"Parse error: {found['ctx']['error']}"), request_id
    return RequestError(INVALID_REQUEST, "Not a JSON-RPC 2.0 message"), request_id


def _usable_id(given: object) -> types.RequestId | None:
    """Return the id if an answer can carry it."""
    match given:
        case bool():
            return None
        case str() if any("\ud800" <= character <= "\udfff" for character in given):
            return None
        case str() | int():
            return given
        case _:
            return None


def _encoded(message: types.JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:  # pydantic's: a lone surrogate, say
        # One answer that cannot be encoded must not end the connection.
        log.exception("a message could not be encoded")
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return b""
        data = types.ErrorData(code=INTERNAL_ERROR, message="The result could not be encoded")
        return _encoded(types.JSONRPCError(jsonrpc="2.0", id=message.id, error=data))
