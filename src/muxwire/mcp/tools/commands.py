"""Tools that run one command or script and return exactly what it wrote."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from muxwire.mcp.arguments import (
    DEFAULT_MAX_CHARS,
    Arguments,
    ExecutionOptions,
    MaxChars,
    Milliseconds,
    StripAnsi,
    seconds,
)
from muxwire.mcp.registry import Call, Hints, tool
from muxwire.results import State  # noqa: TC001 (schemas are made of it)

if TYPE_CHECKING:
    from muxwire.results import ExecutionResult

RUNS_ANYTHING = Hints(destructive=True, open_world=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """What a model is given of a command. `cwd` if it changed; offsets if `output` is not all there is."""

    output: str
    exit_code: int | None
    timed_out: bool
    duration_ms: float
    command_id: str
    window_id: str = ""
    state: State = "prompt"
    cwd: str = ""
    from_byte: int | None = None
    next_byte: int | None = None
    truncated: bool = False
    omitted_bytes: int = 0
    running: bool = False
    signal_sent: str = ""
    note: str = ""


# What is taken from the library's result, where it says something.
_SAME = tuple(field.name for field in fields(CommandOutcome) if field.name != "window_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptOutcome(CommandOutcome):
    """What a model is given of a script."""

    script_path: str


class ExecuteCommand(ExecutionOptions):
    """What `execute_command` takes."""

    command: str


class ExecuteScript(ExecutionOptions):
    """What `execute_script` takes."""

    language: Literal["python", "typescript", "javascript", "shell"]
    code: str
    args: list[str] = Field(default=[])


class CommandResult(Arguments):
    """What `command_result` takes."""

    command_id: str
    wait_ms: Milliseconds = 0
    strip_ansi: StripAnsi = None
    max_chars: MaxChars = DEFAULT_MAX_CHARS


@tool(ExecuteCommand, returns=CommandOutcome, hints=RUNS_ANYTHING)
async def execute_command(call: Call, given: ExecuteCommand) -> CommandOutcome:
    """Run a shell command in a tab and wait for it: exact output, exit code. timed_out: it was interrupted, or
    still runs with on_timeout "leave". env and cwd hold for this command only; max_chars cuts output in its middle.
    """
    tab, is_new = await call.terminals.tab_or_new(given.target, within=seconds(given.timeout_ms))
    result = await call.progress.during(tab.execute(given.command, **_options(call, given)))
    return CommandOutcome(**_news(result, tab.window_id if is_new else ""))


@tool(CommandResult, returns=CommandOutcome, hints=Hints(read_only=True))
async def command_result(call: Call, given: CommandResult) -> CommandOutcome:
    """Get the further output, and at the end the exit code, of a command left running. Returns when it ends or
    waits for input, after wait_ms at the latest.
    """
    result = await call.progress.during(
        call.terminals.command_result(
            given.command_id, wait=seconds(given.wait_ms), strip_ansi=given.strip_ansi, max_chars=given.max_chars
        )
    )
    return CommandOutcome(**_news(result))


@tool(ExecuteScript, returns=ScriptOutcome, hints=RUNS_ANYTHING, toolset="scripts")
async def execute_script(call: Call, given: ExecuteScript) -> ScriptOutcome:
    """Write code to a file and run it as execute_command does: nothing to quote."""
    tab, is_new = await call.terminals.tab_or_new(given.target, within=seconds(given.timeout_ms))
    result = await call.progress.during(
        tab.execute_script(given.language, given.code, args=given.args, **_options(call, given))
    )
    return ScriptOutcome(script_path=result.script_path, **_news(result, tab.window_id if is_new else ""))


def _news(result: ExecutionResult, window: str = "") -> dict[str, Any]:
    """Return what there is to tell of an execution; `window`: the tab that was made for it."""
    news = {name: getattr(result, name) for name in _SAME}
    if result.cwd == result.started_in:
        del news["cwd"]
    if not (result.running or result.truncated):
        del news["from_byte"], news["next_byte"]
    return {**news, "window_id": window}


def _options(call: Call, given: ExecutionOptions) -> dict[str, Any]:
    return {
        "timeout": seconds(given.timeout_ms),
        "strip_ansi": given.strip_ansi,
        "env": given.env or None,
        "cwd": given.cwd or None,
        "on_timeout": given.on_timeout,
        "wait": not given.in_background,
        "max_chars": given.max_chars,
        "on_progress": call.progress.note,
    }
