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


def sentence(kind: str, details: Mapping[str, str | int | None]) -> str:
    """One event, without its time and its tab."""
    told = {name: "" if value is None else value for name, value in details.items()}
    by = _AUTHORS.get(str(told.get("by", "")), "")
    match kind:
        case "tab_opened":
            return f"opened: {told['name']}"
        case "tab_closed":
            return f"closed: {told['reason']}"
        case "tab_renamed":
            return f"renamed: {told['name']}"
        case "command_started":
            runs, *more = str(told.get("command") or told.get("line") or "").split("\n")
            runs += " ..." if more else ""
            return f"{by} runs: {runs}" if runs else f"{by} runs a line"
        case "command_finished":
            code = told.get("exit_code", "")
            return f"the line of {by} has ended, {'no exit code' if code == '' else f'exit code {code}'}"
        case "prompt":
            return f"ready, in {told['cwd']}"
        case "output":
            return f"wrote {int(told['next_byte']) - int(told['from_byte'])} bytes"
        case "bell":
            return "rang" if told.get("count", 1) == 1 else f"rang {told['count']} times"
        case "title":
            return f"title: {told['title']}"
        case "progress":
            return f"progress: {told['progress']}" + (f", {told['percent']} %" if "percent" in told else "")
        case "exited":
            code = told.get("exit_code", "")
            return "its program has ended" if code == "" else f"its program has ended, exit code {code}"
        case "client_attached":
            return f"a person attached to the session {told['session']}"
        case "human_input":
            return "a person pressed a key" if told.get("how") == "keys" else "a person entered a line"
        case "link":
            return f"{told['host']}: the connection is {told['link']}"
        case _:
            return f"{kind} {' '.join(f'{name}={value}' for name, value in told.items())}".rstrip()
