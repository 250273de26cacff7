"""Tools for programs that stay: servers, watchers, REPLs."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from muxwire.mcp.arguments import InTab, Milliseconds, seconds
from muxwire.mcp.registry import Call, Hints, tool
from muxwire.results import ProcessStop, State

# A development server that compiles first takes this long to say that it listens.
DEFAULT_READY_TIMEOUT_MS = 30_000

# What a program gets to end by itself before the next, stronger signal.
DEFAULT_GRACE_MS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOutcome:
    """What a model is given of a process; `ready` if that was asked for, `exit_code` and `state` if it has ended."""

    started: bool
    command_id: str = ""
    window_id: str = ""
    ready: bool | None = None
    output: str = ""
    exit_code: int | None = None
    state: State | None = None


class StartProcess(InTab):
    command: str
    append_newline: bool = True
    ready: str = Field(default="", description="text to wait for")
    ready_regex: bool = False
    ready_timeout_ms: Milliseconds = DEFAULT_READY_TIMEOUT_MS


class StopProcess(InTab):
    signal: str = "SIGINT"
    grace_ms: Milliseconds = DEFAULT_GRACE_MS


@tool(StartProcess, returns=StartOutcome, hints=Hints(destructive=True, open_world=True))
async def start_process(call: Call, given: StartProcess) -> StartOutcome:
    """Start a server, watcher or REPL at a tab's prompt and leave it running. Read on with command_result.
    append_newline false: only types the text, into a running program too.
    """
    tab, is_new = await call.terminals.tab_or_new(given.target, within=seconds(given.ready_timeout_ms))
    started = await call.progress.during(
        tab.start_process(
            given.command,
            append_newline=given.append_newline,
            ready=given.ready,
            ready_regex=given.ready_regex,
            ready_timeout=seconds(given.ready_timeout_ms),
        )
    )
    return StartOutcome(
        started=started.started,
        command_id=started.command_id,
        window_id=tab.window_id if is_new else "",
        ready=started.ready,
        output=started.output,
        exit_code=started.exit_code,
        state=started.state if started.ended else None,
    )


@tool(StopProcess, returns=ProcessStop, hints=Hints(destructive=True))
async def stop_process(call: Call, given: StopProcess) -> ProcessStop:
    """Stop what runs in a tab: the signal, and after each grace_ms a stronger one, up to SIGKILL."""
    tab = await call.terminals.tab(given.target)
    return await call.progress.during(tab.stop_process(given.signal, grace=seconds(given.grace_ms)))
