"""Tools that run one command or script and return exactly what it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from pydantic import Field

from muxwire.mcp.arguments import DEFAULT_MAX_CHARS, Arguments, ExecutionOptions, Milliseconds, seconds
from muxwire.mcp.registry import Call, Hints, Result, tool
from muxwire.mcp.schemas import BOOLEAN, INTEGER, INTEGER_OR_NULL, NUMBER, STRING, Schema, object_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from muxwire.results import ExecutionResult

ALWAYS: dict[str, Schema] = {
    "output": STRING,
    "exit_code": INTEGER_OR_NULL,
    "timed_out": BOOLEAN,
    "duration_ms": NUMBER,
    "state": STRING,
    "cwd": STRING,
    "command_id": STRING,
    "from_byte": INTEGER,
    "next_byte": INTEGER,
    "truncated": BOOLEAN,
}
# Said only when there is something to say: a model pays for every field of every result.
AT_TIMES: dict[str, Schema] = {"running": BOOLEAN, "omitted_bytes": INTEGER, "signal_sent": STRING, "note": STRING}

RUNS_ANYTHING = Hints(destructive=True, open_world=True)

# Microseconds are all that the clock knows.
DURATION_DIGITS = 3


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
    strip_ansi: bool = False


class _Options(TypedDict):
    timeout: float
    strip_ansi: bool
    env: Mapping[str, str] | None
    cwd: str | None
    on_timeout: Literal["interrupt", "leave"]
    wait: bool
    max_chars: int
    on_progress: Callable[[int, str], Awaitable[None]]


@tool(ExecuteCommand, returns=object_of(ALWAYS | AT_TIMES), hints=RUNS_ANYTHING)
async def execute_command(call: Call, given: ExecuteCommand) -> Result:
    """Run a shell command in a tab and wait for it: exact output, exit code. timed_out: it was interrupted, or
    still runs with on_timeout "leave". env and cwd hold for this command only; max_chars cuts output in its middle.
    """
    tab = await call.terminals.tab(given.window_id)
    result = await call.progress.during(tab.execute(given.command, **_options(call, given)))
    return told(result)


@tool(CommandResult, returns=object_of({"running": BOOLEAN}, like="execute_command"), hints=Hints(read_only=True))
async def command_result(call: Call, given: CommandResult) -> Result:
    """Get the further output, and in the end the exit code, of a command that was left running."""
    result = await call.progress.during(
        call.terminals.command_result(
            given.command_id, wait=seconds(given.wait_ms), strip_ansi=given.strip_ansi, max_chars=DEFAULT_MAX_CHARS
        )
    )
    return told(result) | {"running": result.running}


@tool(
    ExecuteScript,
    returns=object_of({"script_path": STRING}, like="execute_command"),
    hints=RUNS_ANYTHING,
    toolset="scripts",
)
async def execute_script(call: Call, given: ExecuteScript) -> Result:
    """Write code to a file and run it in a tab, as execute_command does: no quoting to get right."""
    tab = await call.terminals.tab(given.window_id)
    result = await call.progress.during(
        tab.execute_script(given.language, given.code, args=given.args, **_options(call, given))
    )
    return told(result) | {"script_path": result.script_path}


def told(result: ExecutionResult) -> dict[str, object]:
    """Return what a model is told of an execution."""
    fields: dict[str, object] = {name: getattr(result, name) for name in ALWAYS}
    fields["duration_ms"] = round(result.duration_ms, DURATION_DIGITS)
    return fields | {name: value for name in AT_TIMES if (value := getattr(result, name))}


def _options(call: Call, given: ExecutionOptions) -> _Options:
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
