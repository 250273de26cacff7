"""The tool that runs several tmux operations in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, WithJsonSchema

from muxwire.mcp.arguments import DEFAULT_MAX_CHARS, ENVIRONMENT_SCHEMA, Arguments, Milliseconds, seconds
from muxwire.mcp.registry import Call, Hints, tool
from muxwire.operations import KINDS
from muxwire.operations.lists import is_required, json_fields
from muxwire.operations.options import Scope
from muxwire.operations.runs import DISPATCH_TIMEOUT, StepResult
from muxwire.values import to_dict

_STRING = {"type": "string"}
_STRINGS = {"type": "array", "items": _STRING}
# Of the fields of operations, as they are declared.
_TYPES: dict[str, dict[str, Any]] = {
    "str": _STRING,
    "bool": {"type": "boolean"},
    "bool | None": {"type": "boolean"},
    **{name: {"type": "integer"} for name in ("int", "int | None", "float | None")},
    "str | tuple[str, ...]": {"anyOf": [_STRING, _STRINGS]},
    "tuple[str, ...]": _STRINGS,
    "Mapping[str, str]": ENVIRONMENT_SCHEMA,
    "Target": _STRING,
    "Target | None": _STRING,
    "Scope": {"enum": list(get_args(Scope)), "type": "string"},
}
_DESCRIPTION = (
    'target: a tab, a pane, or ref:NAME of an earlier step. Example: [{"kind":"new_window","ref":"w"},'
    '{"kind":"send_keys","target":"ref:w","keys":"htop"}]'
)


# Kinds that share a schema, which is what one of them takes: all must be short, and the library checks each exactly.
_LIKE = {"show_option": "set_option", "break_pane": "rename_window", "kill_pane": "select_pane"}


def _operations() -> list[dict[str, Any]]:
    """Return a schema for each kind, or for a few that take nearly the same."""
    return [
        _operation([kind, *(name for name in KINDS if _LIKE.get(name) == kind)]) for kind in KINDS if kind not in _LIKE
    ]


def _operation(kinds: list[str]) -> dict[str, Any]:
    known = [json_fields(KINDS[kind]) for kind in kinds]
    properties = {name: _TYPES[str(field.type)] for name, field in known[0].items()}
    needed = [name for name in properties if all(name in one and is_required(one[name]) for one in known)]
    return {
        "type": "object",
        "properties": {"kind": {"enum": kinds, "type": "string"}, **properties},
        "required": ["kind", *needed],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOutcome:
    succeeded: bool
    steps: tuple[StepResult, ...]
    created_panes: dict[str, str]
    rolled_back_panes: tuple[str, ...] = ()
    rollback_errors: tuple[str, ...] = ()
    dispatches: tuple[dict[str, Any], ...] = ()


class RunTmuxOperations(Arguments):
    operations: Annotated[
        list[dict[str, Any]],
        WithJsonSchema({"description": _DESCRIPTION, "items": {"anyOf": _operations()}, "type": "array"}),
    ]
    on_error: Literal["stop", "continue"] = "stop"
    dry_run: bool = False
    rollback_on_error: bool = False
    dispatch_timeout_ms: int = Field(default=round(DISPATCH_TIMEOUT * 1000), ge=1)
    timeout_ms: Milliseconds = Field(default=0)


@tool(RunTmuxOperations, returns=ListOutcome, hints=Hints(destructive=True, open_world=True), toolset="ops")
async def run_tmux_operations(call: Call, given: RunTmuxOperations) -> ListOutcome:
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
    return ListOutcome(
        succeeded=result.succeeded,
        steps=result.steps,
        created_panes=result.created_panes,
        rolled_back_panes=result.rolled_back_panes,
        rollback_errors=result.rollback_errors,
        dispatches=tuple(map(to_dict, result.dispatches)) if given.dry_run else (),
    )
