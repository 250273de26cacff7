"""Calls of tools: checked, run and shaped, for the SDK's server and straight from the wire.

The SDK's way of a request (five models, two tasks and two encodings of the result) takes longer than a short command
in a shell. So `tools/call` goes from the line that was read to the tool, and its result is encoded once, for every call
that `conversation.py` knows how to read.
"""

from __future__ import annotations

import logging
from base64 import b64encode
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, final

import anyio

from muxwire.mcp.jsonrpc import CONNECTION_CLOSED, INTERNAL_ERROR, RequestError, as_json, encoded, encoded_later
from muxwire.mcp.registry import Call, NeedsAnswer, Progress, Text, explained, refused
from muxwire.verbs.read import Misfit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from muxwire.mcp.jsonrpc import RequestId
    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.mcp.registry import AnyTool, AsksPerson
    from muxwire.mcp.wire import Piece, WireWriter

    # Makes the member `result` of an answer in one revision of the protocol, in pieces. Its arguments: the text as a
    # JSON string, the fields as JSON (b"" if there are none), whether it is an error, and the pictures that come after
    # the text (PNGs in base64).
    Shape = Callable[[Piece, Piece, bool, Sequence[str]], tuple[Piece, ...]]

log = logging.getLogger(__name__)


async def outcome(
    tool: AnyTool,
    given: dict[str, Any],
    terminals: LazyTerminals,
    progress: Progress,
    person: AsksPerson | None = None,
) -> dict[str, Any] | Text:
    """Check and run one call: the fields of its result; or a text, if it is an error, has pictures or has no fields.

    Raises NeedsAnswer, where the client is to ask the person.
    """
    try:
        arguments = tool.validated(given)
    except Misfit as error:
        return refused(tool, error)
    try:
        opened = await terminals.get()
        call = Call(opened, progress, person)
        result = await tool.result(call, arguments)
    except NeedsAnswer:
        raise
    except Exception as error:  # noqa: BLE001 (the one boundary: every error becomes two lines for the model)
        return explained(tool, error)
    if terminals.channel is not None:
        terminals.channel.note(result, opened, call.stopped)
    if call.pictures:
        return Text(as_text(result)[0], pictures=tuple(b64encode(picture).decode() for picture in call.pictures))
    if tool.returns is Text:
        text = result["text"].encode("utf-8", "replace").decode()
        return Text(text, is_error=result.get("is_error", False))
    return result


def client_name(info: object) -> str:
    """What `muxwire ls` shows of a client: MCP's clientInfo, as JSON; "" for what is none."""
    if not isinstance(info, dict):
        return ""
    return " ".join(part for name in ("name", "version") if isinstance(part := info.get(name), str) and part)


def as_text(fields: dict[str, Any]) -> tuple[str, bytes, dict[str, Any]]:
    """Return the JSON text of a result, its bytes, and the fields that it says, without what is no UTF-8."""
    text = as_json(fields)
    try:
        return text, text.encode(), fields
    except UnicodeEncodeError:  # a name or path that is not UTF-8 came in as lone surrogates
        readable: dict[str, Any] = _readable(fields)
        text = as_json(readable)
        return text, text.encode(), readable


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

    1. A call that its client cancelled is never answered; one that the end of the server cancels is answered with an
       error, as the SDK does.
    2. An answer waits while the client is too far behind, as all others do (`WireWriter.room`).
    """

    def __init__(self) -> None:
        self.terminals: LazyTerminals | None = None  # while calls can run
        self._tasks: TaskGroup | None = None
        self._running: dict[str, anyio.CancelScope] = {}
        self._handing: MemoryObjectSendStream[tuple[Any, ...]]  # these two set by `running`
        self._handed: MemoryObjectReceiveStream[tuple[Any, ...]]

    @asynccontextmanager
    async def running(self, terminals: LazyTerminals) -> AsyncIterator[None]:
        """Run calls for the time of the block; those under way at its end are cancelled."""
        self._handing, self._handed = anyio.create_memory_object_stream[tuple[Any, ...]](0)
        with self._handing, self._handed:
            async with anyio.create_task_group() as self._tasks:
                self.terminals = terminals
                try:
                    yield
                finally:
                    self.terminals = None
                    self._tasks.cancel_scope.cancel()

    def begin(
        self,
        tool: AnyTool,
        given: dict[str, Any],
        *,
        request_id: RequestId,
        token: RequestId | None,
        shape: Shape,
        writer: WireWriter,
    ) -> bool:
        """Begin a call, with a token that asks for its progress; False if no call can run (any more)."""
        if self.terminals is None or self._tasks is None:
            return False
        progress = Progress(None if token is None else _Reports(writer, token))
        writer.unanswered.add(request_id)
        call = (tool, given, self.terminals, progress, request_id, shape, writer)
        try:
            self._handing.send_nowait(call)
        except anyio.WouldBlock:
            self._tasks.start_soon(self._work, call)
        return True

    def cancel(self, request_id: RequestId) -> None:
        """End a call that its client no longer waits for."""
        if (scope := self._running.get(str(request_id))) is not None:
            scope.cancel()

    async def _work(self, call: tuple[Any, ...]) -> None:
        """Do a call, and the next ones, unless another task waits for them: to start a task takes 20 us."""
        while True:
            await self._call(*call)
            del call  # its arguments may be of megabytes
            if self._handed.statistics().tasks_waiting_receive:
                return
            call = await self._handed.receive()

    async def _call(
        self,
        tool: AnyTool,
        given: dict[str, Any],
        terminals: LazyTerminals,
        progress: Progress,
        request_id: RequestId,
        shape: Shape,
        writer: WireWriter,
    ) -> None:
        key, scope = str(request_id), anyio.CancelScope()
        self._running[key] = scope
        try:
            with scope:
                result = await outcome(tool, given, terminals, progress)
        except anyio.get_cancelled_exc_class():
            writer.answer(request_id, RequestError(CONNECTION_CLOSED, "Connection closed").member())
            raise
        finally:
            if self._running.get(key) is scope:  # ids may be given twice
                del self._running[key]
        if not scope.cancelled_caught:
            member = _member(result, shape)
            del result  # what may be of megabytes is not held while its client reads
            writer.answer(request_id, *member)
            del member
            await writer.room()


def _member(result: dict[str, Any] | Text, shape: Shape) -> tuple[Piece, ...]:
    """Return the member of the answer that holds a result. The text is the JSON of the fields."""
    try:
        if isinstance(result, Text):
            return shape(encoded(result.text), b"", result.is_error, result.pictures)
        if (later := _later(result)) is not None:
            return shape(*later, False, ())
        text, fields, _ = as_text(result)
        shown = encoded(text)
    except UnicodeEncodeError:
        log.exception("a result could not be encoded")
        return (RequestError(INTERNAL_ERROR, "The result could not be encoded").member(),)
    return shape(shown, fields, False, ())


def _later(result: dict[str, Any]) -> tuple[Piece, Piece] | None:
    try:
        return encoded_later(result)
    except UnicodeEncodeError:  # as in `as_text`
        return None


@final
class _Reports:
    """Sends the progress of one call to the client that asked for it."""

    def __init__(self, writer: WireWriter, token: RequestId) -> None:
        self._writer = writer
        self._token = token

    async def __call__(self, elapsed: float, message: str) -> None:
        params = {"progressToken": self._token, "progress": elapsed, "message": message}
        self._writer.notify("notifications/progress", params)
        await self._writer.room()
