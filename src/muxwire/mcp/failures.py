"""Every error as two lines for a model: what happened, and what to do.

Clients show a model only the text of a failed call, so all that it can act on is in the text.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from mcp import types

from muxwire.errors import MuxwireError, remedy_for, unwrapped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationError

    from muxwire.mcp.registry import AnyTool

log = logging.getLogger(__name__)

# Longer texts are cut by clients, at their end: where the remedy is.
MAX_MESSAGE_CHARS = 1_000

# What to do when an error brings no remedy of its own, by its code.
REMEDIES = {
    "no_such_target": "Call list_tabs and use a window_id from it.",
    "tab_unavailable": "See read_logs_from_tab; stop_process ends what runs there, create_tab opens another tab.",
    "invalid_argument": "Correct the argument and call again.",
    "forbidden_command": "Use another tool for this.",
    "connection_closed": "Call again: tmux is started afresh. Old logs stay readable by window_id.",
    "instance_unavailable": "The person who runs this server has to read its stderr.",
    "tmux_unavailable": "The person who runs this server has to install tmux 3.3 or newer.",
}
FALLBACK_REMEDY = "Call again; if it fails again, call list_tabs to see the state."
DEFECT_REMEDY = "This is a defect in muxwire, logged on the server's stderr. Call list_tabs to see the state."


def failed(happened: str, remedy: str) -> types.CallToolResult:
    text = f"{_one_line(happened)}\n{_one_line(remedy)}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def refused(tool: AnyTool, error: ValidationError) -> types.CallToolResult:
    """Arguments that do not fit: each complaint, then what the tool takes."""
    complaints = "; ".join(_complaint(detail) for detail in error.errors(include_url=False, include_input=False))
    return failed(f"invalid_argument: {complaints}", f"{tool.name} takes {_usage(tool)}.")


def explained(tool: AnyTool, error: Exception) -> types.CallToolResult:
    """An error that a handler raised: expected ones speak for themselves, others are logged and named."""
    cause = unwrapped(error)
    if isinstance(cause, MuxwireError):
        return failed(f"{cause.code}: {cause}", cause.remedy or REMEDIES.get(cause.code, FALLBACK_REMEDY))
    if isinstance(cause, OSError | MemoryError) and (remedy := remedy_for(cause)):
        log.warning("%s failed: %r", tool.name, cause)
        return failed(f"os_error: {out_of(cause)}", remedy)
    log.error("%s failed unexpectedly", tool.name, exc_info=error)
    return failed(f"internal: {tool.name} failed with {type(cause).__name__}", DEFECT_REMEDY)


def out_of(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "no memory is left"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)


def _complaint(detail: Mapping[str, Any]) -> str:
    where = ".".join(map(str, detail["loc"])) or "arguments"
    match detail["type"]:
        case "missing":
            return f"{where} is missing"
        case "extra_forbidden":
            return f"{where} is unknown"
        case _:
            return f"{where}: {detail['msg']}"


def _usage(tool: AnyTool) -> str:
    fields = tool.arguments.model_fields
    parts = [
        f"{field.alias or name} (required)" if field.is_required() else field.alias or name
        for name, field in sorted(fields.items(), key=lambda item: not item[1].is_required())
    ]
    return ", ".join(parts) or "no arguments"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[:MAX_MESSAGE_CHARS]} ..."
