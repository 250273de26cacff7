"""Commands that are left running, as tasks (SEP-2663): for requests that declare `io.modelcontextprotocol/tasks`.

Rules, by the extension's specification for 2026-07-28:

1. A task is made only in answer to a request that declares the extension, of a command that was to be left running:
   `async`, or `on_timeout: leave` at its timeout. All else is answered as to any client.
2. The id of a task is that of its command, so a task outlives the server as the command does, with `--name`.
3. `tasks/get` says how much output there is, and once the command has ended its whole result, as `execute_command`
   gives it by default, long output shortened. One that ended after `tasks/cancel` is `cancelled`. None is `failed`: a
   failed command is a result.
4. What a command waits for is in `statusMessage`, with the words for a person. Its answer is typed, not sent by MCP.
5. `subscriptions/listen` with `taskIds` sends `notifications/tasks` when one of them has ended.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, final

from mcp import MCPError, types
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from muxwire.errors import NoSuchTarget
from muxwire.mcp.encoding import as_json, readable
from muxwire.mcp.registry import WORDS
from muxwire.values import to_dict
from muxwire.verbs.types import DEFAULT_MAX_CHARS
from muxwire.verbs.words import spelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from muxwire.library.terminals import Terminals

EXTENSION: Final = "io.modelcontextprotocol/tasks"
# A command ends when it ends; a client that asks more often learns nothing.
POLL_MS: Final = 2_000
# Error code of the specification's section "Capability Negotiation".
MISSING_CAPABILITY: Final = -32021


class TaskParams(types.RequestParams):
    """The parameters of `tasks/get` and `tasks/cancel`."""

    task_id: str


class TaskUpdateParams(TaskParams):
    """The parameters of `tasks/update`."""

    input_responses: dict[str, Any]


class TaskNotification(types.Notification[dict[str, Any], Literal["notifications/tasks"]]):
    """The news of one task, as `tasks/get` would give them."""

    method: Literal["notifications/tasks"] = "notifications/tasks"
    params: dict[str, Any]


def is_declared(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether a request says that its client knows tasks."""
    said = context.session.client_capabilities
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return is_modern and said is not None and EXTENSION in (said.extensions or {})


def check_declared(context: ServerRequestContext[Any, Any]) -> None:
    """Refuse a request of a client that does not know tasks, as the specification says: MCPError."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(code=types.METHOD_NOT_FOUND, message="Method not found")
    if not is_declared(context):
        data: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        raise MCPError(code=MISSING_CAPABILITY, message="Missing required client capability", data=data)


@final
class Tasks:
    """The tasks of one server. Kept here is only what the tab of a command does not know: that a task was cancelled."""

    def __init__(self) -> None:
        self._cancelled: set[str] = set()

    async def made_of(
        self, arguments: object, result: Mapping[str, Any], terminals: Terminals
    ) -> dict[str, Any] | None:
        """The task of a command that a call has left running (rule 1), in place of its result; None for another."""
        leaves = getattr(arguments, "on_timeout", "") == "leave" and result.get("timed_out")
        left = getattr(arguments, "async_", False) or leaves
        if not (left and result.get("running") and result.get("state") != "interactive"):
            return None
        return await self.get(result["command_id"], terminals) | {"resultType": "task"}

    async def get(self, task_id: str, terminals: Terminals) -> dict[str, Any]:
        """What `tasks/get` answers (rule 3). MCPError for a command that is not known."""
        try:
            command = await terminals.command_info(task_id)
            told = await terminals.command_result(task_id, whole=True, max_chars=DEFAULT_MAX_CHARS, drawing=False)
        except NoSuchTarget as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from None
        task: dict[str, Any] = {
            "resultType": "complete",
            "taskId": task_id,
            "status": "working",
            "createdAt": _iso(command.began),
            "lastUpdatedAt": _iso(command.ended or datetime.now(UTC).timestamp()),
            "ttlMs": None,
            "pollIntervalMs": POLL_MS,
        }
        fields = to_dict(told, partial(spelled, words=WORDS))
        if told.running:
            # The log's bytes between two offsets may hold marks too, which are no output.
            size = told.next_byte - told.from_byte if told.truncated else len(told.output.encode())
            return task | {"statusMessage": "; ".join([f"{size} bytes of output", *filter(None, [fields.get("note")])])}
        if task_id in self._cancelled:
            return task | {"status": "cancelled"}
        result = succeeded(fields).model_dump(by_alias=True, mode="json", exclude_none=True)
        said = fields.get("note", "no exit code") if told.exit_code is None else f"exit code {told.exit_code}"
        return task | {"status": "completed", "statusMessage": said, "result": result}

    async def cancel(self, task_id: str, terminals: Terminals) -> None:
        """Begin to interrupt the command of a task. MCPError for one that is not known."""
        try:
            running = await terminals.interrupt(task_id)
        except NoSuchTarget as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from None
        if running:
            self._cancelled.add(task_id)

    async def ends(self, given: object, terminals: Terminals) -> dict[str, Callable[[], Awaitable[TaskNotification]]]:
        """What to wait for and to send, by id, of the tasks that a listen stream asks for and that are known."""
        found: dict[str, Callable[[], Awaitable[TaskNotification]]] = {}
        for task_id in given if isinstance(given, list) else ():
            with suppress(NoSuchTarget):
                await terminals.command_info(str(task_id))
                found[str(task_id)] = partial(self._end, str(task_id), terminals)
        return found

    async def _end(self, task_id: str, terminals: Terminals) -> TaskNotification:
        """What `tasks/get` answers when the command has ended; waits for that. MCPError."""
        with suppress(NoSuchTarget):  # `get` says so
            await terminals.command_end(task_id)
        return TaskNotification(params=await self.get(task_id, terminals))


def succeeded(fields: dict[str, Any]) -> types.CallToolResult:
    """Return the result twice, as text and as an object: each client shows its model only one of them."""
    fields = readable(fields)
    text = types.TextContent(type="text", text=as_json(fields))
    return types.CallToolResult(content=[text], structured_content=fields)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
