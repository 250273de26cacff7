"""What happened in a tab, as a line that a person understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Who typed a line, by an event's `by`.
_AUTHORS = {
    "execute": "an agent",
    "keys": "an agent, by keys,",
    "person": "a person",
}
# Events of which nothing is said but their details.
_SENTENCES = {
    "tab_opened": "opened: {name}",
    "tab_closed": "closed: {reason}",
    "tab_renamed": "renamed: {name}",
    "prompt": "ready, in {cwd}",
    "title": "title: {title}",
    "client_attached": "a person attached to the session {session}",
    "link": "{host}: the connection is {link}",
}


def sentence(kind: str, details: Mapping[str, str | int | None]) -> str:
    """One event, without its time and its tab."""
    told = {name: "" if value is None else value for name, value in details.items()}
    if kind in _SENTENCES:
        return _SENTENCES[kind].format_map(told)
    by = _AUTHORS.get(str(told.get("by", "")), "")
    match kind:
        case "command_started":
            runs, *more = str(told.get("command") or told.get("line") or "").split("\n")
            runs += " ..." if more else ""
            return f"{by} runs: {runs}" if runs else f"{by} runs a line"
        case "command_finished":
            code = told.get("exit_code", "")
            return f"the line of {by} has ended, {'no exit code' if code == '' else f'exit code {code}'}"
        case "output":
            return f"wrote {int(told['next_byte']) - int(told['from_byte'])} bytes"
        case "bell":
            return "rang" if told.get("count", 1) == 1 else f"rang {told['count']} times"
        case "progress":
            return f"progress: {told['progress']}" + (f", {told['percent']} %" if "percent" in told else "")
        case "exited":
            code = told.get("exit_code", "")
            return "its program has ended" if code == "" else f"its program has ended, exit code {code}"
        case "human_input":
            return "a person pressed a key" if told.get("how") == "keys" else "a person entered a line"
        case _:
            return f"{kind} {' '.join(f'{name}={value}' for name, value in told.items())}".rstrip()
