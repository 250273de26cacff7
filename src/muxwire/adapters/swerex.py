"""SWE-ReX: a `LocalRuntime` whose bash sessions are tabs of muxwire, here or on another machine.

    runtime = MuxwireRuntime(host="docker:task-1")
    await runtime.create_session(CreateBashSessionRequest())

`execute`, `read_file`, `write_file` and `upload` are LocalRuntime's own, and so act on this machine. What differs in
sessions: outputs and exit codes are exact, here-documents work, and a call after one that timed out reports that the
command still runs, instead of being typed into that command.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, final

import muxwire
from muxwire.adapters import needed, shown, why_it_waits
from muxwire.errors import TabUnavailable

with needed("swerex"):
    from swerex.exceptions import CommandTimeoutError, NoExitCodeError, NonZeroExitCodeError, SessionExistsError
    from swerex.runtime.abstract import (
        BashAction,
        BashInterruptAction,
        BashObservation,
        CloseBashSessionResponse,
        CreateBashSessionRequest,
        CreateBashSessionResponse,
    )
    from swerex.runtime.local import LocalRuntime, Session, _check_bash_command

if TYPE_CHECKING:
    from muxwire.tabs.tab import Tab

# Seconds for an action without a limit: a day.
_NO_LIMIT = 86400.0
# The exit code of bash for a line with a syntax error (bash(1)).
_SYNTAX_ERROR = 2
# What `expect_string` holds if the shell's prompt ended the wait. LocalRuntime has its own PS1 there.
_PROMPT = "SHELLPS1PREFIX"


@final
class MuxwireSession(Session):
    """A bash session in a tab."""

    def __init__(
        self, request: CreateBashSessionRequest, terminals: muxwire.Terminals, host: str | muxwire.Carrier = ""
    ) -> None:
        """The tab is opened by `start`."""
        self.request, self._terminals, self._host = request, terminals, host
        self._tab: Tab | None = None
        self._left = self._left_id = ""  # the command that was left running at the end of its time

    @property
    def tab(self) -> Tab:
        """The tab. RuntimeError before `start`."""
        if self._tab is None:
            raise RuntimeError("shell not initialized")
        return self._tab

    async def start(self) -> CreateBashSessionResponse:
        """Open the tab, and read what the request names."""
        self._tab = await self._terminals.create_tab(shell="bash", host=self._host)  # noqa: S604 - not subprocess's `shell`
        output = ""
        for path in self.request.startup_source:
            output += (await self._tab.execute(f"source {path}", timeout=_NO_LIMIT)).output
        return CreateBashSessionResponse(output=output)

    async def run(self, action: BashAction | BashInterruptAction) -> BashObservation:
        """As LocalRuntime's sessions. NonZeroExitCodeError, CommandTimeoutError, BashIncorrectSyntaxError."""
        if isinstance(action, BashInterruptAction):
            return await self._interrupt()
        if action.is_interactive_command or action.is_interactive_quit:
            return await self._interactive(action)
        return await self._normal(action)

    async def _interrupt(self) -> BashObservation:
        begin = self.tab.next_byte
        await self.tab.stop_process()
        self._left = ""
        logged = await self._terminals.stream_logs(self.tab.key, from_byte=begin, strip_ansi=True)
        return BashObservation(output=logged.chunk.strip(), exit_code=0, expect_string=_PROMPT)

    async def _normal(self, action: BashAction) -> BashObservation:
        if not action.command.strip():
            return BashObservation(exit_code=0, expect_string=_PROMPT)
        limit = action.timeout if action.timeout is not None else _NO_LIMIT
        late = f"timeout after {action.timeout} seconds while running command {action.command!r}"
        try:
            result = await self.tab.execute(action.command, timeout=limit, on_timeout="leave")
        except TabUnavailable as error:
            # It may have ended by itself since.
            left_runs = self._left != "" and (await self.tab.command_result(self._left_id)).running
            left = f": {self._left!r} was left running; interrupt it first" if left_runs else ""
            raise CommandTimeoutError(f"{error}{left}") from error
        if result.running and not result.timed_out:
            await self.tab.stop_process()
            raise CommandTimeoutError(f"{late}: {why_it_waits(result)}, and was stopped")
        if result.timed_out:
            self._left, self._left_id = action.command, result.command_id
            raise CommandTimeoutError(late)
        if result.exit_code == _SYNTAX_ERROR:
            _check_bash_command(action.command)
        if result.exit_code is None and action.check == "raise":
            raise NoExitCodeError(result.note)
        if result.exit_code != 0 and action.check == "raise":
            message = f"Command {action.command!r} failed with exit code {result.exit_code}. Here is the output:\n"
            message = f"{action.error_msg}: {message}" if action.error_msg else message
            raise NonZeroExitCodeError(f"{message}{shown(result.output)!r}")
        status = None if action.check == "ignore" else result.exit_code
        return BashObservation(output=shown(result.output), exit_code=status, expect_string=_PROMPT)

    async def _interactive(self, action: BashAction) -> BashObservation:
        """Type a line into whatever runs, and wait for one of the patterns, or for the shell's prompt."""
        tab = self.tab
        sent = await tab.send_keys([action.command.rstrip("\n"), "Enter"])
        limit = action.timeout if action.timeout is not None else _NO_LIMIT
        patterns = "|".join(f"(?:{one})" for one in action.expect) if not action.is_interactive_quit else ""
        seen = await self._terminals.wait_for(
            [tab.key], regex=patterns, prompt=True, from_byte=sent.next_byte, timeout=limit
        )
        if seen.outcome != "met":
            raise CommandTimeoutError(f"timeout after {action.timeout} seconds while running {action.command!r}")
        matched = next((one for one in action.expect if re.fullmatch(one, seen.match)), "")
        size = max(1, seen.next_byte - sent.next_byte)
        logged = await self._terminals.stream_logs(tab.key, from_byte=sent.next_byte, max_bytes=size, strip_ansi=True)
        output = logged.chunk.lstrip().removeprefix(action.command.rstrip("\n"))
        output = output.removesuffix(seen.match) if matched else output
        return BashObservation(output=output.strip(), exit_code=0, expect_string=matched or _PROMPT)

    async def close(self) -> CloseBashSessionResponse:
        """End the tab."""
        if self._tab is not None and self._tab.state != "dead":
            await self._tab.close(force=True)
        self._tab = None
        return CloseBashSessionResponse()


class MuxwireRuntime(LocalRuntime):
    """A runtime whose sessions are tabs of one instance, which is opened with the first session."""

    def __init__(self, *, host: str | muxwire.Carrier = "", **given: Any) -> None:  # noqa: ANN401 - LocalRuntime's
        """`host` is a machine for the sessions, as `create_tab` takes it."""
        super().__init__(**given)
        self._host = host
        self._terminals: muxwire.Terminals | None = None

    async def create_session(self, request: CreateBashSessionRequest) -> CreateBashSessionResponse:
        """Open a session. SessionExistsError, HostUnavailable."""
        if request.session in self.sessions:
            raise SessionExistsError(f"session {request.session} already exists")
        if self._terminals is None:
            self._terminals = await muxwire.start()
        session = MuxwireSession(request, self._terminals, self._host)
        started = await session.start()
        self.sessions[request.session] = session
        return started

    async def close(self) -> Any:  # noqa: ANN401 - LocalRuntime's own response
        """End every session, and the instance."""
        closed = await super().close()
        self.sessions.clear()
        if self._terminals is not None:
            await self._terminals.aclose()
            self._terminals = None
        return closed
