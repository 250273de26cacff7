"""JSON-RPC 2.0 in bytes, with the standard library only: the SDK's models take longer to import than a shell to start.

Numbers of errors are of JSON-RPC 2.0 and MCP 2026-07-28. Names of keys in `_meta` are of MCP 2026-07-28.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

RequestId = str | int

# A result with a longer text is encoded while its client reads it, so that it is held once and not five times. What is
# shorter is written whole: that is quicker, and holds little.
LARGE_CHARS: Final = 1 << 18
# So many characters of it at once: a pipe takes 64 KiB.
_PIECE_CHARS: Final = 1 << 16

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
CONNECTION_CLOSED: Final = -32000
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

# What begins the keys of `_meta` that belong to the protocol itself.
RESERVED: Final = "io.modelcontextprotocol/"
PROTOCOL_VERSION: Final = RESERVED + "protocolVersion"
CLIENT_CAPABILITIES: Final = RESERVED + "clientCapabilities"
CLIENT_INFO: Final = RESERVED + "clientInfo"
SERVER_INFO: Final = RESERVED + "serverInfo"

# The SDK's parser refuses what is nested deeper than 200. It may count the levels in another way than `_depth`, so a
# line that is deeper than this is left to it.
_MAX_DEPTH: Final = 150

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class RequestError(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:  # noqa: ANN401 (JSON)
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def member(self) -> bytes:
        """The member of the answer that holds the error."""
        error = {"code": self.code, "message": self.message}
        return b'"error":' + encoded(error if self.data is None else error | {"data": self.data})


class Unsure(Exception):
    """A line that the SDK may read otherwise than it is read here."""


def as_json(value: Any) -> str:  # noqa: ANN401 (JSON)
    """Return the compact JSON of a value."""
    return _encoder.encode(value)


def encoded(value: Any) -> bytes:  # noqa: ANN401 (JSON)
    """Return the compact JSON of a value. Raises UnicodeEncodeError for text that is not Unicode (lone surrogates)."""
    return as_json(value).encode()


def encoded_later(fields: dict[str, Any]) -> tuple[Iterator[bytes], Iterator[bytes]] | None:
    """The JSON of a large result, as a string of JSON and as it is, in pieces made when they are asked for.

    None if it is not large. Raises UnicodeEncodeError, and nothing while the pieces are made.
    """
    if not any(isinstance(value, str) and len(value) > LARGE_CHARS for value in fields.values()):
        return None
    for value in fields.values():  # JSON escapes no surrogate: the text itself shows whether there is one
        for piece in _pieces(value) if isinstance(value, str) else (as_json(value),):
            piece.encode()
    return _in_string(fields), (piece.encode() for piece in _json_of(fields))


def _in_string(fields: dict[str, Any]) -> Iterator[bytes]:
    yield b'"'
    for piece in _json_of(fields):
        yield encoded(piece)[1:-1]
    yield b'"'


def _json_of(fields: dict[str, Any]) -> Iterator[str]:
    """The JSON of an object; each character of a text is escaped by itself, so a text can be encoded in parts."""
    before = "{"
    for name, value in fields.items():
        yield f"{before}{as_json(name)}:"
        before = ","
        if isinstance(value, str):
            yield '"'
            for piece in _pieces(value):
                yield as_json(piece)[1:-1]
            yield '"'
        else:
            yield as_json(value)
    yield "}"


def _pieces(text: str) -> Iterator[str]:
    return (text[begin : begin + _PIECE_CHARS] for begin in range(0, len(text), _PIECE_CHARS))


def read(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line; None if the SDK refuses the line or it holds no object. Raises Unsure."""
    try:
        value = json.loads(line.decode())
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    except (ValueError, RecursionError):  # an integer of thousands of digits; deeper than Python goes
        raise Unsure from None
    if line.count(b"[") + line.count(b"{") > _MAX_DEPTH and _depth(value) > _MAX_DEPTH:
        raise Unsure
    if not isinstance(value, dict):
        return None
    if b"\\u" in line:
        try:
            encoded(value)
        except UnicodeEncodeError:  # half of a surrogate pair
            return None
    return value


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        below: list[object] = []
        for one in level:
            if isinstance(one, dict):
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one)
        level = below
    return depth


def is_request(message: dict[str, Any]) -> bool:
    """Whether a message is a request that the SDK takes: with an id, a method, and an object or nothing as params."""
    request_id = message.get("id")
    return (
        isinstance(request_id, str | int)
        and not isinstance(request_id, bool)
        and message.keys() <= _REQUEST_KEYS
        and _has_method(message)
    )


def is_notification(message: dict[str, Any]) -> bool:
    """Whether a message is a notification that the SDK takes."""
    return message.keys() <= _NOTIFICATION_KEYS and _has_method(message)


def _has_method(message: dict[str, Any]) -> bool:
    return (
        message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and isinstance(message.get("params"), dict | None)
    )


_NOTIFICATION_KEYS: Final = frozenset(("jsonrpc", "method", "params"))
_REQUEST_KEYS: Final = _NOTIFICATION_KEYS | {"id"}
