"""`serve --channel`: the end of a command that was left running is sent into the session (Claude Code; experimental).

A server that declares the experimental capability `claude/channel` may send `notifications/claude/channel`, which
Claude Code shows to its model. Other clients ignore both.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final, final

import anyio

from muxwire.errors import MuxwireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anyio.abc import TaskGroup

    from muxwire.library.terminals import Terminals

log = logging.getLogger(__name__)

CAPABILITY: Final = "claude/channel"
METHOD: Final = "notifications/claude/channel"
# What a model needs to see whether it went well; the log has the rest.
LAST_LINES: Final = 10
MAX_CHARS: Final = 2_000
# Of a command's text: its first line, which says which one it was.
COMMAND_CHARS: Final = 80
# A call that waits for the same end, or brought it about, answers within that time, and then nothing is sent.
GRACE_SECONDS: Final = 0.5


@final
class Channel:
    """Follows the commands whose results said that they still run."""

    def __init__(self, send: Callable[[str, dict[str, Any]], None], tasks: TaskGroup) -> None:
        """`send` sends a notification; commands are followed in `tasks`."""
        self._send = send
        self._open: set[str] = set()  # whose end the model has not been told
        self._stopped: dict[str, float] = {}  # when the model's own call last ended what ran in a tab, by the tab
        self._tasks = tasks

    def note(self, result: dict[str, Any], terminals: Terminals, stopped: Iterable[str] = ()) -> None:
        """Take the result of a call: the model knows by it that a command runs, or has ended.

        `stopped` are the tabs in which the call was to end what ran, or has seen it end.
        """
        self._stopped |= dict.fromkeys(stopped, time.time())
        command_id = result.get("command_id")
        if not isinstance(command_id, str):
            return
        started = bool(result.get("started")) and "exit_code" not in result
        if not (result.get("running") or started):
            self._open.discard(command_id)
        elif command_id not in self._open:
            self._open.add(command_id)
            self._tasks.start_soon(self._follow, command_id, terminals)

    async def _follow(self, command_id: str, terminals: Terminals) -> None:
        try:
            await terminals.command_end(command_id)
            command = await terminals.command_info(command_id)
            await anyio.sleep(GRACE_SECONDS)
            if command_id not in self._open:
                return
            self._open.discard(command_id)
            if self._stopped.get(command.window_id, 0.0) >= (command.ended or 0.0):
                return
            tail = await terminals.read_logs(
                command.window_id, lines=LAST_LINES, strip_ansi=True, command_id=command_id
            )
        except Exception as error:  # noqa: BLE001 - the instance is gone, or its log; the connection goes on
            level = logging.INFO if isinstance(error, MuxwireError) else logging.ERROR
            log.log(level, "the end of %s is not sent: %r", command_id, error)
            return
        first = (command.command.splitlines() or [""])[0][:COMMAND_CHARS]
        code = "no exit code" if command.exit_code is None else f"exit code {command.exit_code}"
        content = f"The command {first!r} in tab {command.window_id} has ended with {code}. Its last lines (data):\n"
        meta = {"command_id": command_id, "window_id": command.window_id}
        if command.exit_code is not None:
            meta["exit_code"] = str(command.exit_code)
        self._send(METHOD, {"content": content + tail.content[-MAX_CHARS:], "meta": meta})
