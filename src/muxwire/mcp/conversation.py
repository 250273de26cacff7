"""What a client has said so far, and all answers that need no SDK.

The SDK takes longer to import than tmux, a shell and a first command to start. So what clients say first and most is
answered here: the handshake of both eras of the protocol (`initialize`; `server/discover`), `ping`, the lists, and
`tools/call`. Every answer has the bytes that the SDK writes; tests compare them. Rules:

1. A request is answered here only if nothing in it can be read in two ways. All else is left to the SDK (sdk.py), which
   then says what is wrong in its own words: other methods, members and capabilities that are not known here, malformed
   messages.
2. The first request decides the era of a connection, as in the SDK: `modern` if it has the envelope of 2026-07-28 in
   `_meta`, else `handshake`. `server/discover` alone decides nothing: Copilot CLI and Claude Code probe with it, and
   send `initialize` then, which the SDK (2.3) would refuse.
3. The SDK's server, when it is started, is told what was said before it came: `opening`. From then on it is the one
   that answers `initialize`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, final

from muxwire import __version__
from muxwire.mcp.calls import DirectCalls, client_name
from muxwire.mcp.jsonrpc import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    PROTOCOL_VERSION,
    RESERVED,
    SERVER_INFO,
    UNSUPPORTED_PROTOCOL_VERSION,
    RequestError,
    Unsure,
    encoded,
    is_notification,
    is_request,
    read,
)
from muxwire.mcp.pages import UI_EXTENSION
from muxwire.mcp.resources import TEMPLATES, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from anyio.abc import TaskGroup

    from muxwire.mcp.instructions import Prompts
    from muxwire.mcp.jsonrpc import RequestId
    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.mcp.registry import Catalogue
    from muxwire.mcp.resources import Updates
    from muxwire.mcp.wire import Piece, WireWriter

# Revisions of MCP that begin with `initialize`, and the one without.
HANDSHAKES: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN: Final = "2026-07-28"
NAME: Final = "muxwire"
TASKS: Final = "io.modelcontextprotocol/tasks"

# "unsure": the SDK may read the first message in another way than this module, so from then on the SDK answers.
Era = Literal["", "handshake", "modern", "unsure"]

# These tools may ask the person. If the client can show the question, the SDK asks it (`confirm.py`).
_MAY_ASK: Final = frozenset(("close_tab", "stop_process"))
# A list of operations asks only of this kind of step: all others need no SDK.
_KILLS: Final = "kill_pane"

# What is known here of a client's capabilities: their members, which are empty objects or the named ones.
_CAPABILITIES: Final[Mapping[str, frozenset[str]]] = {
    "sampling": frozenset(("context", "tools")),
    "elicitation": frozenset(("form", "url")),
}
_OPEN_CAPABILITIES: Final = frozenset(("experimental", "extensions"))

# The answer to this request is a stream without an end: a client that hangs up does not wait for it.
ENDLESS: Final = "subscriptions/listen"


@dataclass(frozen=True, slots=True)
class Offer:
    """What one server offers its clients."""

    catalogue: Catalogue
    prompts: Prompts
    instructions: str | None
    experimental: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    # The SDK's dispatch makes OpenTelemetry's spans: where these are collected, the SDK handles every request.
    only_sdk: bool = False


@final
class Connection:
    """What every request of one connection may use."""

    __slots__ = ("terminals", "updates")

    def __init__(self, terminals: LazyTerminals, updates: Updates) -> None:
        self.terminals = terminals
        self.updates = updates


@final
class Conversation:
    """The messages of one client. `direct` is whether anything is answered here."""

    def __init__(self, offer: Offer, *, direct: bool = True) -> None:
        self.calls = DirectCalls()
        # The id of the requests by which the SDK's server is told what was said before; their answers are dropped.
        self.replay_id = f"{NAME}:{os.urandom(8).hex()}"
        self._offer = offer
        self._direct = direct and not offer.only_sdk
        self._era: Era = ""
        self._hello: dict[str, Any] | None = None  # the params of the `initialize` that was accepted
        self._initialized = False
        self._asked: tuple[RequestId, dict[str, Any]] | None = None  # an `initialize` that the SDK is to answer
        self._sdk_answers = False
        self._asks = False  # whether the client of a handshake can ask the person
        self._connection: Connection | None = None
        self._tasks: TaskGroup | None = None
        self._answers: Mapping[str, Callable[[RequestId, WireWriter], None]] = {
            "tools/list": lambda request_id, writer: self._list("tools", self._tools, request_id, writer),
            "prompts/list": lambda request_id, writer: self._list("prompts", self._prompts, request_id, writer),
            "resources/templates/list": lambda request_id, writer: self._list(
                "resourceTemplates", encoded(TEMPLATES), request_id, writer
            ),
            "resources/list": self._list_resources,
        }

    def connected(self, connection: Connection, tasks: TaskGroup) -> None:
        """Note what answers may use, as long as the connection lasts."""
        self._connection = connection
        self._tasks = tasks

    # What is said.

    def take(self, line: bytes, writer: WireWriter) -> bool:
        """Answer a line, or begin to; False if it is for the SDK."""
        try:
            message = read(line)
        except Unsure:
            if not self._era:
                self._era = "unsure"
            return False
        if message is None:
            return False
        if is_notification(message):
            return self._hear(message["method"], message.get("params") or {}, writer)
        if not is_request(message):
            return False
        request_id, method, params = message["id"], message["method"], message.get("params") or {}
        if (early := self.discovery(method, params)) is not None:
            writer.answer(request_id, early)
            return True
        decides = not self._era
        if decides:
            self._era = "modern" if method != "initialize" and has_envelope(params) else "handshake"
        # The SDK's server, once it is there, has to see the request that decides.
        if self._direct and not (decides and self._sdk_answers) and self._answer(method, params, request_id, writer):
            return True
        self._note(method, params, request_id)
        return False

    def _hear(self, method: str, params: dict[str, Any], writer: WireWriter) -> bool:
        """Take a notification; True if the SDK, which is not there yet, need not get it."""
        if method == "notifications/cancelled":
            match params.get("requestId"):
                case bool():
                    pass
                case str() | int() as request_id:
                    writer.unanswered.discard(request_id)  # a cancelled request is never answered
                    self.calls.cancel(request_id)
        if self._sdk_answers or not self._direct or not (self._hello or self._era == "modern"):
            return False
        if method == "notifications/initialized":
            if params:
                return False
            self._initialized = self._hello is not None
        return True

    def _note(self, method: str, params: dict[str, Any], request_id: RequestId) -> None:
        """Note what the SDK's answer to a request will mean for the next ones."""
        if method == "initialize":
            self._asked = (request_id, params)
            self._asks = _can_ask(params.get("capabilities"))
            if self._connection is not None:
                self._connection.terminals.client = client_name(params.get("clientInfo"))

    def answered(self, request_id: object, result: Mapping[str, Any]) -> None:
        """Note an answer of the SDK's: that of `initialize` says which revision is spoken."""
        if self._asked is not None and request_id == self._asked[0]:
            self._hello = self._asked[1] if result.get("protocolVersion") in HANDSHAKES else None
            self._asked = None

    def opening(self) -> list[bytes]:
        """What the SDK's server is told first (rule 3), as requests of `replay_id`, and one notification."""
        self._sdk_answers = True
        if not self._direct:
            return []
        said: list[dict[str, Any]] = []
        if self._era in ("handshake", "modern"):
            meta = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {}}
            said.append({"method": "ping", "params": {"_meta": meta} if self._era == "modern" else {}})
        if self._hello is not None:
            said.append({"method": "initialize", "params": self._hello})
        requests = [encoded({"jsonrpc": "2.0", "id": self.replay_id, **one}) for one in said]
        if self._initialized:
            requests.append(encoded({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return requests

    # What is answered.

    def _answer(self, method: str, params: dict[str, Any], request_id: RequestId, writer: WireWriter) -> bool:
        """Answer a request that is known here, or begin to."""
        meta = params.get("_meta", {})
        if not _is_plain(meta):
            return False
        if self._era == "handshake":
            if any(key.startswith(RESERVED) for key in meta):
                return False
            if method == "initialize":
                return self._greet(params, request_id, writer)
            if method == "ping":
                return params.keys() <= _ONLY_META and self._say(b"{}", request_id, writer)
            if self._hello is None:
                return False
        elif self._era != "modern" or not _is_envelope(meta):
            return False
        if method == "tools/call":
            return self._call(params, meta, request_id, writer)
        answer = self._answers.get(method)
        if answer is None or not params.keys() <= _ONLY_META:
            return False
        answer(request_id, writer)
        return True

    def _say(self, result: bytes, request_id: RequestId, writer: WireWriter) -> bool:
        writer.answer(request_id, b'"result":' + result)
        return True

    def _greet(self, params: dict[str, Any], request_id: RequestId, writer: WireWriter) -> bool:
        match params:
            case {
                "protocolVersion": str() as asked,
                "capabilities": dict() as capabilities,
                "clientInfo": dict() as info,
            } if not self._sdk_answers and params.keys() == _HELLO and _known(capabilities) and _is_info(info):
                pass
            case _:
                return False
        self._hello, self._asks = params, _can_ask(capabilities)
        if self._connection is not None:
            self._connection.terminals.client = client_name(info)
        experimental = self._offer.experimental
        result = {
            "capabilities": {
                "completions": {},
                **({"experimental": experimental} if experimental else {}),
                "prompts": {"listChanged": False},
                "resources": {"listChanged": True, "subscribe": True},
                "tools": {"listChanged": False},
            },
            **self._instructions,
            "protocolVersion": asked if asked in HANDSHAKES else HANDSHAKES[-1],
            "serverInfo": _SERVER,
        }
        return self._say(encoded(result), request_id, writer)

    @property
    def _instructions(self) -> dict[str, str]:
        return {} if self._offer.instructions is None else {"instructions": self._offer.instructions}

    def discovery(self, method: str, params: Mapping[str, Any]) -> bytes | None:
        """The member that answers a probe (rule 2); None for what the SDK answers."""
        meta = params.get("_meta")
        version = meta.get(PROTOCOL_VERSION) if isinstance(meta, dict) else None
        if method != "server/discover" or not isinstance(version, str):
            return None
        if version == MODERN:
            return b'"result":' + self._discovered
        data = {"supported": [MODERN], "requested": version}
        return RequestError(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data).member()

    @cached_property
    def _discovered(self) -> bytes:
        capabilities = {
            "completions": {},
            "extensions": {UI_EXTENSION: {}, TASKS: {}},
            # The SDK says so of all three as soon as there are listen streams; tools and prompts never change here.
            "prompts": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "tools": {"listChanged": True},
        }
        return encoded(
            {
                "cacheScope": "private",
                "capabilities": capabilities,
                **self._instructions,
                "resultType": "complete",
                "supportedVersions": [MODERN],
                "ttlMs": 0,
                "_meta": {SERVER_INFO: _SERVER},
            }
        )

    def _list(self, name: str, items: bytes, request_id: RequestId, writer: WireWriter) -> None:
        """Answer with a list. The SDK sorts the members of a result; `_meta` comes last."""
        if self._era == "handshake":
            result = b'{"%b":%b}' % (name.encode(), items)
        else:
            before = b'"resultType":"complete"'
            parts = sorted((before, b'"%b":%b' % (name.encode(), items)))
            result = b'{"cacheScope":"private",%b,%b,"ttlMs":0,%b}' % (*parts, _STAMP)
        self._say(result, request_id, writer)

    @cached_property
    def _prompts(self) -> bytes:
        return encoded(self._offer.prompts.listing())

    @property
    def _tools(self) -> bytes:
        return self._legacy_tools if self._era == "handshake" else self._modern_tools

    @cached_property
    def _legacy_tools(self) -> bytes:
        # In the SDK's models of these revisions a schema has members, which it sorts.
        schemas = ("inputSchema", "outputSchema")
        return encoded(
            [
                {key: dict(sorted(value.items())) if key in schemas else value for key, value in tool.items()}
                for tool in self._offer.catalogue.listing
            ]
        )

    @cached_property
    def _modern_tools(self) -> bytes:
        return encoded(self._offer.catalogue.listing)

    def _list_resources(self, request_id: RequestId, writer: WireWriter) -> None:
        assert self._connection is not None
        assert self._tasks is not None
        connection, modern = self._connection, self._era == "modern"
        writer.unanswered.add(request_id)

        async def tell() -> None:
            writer.notify("notifications/resources/list_changed")
            await writer.room()

        async def answer() -> None:
            if not modern:
                try:
                    connection.updates.list_was_asked(tell)
                except RequestError as error:
                    writer.answer(request_id, error.member())
                    return
            try:
                found = await listed(connection.terminals.opened)
            except RequestError as error:
                writer.answer(request_id, error.member())
            else:
                self._list("resources", encoded(found), request_id, writer)
            await writer.room()

        self._tasks.start_soon(answer)

    def _call(self, params: dict[str, Any], meta: dict[str, Any], request_id: RequestId, writer: WireWriter) -> bool:
        name, given, token = params.get("name"), params.get("arguments", {}), meta.get("progressToken")
        if not isinstance(name, str) or name not in self._offer.catalogue or not isinstance(given, dict):
            return False
        if not params.keys() <= _CALL or isinstance(token, bool | float | list | dict):
            return False
        shape, asks = _legacy_result, self._asks
        if self._era == "modern":
            shape, capabilities = _modern_result, meta[CLIENT_CAPABILITIES]
            if TASKS in capabilities.get("extensions", {}):
                return False
            asks = _can_ask(capabilities)
            if self._connection is not None and not self._connection.terminals.client:
                self._connection.terminals.client = client_name(meta.get(CLIENT_INFO))
        if asks and (name in _MAY_ASK or (name == "run_tmux_operations" and _KILLS in str(given))):
            return False
        tool = self._offer.catalogue[name]
        return self.calls.begin(tool, given, request_id=request_id, token=token, shape=shape, writer=writer)


_SERVER: Final = {"name": NAME, "version": __version__}
_STAMP: Final = b'"_meta":' + encoded({SERVER_INFO: _SERVER})
_ONLY_META: Final = frozenset(("_meta",))
_HELLO: Final = frozenset(("protocolVersion", "capabilities", "clientInfo"))
_CALL: Final = frozenset(("name", "arguments", "_meta"))
# Members of `clientInfo` that are texts; its icons are the SDK's to check.
_INFO: Final = frozenset(("name", "version", "title", "description", "websiteUrl"))
_ENVELOPE: Final = frozenset((PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO))


def has_envelope(params: Mapping[str, Any]) -> bool:
    """Whether a request says that it is of the revision without a handshake, as the SDK decides it."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and PROTOCOL_VERSION in meta


def _is_envelope(meta: dict[str, Any]) -> bool:
    """Whether nothing can be wrong with an envelope, and nothing in it but what is known here."""
    if any(key.startswith(RESERVED) and key not in _ENVELOPE for key in meta):
        return False
    capabilities, info = meta.get(CLIENT_CAPABILITIES), meta.get(CLIENT_INFO, {"name": "", "version": ""})
    return (
        meta.get(PROTOCOL_VERSION) == MODERN
        and isinstance(capabilities, dict)
        and _known(capabilities)
        and isinstance(info, dict)
        and _is_info(info)
    )


def _is_plain(meta: object) -> bool:
    """Whether `_meta` is an object whose token, if it has one, can be one."""
    return isinstance(meta, dict) and not isinstance(meta.get("progressToken"), bool | float | list | dict)


def _is_info(info: dict[str, Any]) -> bool:
    return {"name", "version"} <= info.keys() <= _INFO and all(isinstance(value, str) for value in info.values())


def _known(capabilities: dict[str, Any]) -> bool:
    """Whether a client's capabilities are such that no class of the SDK could refuse them."""
    for name, value in capabilities.items():
        if not isinstance(value, dict):
            return False
        if name in _OPEN_CAPABILITIES:
            known = all(isinstance(one, dict) for one in value.values())
        elif name == "roots":
            known = value.keys() <= {"listChanged"} and all(isinstance(one, bool) for one in value.values())
        else:
            known = value.keys() <= _CAPABILITIES.get(name, frozenset()) and not any(
                one != {} for one in value.values()
            )
            known = known and name in _CAPABILITIES
        if not known:
            return False
    return True


def _can_ask(capabilities: object) -> bool:
    return isinstance(capabilities, dict) and capabilities.get("elicitation") is not None


def _legacy_result(text: Piece, fields: Piece, is_error: bool, pictures: Sequence[str] = ()) -> tuple[Piece, ...]:
    rest = (b',"structuredContent":', fields) if fields else ()
    said = b'],"isError":true' if is_error else b'],"isError":false'
    return b'"result":{"content":[{"type":"text","text":', text, b"}", *_images(pictures), said, *rest, b"}"


def _modern_result(text: Piece, fields: Piece, is_error: bool, pictures: Sequence[str] = ()) -> tuple[Piece, ...]:
    rest = (b',"structuredContent":', fields) if fields else ()
    said = b'],"isError":%b,"resultType":"complete"' % (b"true" if is_error else b"false")
    text_end = b',"type":"text"}'
    return b'"result":{"content":[{"text":', text, text_end, *_images(pictures), said, *rest, b",", _STAMP, b"}"


def _images(pictures: Sequence[str]) -> Iterator[bytes]:
    """The pictures, as content blocks that follow the text."""
    for data in pictures:
        yield b',{"data":"%b","mimeType":"image/png","type":"image"}' % data.encode()
