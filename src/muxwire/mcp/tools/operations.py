"""The tool that runs several tmux operations in one call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from muxwire.mcp.arguments import DEFAULT_MAX_CHARS, Arguments, Milliseconds, seconds
from muxwire.mcp.registry import Call, Hints, Result, tool
from muxwire.mcp.schemas import ARRAY, BOOLEAN, Schema, object_of
from muxwire.operations import KINDS
from muxwire.operations.context import DISPATCH_TIMEOUT

# Every field of every kind in one flat list, most of them by name alone: a schema for each kind would say `target` 17
# times, and cost every model three times as much. Which kind takes which, and of what type, the library checks; its
# error names them.
_NAMES = (
    "with into ref refs name cwd env session horizontal size count rows cols keys enter literal timeout_ms until regex "
    "idle_ms exit prompt height width zoom layout option value scope global format start end"
)
_FIELDS: Schema = {
    "kind": {"enum": list(KINDS)},
    "target": {"description": 'or {"ref":NAME}'},
    "command": {"description": "execute: string, else argv"},
    **{name: {} for name in _NAMES.split()},
}
_OPERATION: Schema = {
    "type": "object",
    "properties": _FIELDS,
    "required": ["kind"],
    "additionalProperties": False,
}


class RunTmuxOperations(Arguments):
    """What `run_tmux_operations` takes."""

    operations: Annotated[list[dict[str, Any]], WithJsonSchema({"type": "array", "items": _OPERATION})]
    on_error: Literal["stop", "continue"] = "stop"
    dry_run: bool = False
    rollback_on_error: bool = False
    dispatch_timeout_ms: int = Field(default=round(DISPATCH_TIMEOUT * 1000), ge=1)
    timeout_ms: Milliseconds = Field(default=0)


@tool(
    RunTmuxOperations,
    returns=object_of(
        {
            "succeeded": BOOLEAN,
            "steps": ARRAY,
            "created_panes": {"type": "object"},
            "rolled_back_panes": ARRAY,
            "rollback_errors": ARRAY,
            "dispatches": ARRAY,
        }
    ),
    hints=Hints(destructive=True, open_world=True),
    toolset="ops",
)
async def run_tmux_operations(call: Call, given: RunTmuxOperations) -> Result:
    """Steps in one call: make panes (ids work as window_id), arrange, type, run, wait."""
    result = await call.progress.during(
        call.terminals.run_operations(
            given.operations,
            on_error=given.on_error,
            dry_run=given.dry_run,
            dispatch_timeout=seconds(given.dispatch_timeout_ms),
            timeout=seconds(given.timeout_ms) if given.timeout_ms else None,
            rollback_on_error=given.rollback_on_error,
            max_chars=DEFAULT_MAX_CHARS,
        )
    )
    return result.told()
