"""The lines of a connection as the streams of messages that the SDK's server reads and writes."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp import MCPError, types
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import methods
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from muxwire.mcp.wire import MAX_LINE_BYTES, TOO_LONG

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from muxwire.mcp.wire import Wire

log = logging.getLogger(__name__)

# The answer to this request is a stream without an end: a client that hangs up does not wait for it.
ENDLESS: Final = "subscriptions/listen"


@final
class Lines(ObjectReceiveStream[SessionMessage]):
    """The lines that a client sends, parsed. What is no message, and a probe, are answered here."""

    def __init__(self, server: Server[Any], wire: Wire) -> None:
        self._server = server
        self._wire = wire

    async def aclose(self) -> None:
        """Nothing is owned here."""

    async def receive(self) -> SessionMessage:
        """Return the next message for the server; raises EndOfStream at the end."""
        while (line := await self._wire.line()) is not None:
            message = self._parsed(line)
            if isinstance(message, types.JSONRPCRequest) and message.method != ENDLESS:
                self._wire.unanswered.add(message.id)
                settle = partial(self._settle, message.id)  # called when it was cancelled
                return SessionMessage(message, ServerMessageMetadata(on_request_unanswered=settle))
            if message is not None:
                return SessionMessage(message)
        raise anyio.EndOfStream

    async def _settle(self, request_id: types.RequestId) -> None:
        self._wire.settle(request_id)

    def _parsed(self, line: bytes) -> types.JSONRPCMessage | None:
        """Parse one line; None if it was answered here: with the result, or with an error if it is no message."""
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            self._wire.write(_encoded(_what_is_wrong_with(line, error)))
            return None
        answer: types.JSONRPCMessage | None = None
        match message:
            # The SDK's model ignores an id of a wrong type, takes the request for a notification, and answers nothing.
            case types.JSONRPCNotification() if "id" in json.loads(line):
                answer = _refusal(types.INVALID_REQUEST, "The id of a request must be a string or an integer")
            case types.JSONRPCRequest(
                method="server/discover", params={"_meta": {types.PROTOCOL_VERSION_META_KEY: str() as version}}
            ):
                answer = self._discovery(message.id, version)
        if answer is None:
            return message
        self._wire.write(_encoded(answer))
        return None

    def _discovery(self, request_id: types.RequestId, version: str) -> types.JSONRPCMessage:
        """Answer a probe, which ties a connection to nothing here.

        Copilot CLI and Claude Code send `initialize` after it, which the SDK (2.3) refuses once it has answered this.
        """
        if version not in MODERN_PROTOCOL_VERSIONS:
            data = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": version}
            return _refusal(types.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", request_id, data)
        found = types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=self._server.get_capabilities(protocol_version=version),
            instructions=self._server.instructions,
        )
        result = methods.serialize_server_result(
            "server/discover", version, found.model_dump(by_alias=True, mode="json", exclude_none=True)
        )
        result["_meta"] = {types.SERVER_INFO_META_KEY: self._server.server_info_stamp}
        return types.JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)


@final
class Answers(ObjectSendStream[SessionMessage]):
    """What the SDK's server writes, as lines that a client reads."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def aclose(self) -> None:
        """Nothing is owned here either."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message; returns when the client is not too far behind."""
        message = item.message
        self._wire.write(_encoded(message))
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._wire.settle(message.id)
        await self._wire.room()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Write a notification that the SDK does not know."""
        self._wire.write(_encoded(types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params)))


def _what_is_wrong_with(line: bytes, error: ValidationError) -> types.JSONRPCError:
    if line is TOO_LONG:
        return _refusal(types.INVALID_REQUEST, f"Message longer than {MAX_LINE_BYTES} bytes")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(types.PARSE_ERROR, "Parse error: not JSON")
    if isinstance(value, list):
        return _refusal(types.INVALID_REQUEST, "Batches are not supported: send one message per line")
    request_id = _usable_id(value.get("id")) if isinstance(value, dict) else None
    for found in error.errors():
        if found["type"] == "json_invalid":  # JSON that is no text: half of a surrogate pair
            return _refusal(types.PARSE_ERROR, f"Parse error: {found['ctx']['error']}", request_id)
    return _refusal(types.INVALID_REQUEST, "Not a JSON-RPC 2.0 message", request_id)


def _usable_id(given: object) -> types.RequestId | None:
    """Return the id if an answer can carry it."""
    if isinstance(given, str) and not any("\ud800" <= character <= "\udfff" for character in given):
        return given
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _refusal(
    code: int, message: str, request_id: types.RequestId | None = None, data: object = None
) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=MCPError(code, message, data).error)


def _encoded(message: types.JSONRPCMessage) -> bytes:
    """A message as a line."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:  # pydantic's: a lone surrogate, say
        # One answer that cannot be encoded must not end the connection.
        log.exception("a message could not be encoded")
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return b""
        return _encoded(_refusal(types.INTERNAL_ERROR, "The result could not be encoded", message.id))
