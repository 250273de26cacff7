"""Tools in the shapes that models were trained on, in place of muxwire's: `muxwire serve --profile codex` or `claude`.

Names, parameters and meanings are those of the public descriptions of Codex' `exec_command` and `write_stdin`, and of
Claude Code's `Bash`, `BashOutput` and `KillShell`; results are texts, as in those programs. Each tool is a mapping to
the library. Commands run in one shell, so `cd` and variables stay; one that runs on is known by a number.
"""

from __future__ import annotations

import secrets
import shlex
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias, final
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread

from muxwire.errors import NoSuchTarget
from muxwire.host.patterns import Pattern, matching
from muxwire.mcp.registry import RUNS_ANYTHING, Hints, Text, Told, like_ended, tool
from muxwire.verbs.describe import Says, Verb
from muxwire.verbs.types import Seconds
from muxwire.verbs.words import spelled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from muxwire.library.terminals import Terminals
    from muxwire.mcp.registry import AnyTool, Call
    from muxwire.results import ExecutionResult
    from muxwire.tabs.tab import Tab

# Codex' defaults: seconds that a call waits at first, and after input; tokens of output that it shows.
_YIELD, _YIELD_AFTER_INPUT = 10.0, 0.25
_TOKENS = 10_000
# Tokens of a text are not counted, but estimated by its length.
_CHARACTERS_A_TOKEN = 4
# Claude Code's timeout, in milliseconds, and the characters of output that it shows.
_TIMEOUT = 120_000
_SHOWN = 30_000
# What matching the lines of one answer may take.
_FILTER_SECONDS = 1.0

# What notes of results name in place of muxwire's own tools. Claude Code has no tool that types.
_CODEX_WORDS: Mapping[str, str] = {
    "send_keys": "write_stdin",
    "command_result": "write_stdin",
    "command_result.wait": "write_stdin",
    "stop_process": "C-c (\\u0003)",
}
_CLAUDE_WORDS: Mapping[str, str] = {
    "send_keys": "input in the command itself (a pipe, a here-document)",
    "command_result": "BashOutput",
    "command_result.wait": "BashOutput",
    "stop_process": "KillShell",
}


@final
class _Shells:
    """The tab in which the commands of one server run; and, by number, those that a call has left running.

    What runs on has a tab of its own: another one like the shell's where that is known before, else the shell's, and
    the next command runs in another one like it.
    """

    def __init__(self) -> None:
        self._told = Told()  # of the shell's tab
        self._taken: set[Tab] = set()  # by calls under way
        self._choosing = anyio.Lock()
        self._last = 0  # the newest number; none is given twice, else late input would reach another command
        self.running: dict[int, tuple[Tab, str]] = {}  # as long as their results can be asked for

    @asynccontextmanager
    async def tab(self, call: Call, *, apart: bool = False) -> AsyncIterator[Tab]:
        """The tab for a command; `apart` for one that runs in the background."""
        async with self._choosing:
            shell = self._told.tab
            if shell is None or shell.state == "dead":
                shell = await call.terminals.create_tab(**like_ended(shell))
                call.notes.append(self._told.name(shell, new=True)[1])
            given, taken = shell, shell in self._taken
            if apart or taken or given.state not in ("prompt", "starting"):
                given = await call.terminals.create_tab(**await shell.like())
            if not (apart or taken):
                self._told.tab = given
            self._taken.add(given)
        try:
            yield given
        finally:
            self._taken.discard(given)

    async def ended(self, tab: Tab) -> None:
        """A command in that tab has ended, and its end was told: the tab has no other use if it is not the shell's."""
        if tab is not self._told.tab and tab not in self._taken:
            await tab.close(force=True)

    def number(self, tab: Tab, command_id: str) -> int:
        """Return the number of a command that runs on, a new one if it has none."""
        if known := [one for one, found in self.running.items() if found == (tab, command_id)]:
            return known[0]
        self._last += 1
        remembered = ((one, found) for one, found in self.running.items() if found[1] in found[0].book.commands)
        self.running = {**dict(remembered), self._last: (tab, command_id)}
        return self._last

    def find(self, number: int) -> tuple[Tab, str]:
        """Return the tab and the id of a command; NoSuchTarget."""
        if number not in self.running:
            raise NoSuchTarget(
                f"no command has the number {number}, or it has ended", remedy="use the number that a result gave"
            )
        return self.running[number]


_OF_SERVER: WeakKeyDictionary[Terminals, _Shells] = WeakKeyDictionary()


def _shells(call: Call) -> _Shells:
    return _OF_SERVER.setdefault(call.terminals, _Shells())


_YieldTime: TypeAlias = Annotated[Seconds, Says("how long to wait", "wait so long for output before yielding", least=1)]
_MostTokens: TypeAlias = Annotated[int, Says("output beyond that is cut in its middle", least=1)]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ExecCommand(Verb):
    """Runs a command in a terminal, returning its output or a session ID for ongoing interaction. The working directory
    and variables persist between commands.
    """

    verb: ClassVar[str] = "exec_command"
    cmd: Annotated[str, Says("the command", "shell command to execute")]
    workdir: Annotated[str, Says("the directory to run it in", "run it there, apart from the shell's own state")] = ""
    yield_time: _YieldTime = _YIELD
    max_output_tokens: _MostTokens = _TOKENS
    tty: Annotated[bool, Says("there is always a terminal", "ignored: there is always a terminal")] = False
    shell: Annotated[str, Says("another shell to run it in")] = ""
    login: Annotated[bool, Says("as a login shell, if `shell` names one")] = False
    sandbox_permissions: Annotated[str, Says("ignored: there is no sandbox")] = ""
    justification: Annotated[str, Says("ignored")] = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStdin(Verb):
    """Writes characters to a running session and returns its recent output."""

    verb: ClassVar[str] = "write_stdin"
    session_id: Annotated[int, Says("the running session", "identifier of the running session")]
    chars: Annotated[str, Says("what is typed", "bytes to write, may be empty to poll; \\u0003 is C-c")] = ""
    yield_time: _YieldTime = _YIELD_AFTER_INPUT
    max_output_tokens: _MostTokens = _TOKENS


async def _run(
    call: Call,
    command: str,
    *,
    apart: bool = False,
    **asked: Any,  # noqa: ANN401 - as `Tab.execute` has it
) -> tuple[Tab, ExecutionResult]:
    """Run a command as the models' own programs do, without what is drawn; return its tab, and its result."""
    async with _shells(call).tab(call, apart=apart) as tab:
        result = await call.progress.during(
            tab.execute(command, drawing=False, strip_ansi=True, on_progress=call.progress.note, **asked)
        )
    return tab, replace(result, note="; ".join(filter(None, (*call.notes, result.note))))


@tool(ExecCommand, returns=Text, hints=RUNS_ANYTHING, words=_CODEX_WORDS)
async def exec_command(call: Call, given: ExecCommand) -> Text:
    begun = time.monotonic()
    command = shlex.join([given.shell, "-lc" if given.login else "-c", given.cmd]) if given.shell else given.cmd
    tab, result = await _run(
        call,
        command,
        timeout=given.yield_time,
        cwd=given.workdir or "",
        on_timeout="leave",
        max_chars=given.max_output_tokens * _CHARACTERS_A_TOKEN,
    )
    return await _chunk(_shells(call), tab, result, begun)


@tool(WriteStdin, returns=Text, hints=RUNS_ANYTHING, words=_CODEX_WORDS)
async def write_stdin(call: Call, given: WriteStdin) -> Text:
    begun, shells = time.monotonic(), _shells(call)
    tab, command_id = shells.find(given.session_id)
    if given.chars and await tab.runs(command_id):  # else the shell would run what was meant for the program
        await tab.send_keys(given.chars, literal=True)
    result = await call.progress.during(
        tab.command_result(
            command_id,
            wait=given.yield_time,
            drawing=False,
            strip_ansi=True,
            max_chars=given.max_output_tokens * _CHARACTERS_A_TOKEN,
        )
    )
    return await _chunk(shells, tab, result, begun)


def _output(result: ExecutionResult) -> str:
    """The output. Where its middle was left out, the line that says so names no tool of muxwire: profiles have none."""
    begin, end = result.omission
    said = f"[... {result.omitted_bytes} bytes left out ...]\n" if end else ""
    return result.output[:begin] + said + result.output[end:]


async def _chunk(shells: _Shells, tab: Tab, result: ExecutionResult, begun: float) -> Text:
    """What Codex says of a piece of output; the rows of a program that draws are output here."""
    number = shells.number(tab, result.command_id) if result.running else None
    if number is None:
        shells.running = {one: known for one, known in shells.running.items() if known != (tab, result.command_id)}
        await shells.ended(tab)
        ended = f"Process exited with code {'unknown' if result.exit_code is None else result.exit_code}"
    else:
        ended = f"Process running with session ID {number}"
    shown = "\n".join(filter(None, (_output(result), result.screen)))
    lines = (
        f"Chunk ID: {secrets.token_hex(3)}",
        f"Wall time: {time.monotonic() - begun:.4f} seconds",
        ended,
        f"Original token count: {(len(result.output) + result.omitted_bytes) // _CHARACTERS_A_TOKEN}",
        *([f"Note: {spelled(result.note, _CODEX_WORDS)}"] if result.note else ()),
        "Output:",
    )
    return Text("\n".join((*lines, shown)))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Bash(Verb):
    """Executes a bash command in a persistent shell session and returns its output. Set run_in_background for a command
    whose end is not waited for, and read it with BashOutput.
    """

    verb: ClassVar[str] = "Bash"
    command: Annotated[str, Says("the command", "the command to execute")]
    timeout: Annotated[
        int,
        Says("interrupt it after that time", "optional timeout in milliseconds", least=1),
    ] = _TIMEOUT
    description: Annotated[str, Says("what it does, for people", "what the command does in 5-10 words")] = ""
    run_in_background: Annotated[bool, Says("do not wait for its end", "run it in the background")] = False
    dangerouslyDisableSandbox: Annotated[bool, Says("ignored: there is no sandbox")] = False  # noqa: N815 - its name


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BashOutput(Verb):
    """Retrieves new output from a running or completed background command."""

    verb: ClassVar[str] = "BashOutput"
    bash_id: Annotated[str, Says("the command", "the ID of the background command")]
    filter: Annotated[str, Says("only lines with a match", "regular expression: only lines that match it")] = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KillShell(Verb):
    """Kills a background command by its ID."""

    verb: ClassVar[str] = "KillShell"
    shell_id: Annotated[str, Says("the command", "the ID of the background command")]


@tool(Bash, returns=Text, hints=RUNS_ANYTHING, words=_CLAUDE_WORDS)
async def bash(call: Call, given: Bash) -> Text:
    shells, background = _shells(call), given.run_in_background
    tab, result = await _run(
        call, given.command, apart=background, timeout=given.timeout / 1000, async_=background, max_chars=_SHOWN
    )
    shown = "\n".join(filter(None, (_output(result).rstrip("\n"), result.screen)))
    note = spelled(result.note or "", _CLAUDE_WORDS)
    if result.running:
        name = f"bash_{shells.number(tab, result.command_id)}"
        if background:
            return Text(f"Command running in background with ID: {name}")
        said = f"{note or 'It still runs'}; it continues in the background with ID: {name}"
        return Text("\n".join(filter(None, (shown, said))))
    await shells.ended(tab)
    code = f"Exit code {result.exit_code}" if result.exit_code else ""
    failed = f"Command timed out after {given.timeout / 1000:g}s" if result.timed_out else code
    return Text("\n".join(filter(None, (failed, shown, note and f"Note: {note}"))), is_error=bool(failed))


@tool(BashOutput, returns=Text, hints=Hints(read_only=True), words=_CLAUDE_WORDS)
async def bash_output(call: Call, given: BashOutput) -> Text:
    shells = _shells(call)
    tab, command_id = shells.find(_number_of(given.bash_id))
    result = await tab.command_result(command_id, drawing=False, strip_ansi=True, max_chars=_SHOWN)
    if not result.running:
        await shells.ended(tab)
    shown = "\n".join(filter(None, (_output(result).rstrip("\n"), result.screen)))
    if given.filter:
        lines = shown.splitlines()
        found = await anyio.to_thread.run_sync(matching, Pattern(given.filter), lines, _FILTER_SECONDS)
        shown = "\n".join(line for line, matches in zip(lines, found, strict=False) if matches)
    status = "running" if result.running else "completed" if result.exit_code == 0 else "failed"
    code = "" if result.exit_code is None else f"<exit_code>{result.exit_code}</exit_code>\n\n"
    note = f"\n\nNote: {spelled(result.note, _CLAUDE_WORDS)}" if result.note else ""
    return Text(f"<status>{status}</status>\n\n{code}<stdout>\n{shown}\n</stdout>{note}")


@tool(KillShell, returns=Text, hints=Hints(destructive=True), words=_CLAUDE_WORDS)
async def kill_shell(call: Call, given: KillShell) -> Text:
    tab, command_id = _shells(call).find(_number_of(given.shell_id))
    if not await tab.runs(command_id):  # a result would count what it wrote as told
        return Text(f"Shell {given.shell_id} is not running, so cannot be killed", is_error=True)
    stopped = await call.progress.during(tab.stop_process())
    if not stopped.success:
        return Text(f"Shell {given.shell_id} could not be killed; its tab is {stopped.state}", is_error=True)
    return Text(f"Successfully killed shell: {given.shell_id}")


def _number_of(name: str) -> int:
    """The number in `bash_7`; NoSuchTarget for another name."""
    digits = name.removeprefix("bash_")
    if not digits.isdecimal():
        raise NoSuchTarget(f"no command is called {name!r}", remedy="use the ID that a result gave")
    return int(digits)


PROFILES: Final[Mapping[str, tuple[AnyTool, ...]]] = {
    "codex": (exec_command, write_stdin),
    "claude": (bash, bash_output, kill_shell),
}
