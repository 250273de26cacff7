"""Tools for programs that stay: servers, watchers, REPLs."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import Field

from muxwire.mcp.arguments import InTab, Milliseconds, seconds
from muxwire.mcp.registry import Call, Hints, Result, tool
from muxwire.mcp.schemas import BOOLEAN, INTEGER, INTEGER_OR_NULL, STRING, object_of

# A development server that compiles first takes this long to say that it listens.
DEFAULT_READY_TIMEOUT_MS = 30_000

# What a program gets to end by itself before the next, stronger signal.
DEFAULT_GRACE_MS = 2_000


class StartProcess(InTab):
    """What `start_process` takes."""

    command: str
    append_newline: bool = Field(default=True, description="false: only type the text")
    ready: str = Field(default="", description="text to wait for in the output")
    ready_regex: bool = False
    ready_timeout_ms: Milliseconds = DEFAULT_READY_TIMEOUT_MS


class StopProcess(InTab):
    """What `stop_process` takes."""

    signal: str = "SIGINT"
    grace_ms: Milliseconds = DEFAULT_GRACE_MS


@tool(
    StartProcess,
    returns=object_of(
        {
            "started": BOOLEAN,
            "command_id": STRING,
            "from_byte": INTEGER,
            "ready": BOOLEAN,
            "state": STRING,
            "output": STRING,
            "exit_code": INTEGER,
        }
    ),
    hints=Hints(destructive=True, open_world=True),
)
async def start_process(call: Call, given: StartProcess) -> Result:
    """Start a server, watcher or REPL in a tab and leave it running. Also types into a running program.
    Read on with command_result.
    """
    tab = await call.terminals.tab(given.window_id)
    started = await call.progress.during(
        tab.start_process(
            given.command,
            append_newline=given.append_newline,
            ready=given.ready,
            ready_regex=given.ready_regex,
            ready_timeout=seconds(given.ready_timeout_ms),
        )
    )
    return {name: value for name, value in asdict(started).items() if value not in (None, "")}


@tool(
    StopProcess,
    returns=object_of({"success": BOOLEAN, "signal_sent": STRING, "exit_code": INTEGER_OR_NULL, "state": STRING}),
    hints=Hints(destructive=True),
)
async def stop_process(call: Call, given: StopProcess) -> Result:
    """Stop what runs in a tab: the signal, and after each grace_ms a stronger one, up to SIGKILL."""
    tab = await call.terminals.tab(given.window_id)
    return asdict(await call.progress.during(tab.stop_process(given.signal, grace=seconds(given.grace_ms))))
