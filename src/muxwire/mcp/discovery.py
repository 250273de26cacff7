"""`server/discover`, answered before the SDK sees it.

The SDK (2.3) ties a connection to the protocol of its first request, and then refuses `initialize` after a
`server/discover`: the very sequence by which Copilot CLI and Claude Code probe a server. An answer from here
ties nothing.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from mcp import types
from mcp.types import methods
from mcp.types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

METHOD = "server/discover"


@final
class Discovery:
    """The early answer of one server to probes in the modern protocol; others are the SDK's to answer."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server

    def answer(self, request: types.JSONRPCRequest) -> types.JSONRPCResponse | types.JSONRPCError | None:
        """Return the answer to a probe, None for every other request."""
        if request.method != METHOD:
            return None
        meta = (request.params or {}).get("_meta")
        version = meta.get(types.PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            return None
        if version in MODERN_PROTOCOL_VERSIONS:
            return types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=self._result)
        return types.JSONRPCError(jsonrpc="2.0", id=request.id, error=_unsupported(version))

    @cached_property
    def _result(self) -> dict[str, Any]:
        discovered = types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=self._server.get_capabilities(protocol_version=LATEST_MODERN_VERSION),
            instructions=self._server.instructions,
        )
        dumped = discovered.model_dump(by_alias=True, mode="json", exclude_none=True)
        result = methods.serialize_server_result(METHOD, LATEST_MODERN_VERSION, dumped)
        return result | {"_meta": {types.SERVER_INFO_META_KEY: self._server.server_info_stamp}}


def _unsupported(requested: str) -> types.ErrorData:
    data = types.UnsupportedProtocolVersionErrorData(supported=list(MODERN_PROTOCOL_VERSIONS), requested=requested)
    return types.ErrorData(
        code=types.UNSUPPORTED_PROTOCOL_VERSION,
        message="Unsupported protocol version",
        data=data.model_dump(mode="json"),
    )
