"""OpenHands: an executor for its terminal tool whose shell is a tab, here or on another machine.

    tools = TerminalTool.create(conv_state=state, executor=MuxwireExecutor(state.workspace.working_dir))

What differs from its own executors: a command that waits for input ends the call at once, and the result says for what
it waits (`at_once=False`: after the silence, in OpenHands' words); input reaches the program that runs; a program that
still waits for input never gets the next command as input, and its output never counts as that command's.
"""

from __future__ import annotations

import os
import shlex
import threading
import time
from typing import TYPE_CHECKING, Any

from muxwire.adapters import needed, shown, why_it_waits
from muxwire.adapters.one_tab import NO_PAGER, OneTab
from muxwire.errors import MuxwireError

with needed("openhands"):
    from openhands.sdk.tool import ToolExecutor
    from openhands.sdk.utils import maybe_truncate
    from openhands.tools.terminal import constants
    from openhands.tools.terminal.definition import TerminalAction, TerminalObservation
    from openhands.tools.terminal.metadata import CmdOutputMetadata
    from openhands.tools.terminal.utils.command import split_bash_commands

if TYPE_CHECKING:
    from collections.abc import Mapping

    import muxwire.sync

# The keys that the tool's description names to models; tmux has other names for some of them.
_KEYS = {key: key.capitalize() for key in ("UP", "DOWN", "LEFT", "RIGHT", "HOME", "END", "TAB", "ENTER")}
_KEYS |= {"PGUP": "PageUp", "PGDN": "PageDown", "ESC": "Escape", "BS": "BSpace"}
# The exit code that stands for a command that still runs.
_RUNNING = -1
# The words that models were trained with.
_SEVERAL = (
    "Cannot execute multiple commands at once.\nPlease run each command separately OR chain them into a single command "
    "via && or ;\nProvided commands:\n"
)
_REFUSED = (
    '[Your command "{}" is NOT executed. The previous command is still running - You CANNOT send new commands until '
    "the previous command is completed. By setting `is_input` to `true`, you can interact with the current process: "
    f"{constants.TIMEOUT_MESSAGE_TEMPLATE}]"
)
# The tmux of OpenHands' own executor keeps HISTORY_LIMIT lines, and shows 200 more on its screen.
_LINES_MAX = constants.HISTORY_LIMIT + 200
_TRUNCATED = f"[Previous command outputs are truncated. Showing the last {_LINES_MAX} lines of the output below.]\n"
_BELOW = "[Below is the output of the previous command.]\n"
_RESET = "Terminal session has been reset. All previous environment variables and session state have been cleared."


class MuxwireExecutor(OneTab, ToolExecutor[TerminalAction, TerminalObservation]):
    """One tab. `TerminalTool` makes one call at a time to an executor that is not pooled."""

    is_pooled = False

    def __init__(
        self, working_dir: str, *, no_change_timeout_seconds: float | None = None, env: Mapping[str, str] | None = None,
        host: str | muxwire.Carrier = "", full_output_save_dir: str | None = None, at_once: bool = True,
    ) -> None:  # fmt: skip
        """`host` is a machine, as `create_tab` takes it; the rest is as for OpenHands' own executor."""
        # Secrets are exported by commands: so no command is kept in the history.
        environ = {**os.environ, "MUXWIRE_HISTORY": "off"}
        wanted: dict[str, Any] = {"cwd": working_dir, "env": {**NO_PAGER, **(env or {})}, "host": host, "shell": "bash"}
        super().__init__(environ=environ, **wanted)
        self.working_dir, self.full_output_save_dir = working_dir, full_output_save_dir
        self._silence, self._at_once = no_change_timeout_seconds or constants.NO_CHANGE_TIMEOUT_SECONDS, at_once
        self._lock = threading.Lock()
        self._running = ""  # the command_id of what still runs
        self._told = False  # some of its output was returned

    def __call__(self, action: TerminalAction, conversation: Any = None) -> TerminalObservation:  # noqa: ANN401
        """Run a command, or give input to the one that runs; `conversation` has secrets for it. ValueError."""
        if action.reset and action.is_input:
            raise ValueError("Cannot use reset=True with is_input=True")
        with self._lock:
            if action.reset:
                self._end_tab()
                self._running = ""
            if action.reset and not action.command.strip():
                return TerminalObservation.from_text(text=_RESET, command="[RESET]", exit_code=0)
            try:
                seen = self._answer(action, conversation.state.secret_registry if conversation is not None else None)
            except MuxwireError as error:
                seen = _error(f"{error}; {error.remedy}", action.command)
        text = f"{_RESET}\n\n{seen.text}" if action.reset else seen.text
        if conversation is not None:
            text = conversation.state.secret_registry.mask_secrets_in_output(text) or text
        given = seen.model_dump(exclude={"content", "full_output_save_dir"})
        given["command"] = f"[RESET] {action.command}" if action.reset else seen.command
        return TerminalObservation.from_text(text=text, full_output_save_dir=self.full_output_save_dir, **given)

    def _answer(self, action: TerminalAction, secrets: Any) -> TerminalObservation:  # noqa: ANN401
        command, before = action.command.strip(), ""
        if not self._running and (not command or action.is_input):
            what = "interact with" if command else "retrieve logs from"
            return _error(f"No previous running command to {what}.", command)
        if action.is_input and command:
            is_key = command in _KEYS or (command.startswith("C-") and len(command) == len("C-x"))
            self._opened().send_keys([_KEYS.get(command, command)] if is_key else [action.command, "Enter"])
            return self._wait(command, action.timeout, key=command if is_key else "")
        if self._running and not command:
            return self._wait(command, action.timeout)
        if self._running:
            so_far = self._terminals.command_result(self._running)
            if so_far.running:
                return _observed(command, so_far.output, prefix=_BELOW, suffix=_REFUSED.format(command), is_error=True)
            self._running, before = "", f"{_BELOW}{so_far.output}\n"
        if len(parts := split_bash_commands(command)) > 1:
            return _error(_SEVERAL + "\n".join(f"({at}) {one}" for at, one in enumerate(parts, 1)), command)
        tab = self._opened()
        if secrets is not None and (found := secrets.get_secrets_as_env_vars(command)):
            tab.execute("export " + " ".join(f"{name}={shlex.quote(value)}" for name, value in found.items()))
        self._told, self._running = False, tab.execute(command, async_=True, max_chars=1).command_id
        return self._wait(command, action.timeout, text=before)

    def _wait(self, command: str, timeout: float | None, *, key: str = "", text: str = "") -> TerminalObservation:
        """Wait until the command ends or waits for input, for `timeout` seconds, or without one until it is silent."""
        begun = wrote = time.monotonic()
        while True:
            found = self._terminals.command_result(self._running, wait=constants.POLL_INTERVAL)
            text, wrote = text + found.output, time.monotonic() if found.output else wrote
            asks = self._at_once and found.state == "interactive"
            over = time.monotonic() - (begun if timeout else wrote) >= (timeout or self._silence)
            if not found.running or asks or over:
                break
        if found.running:
            prefix, self._told = _BELOW if self._told else "", True
            message = f"timed out after {timeout}" if timeout else f"has no new output after {self._silence}"
            message = f"waits for input: {why_it_waits(found)}." if asks else f"{message} seconds."
            message = f"[The command {message} {constants.TIMEOUT_MESSAGE_TEMPLATE}]"
            return _observed(command, text, prefix=prefix, suffix=message)
        self._running, status = "", _RUNNING if found.exit_code is None else found.exit_code
        sent = f" CTRL+{key[-1].upper()} was sent." if key.startswith("C-") else ""
        message = f"The command completed with exit code {status}.{sent}" if status >= 0 else found.note
        return _observed(command, text, status, suffix=f"[{message}]", cwd=found.cwd)

    def interrupt(self) -> None:
        """Stop the running command, for which another thread waits."""
        if self._tab is not None and self._running:
            self._tab.stop_process()

    def close(self) -> None:
        """End the tab and its instance; so does the end of the program."""
        self._terminals.close()


def _observed(
    command: str, text: str, status: int = _RUNNING, *, prefix: str = "", suffix: str, cwd: str | None = None,
    is_error: bool = False,
) -> TerminalObservation:  # fmt: skip
    lines = (text := shown(text)).splitlines(keepends=True)
    if len(lines) > _LINES_MAX:
        text, prefix = "".join(lines[-_LINES_MAX:]), _TRUNCATED
    shortened = maybe_truncate(text.rstrip(), truncate_after=constants.MAX_CMD_OUTPUT_SIZE)
    metadata = CmdOutputMetadata(exit_code=status, working_dir=cwd, prefix=prefix, suffix=f"\n{suffix}")
    return TerminalObservation.from_text(
        text=shortened, command=command, exit_code=status, metadata=metadata, is_error=is_error
    )


def _error(text: str, command: str) -> TerminalObservation:
    return TerminalObservation.from_text(text=text, command=command, is_error=True)
