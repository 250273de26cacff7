"""Calls of tools: checked, run and shaped, for the SDK's server and straight from the wire.

The SDK's way of a request (five models, two tasks and two encodings of the result) takes longer than a short command
in a shell. So on a connection that began with `initialize`, `tools/call` goes from the line that was read to the tool,
and its result is encoded once. Every other request is the SDK's, and so is a call that differs from what
`DirectCalls.take` knows: of another protocol revision, with a task or another extension of the protocol in `_meta`, of
an unknown tool, malformed. The SDK then says what is wrong, in its own words.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, final

import anyio
from mcp import types
from pydantic_core import PydanticSerializationError, from_json, to_json

from muxwire.mcp.confirm import NeedsAnswer
from muxwire.mcp.registry import Call, Progress, Text, explained, refused
from muxwire.verbs.read import Misfit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.abc import TaskGroup

    from muxwire.mcp.confirm import Person
    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.mcp.registry import AnyTool, Catalogue
    from muxwire.mcp.wire import WireWriter

log = logging.getLogger(__name__)

# The revisions that begin with `initialize`: the SDK writes the same results in all. Later ones have an envelope.
DIRECT_REVISIONS = frozenset(("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"))
# What begins the keys of `_meta` that belong to the protocol itself, and so are the SDK's to act on.
_RESERVED = "io.modelcontextprotocol/"
# In every line that can be such a call: looked for before the line is parsed.
_METHOD = b'"tools/call"'
_REQUEST_KEYS = frozenset(("jsonrpc", "id", "method", "params"))
# They may ask the person, which is the SDK's to do where the client can (`confirm.py`).
_MAY_ASK = frozenset(("close_tab", "stop_process"))
_PARAMS_KEYS = frozenset(("name", "arguments", "_meta"))


async def outcome(
    tool: AnyTool,
    given: dict[str, Any],
    terminals: LazyTerminals,
    progress: Progress,
    person: Person | None = None,
) -> dict[str, Any] | types.CallToolResult | types.InputRequiredResult:
    """Check and run one call: the fields of its result, the error that the model reads, or a question to the person."""
    try:
        arguments = tool.validated(given)
    except Misfit as error:
        return refused(tool, error)
    try:
        opened = await terminals.get()
        result = await tool.result(Call(opened, progress, person), arguments)
    except NeedsAnswer as needed:
        return needed.result()
    except Exception as error:  # noqa: BLE001 (the one boundary: every error becomes two lines for the model)
        return explained(tool, error)
    if terminals.channel is not None:
        terminals.channel.note(result, opened)
    if tool.returns is Text:
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result["text"].encode("utf-8", "replace").decode())],
            is_error=result.get("is_error", False),
        )
    return result


def client_name(info: object) -> str:
    """What `muxwire ls` shows of a client: MCP's clientInfo, as JSON; "" for what is none."""
    if not isinstance(info, dict):
        return ""
    return " ".join(part for name in ("name", "version") if isinstance(part := info.get(name), str) and part)


def succeeded(fields: dict[str, Any]) -> types.CallToolResult:
    """Return the result twice, as text and as an object: each client shows its model only one of them."""
    text, fields = as_text(fields)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text.decode())], structured_content=fields)


def as_text(fields: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Return the JSON text of a result and the fields that it says, without what is no UTF-8."""
    try:
        return to_json(fields), fields
    except PydanticSerializationError:  # a name or path that is not UTF-8 came in as lone surrogates
        readable: dict[str, Any] = _readable(fields)
        return to_json(readable), readable


def _readable(value: Any) -> Any:  # noqa: ANN401 (JSON)
    match value:
        case str():
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        case dict():
            return {_readable(key): _readable(item) for key, item in value.items()}
        case list() | tuple():
            return [_readable(item) for item in value]
        case _:
            return value


@final
class DirectCalls:
    """The calls of one connection that do not go through the SDK. Rules:

    1. None is taken before the SDK has answered `initialize` with a revision of DIRECT_REVISIONS.
    2. A call that its client cancelled is never answered; one that the end of the server cancels is answered with an
       error, as the SDK does.
    3. An answer waits while the client is too far behind, as all others do (`WireWriter.send`).
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._terminals: LazyTerminals | None = None
        self._tasks: TaskGroup | None = None
        self._running: dict[str, anyio.CancelScope] = {}
        self._hello: types.RequestId | None = None
        self._accepted = False
        self._writer: WireWriter | None = None
        self._asks = False  # whether the client can ask the person

    @asynccontextmanager
    async def running(self, terminals: LazyTerminals) -> AsyncIterator[None]:
        """Run calls for the time of the block; those under way at its end are cancelled."""
        async with anyio.create_task_group() as self._tasks:
            self._terminals = terminals
            try:
                yield
            finally:
                self._terminals = None
                self._tasks.cancel_scope.cancel()

    def began(self, request_id: types.RequestId, params: dict[str, Any]) -> None:
        """Note the id of a request `initialize`, and what it says of the client."""
        self._hello = request_id
        capabilities = params.get("capabilities")
        self._asks = isinstance(capabilities, dict) and capabilities.get("elicitation") is not None
        if self._terminals is not None:
            self._terminals.client = client_name(params.get("clientInfo"))

    def answered(self, request_id: types.RequestId | None, result: dict[str, Any]) -> None:
        """Note an answer of the SDK's: that of `initialize` says which revision is spoken."""
        if request_id is not None and request_id == self._hello:
            self._hello = None
            self._accepted = result.get("protocolVersion") in DIRECT_REVISIONS

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification, if there is a connection; nobody waits for it."""
        if self._writer is not None:
            self._writer.notify(method, params)

    def take(self, line: bytes, writer: WireWriter) -> bool:
        """Begin the call that `line` is; False if it is none, or one for the SDK."""
        self._writer = writer
        if not self._accepted or self._terminals is None or self._tasks is None or _METHOD not in line:
            return False
        try:
            request = from_json(line)
        except ValueError:
            return False
        match request:
            case {
                "jsonrpc": "2.0",
                "id": str() | int() as request_id,
                "method": "tools/call",
                "params": {"name": str() as name, **rest},
            } if not isinstance(request_id, bool) and request.keys() == _REQUEST_KEYS and name in self._catalogue:
                given, meta = rest.get("arguments", {}), rest.get("_meta", {})
            case _:
                return False
        if not (isinstance(given, dict) and isinstance(meta, dict) and request["params"].keys() <= _PARAMS_KEYS):
            return False
        if self._asks and name in _MAY_ASK:
            return False
        token = meta.get("progressToken")
        if isinstance(token, bool | float | list | dict) or any(key.startswith(_RESERVED) for key in meta):
            return False
        progress = Progress(None if token is None else _Reports(writer, token))
        writer.unanswered.add(request_id)
        self._tasks.start_soon(self._call, self._catalogue[name], given, self._terminals, progress, request_id, writer)
        return True

    def cancel(self, request_id: str | int) -> None:
        """End a call that its client no longer waits for."""
        if (scope := self._running.get(str(request_id))) is not None:
            scope.cancel()

    async def _call(
        self,
        tool: AnyTool,
        given: dict[str, Any],
        terminals: LazyTerminals,
        progress: Progress,
        request_id: types.RequestId,
        writer: WireWriter,
    ) -> None:
        key, scope = str(request_id), anyio.CancelScope()
        self._running[key] = scope
        try:
            with scope:
                result = await outcome(tool, given, terminals, progress)
        except anyio.get_cancelled_exc_class():
            writer.answer(request_id, _error(types.CONNECTION_CLOSED, "Connection closed"))
            raise
        finally:
            if self._running.get(key) is scope:  # ids may be given twice
                del self._running[key]
        if not scope.cancelled_caught:
            writer.answer(request_id, _member(result))
            await writer.room()


def _member(result: dict[str, Any] | types.CallToolResult | types.InputRequiredResult) -> bytes:
    """Return the member of the answer that holds a result."""
    try:
        if not isinstance(result, dict):
            # `resultType` belongs to the revisions without `initialize`.
            fields = result.model_dump(by_alias=True, exclude_none=True, exclude={"result_type"})
            return b'"result":' + to_json(fields)
        text, _ = as_text(result)
    except PydanticSerializationError:
        log.exception("a result could not be encoded")
        return _error(types.INTERNAL_ERROR, "The result could not be encoded")
    shown = to_json(text.decode())
    return b'"result":{"content":[{"type":"text","text":%b}],"isError":false,"structuredContent":%b}' % (shown, text)


def _error(code: int, message: str) -> bytes:
    return b'"error":' + to_json({"code": code, "message": message})


@final
class _Reports:
    """Sends the progress of one call to the client that asked for it."""

    def __init__(self, writer: WireWriter, token: str | int) -> None:
        self._writer = writer
        self._token = token

    async def __call__(self, elapsed: float, message: str) -> None:
        params = {"progressToken": self._token, "progress": elapsed, "message": message}
        self._writer.notify("notifications/progress", params)
        await self._writer.room()
