"""What happened in a tab, as a line that a person understands."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Who typed a line, by an event's `by`.
_AUTHORS = {"execute": "an agent", "keys": "an agent, by keys,", "person": "a person"}
_SENTENCES = {
    "tab_opened": "opened: {name}",
    "tab_closed": "closed: {reason}",
    "tab_renamed": "renamed: {name}",
    "command_started": "{by} runs: {text}",
    "command_finished": "the line of {by} has ended, exit code {exit_code}",
    "prompt": "ready, in {cwd}",
    "output": "wrote the bytes {from_byte} to {next_byte}",
    "bell": "the bell rang ({count})",
    "title": "title: {title}",
    "progress": "progress: {progress} {percent}",
    "exited": "its program has ended, exit code {exit_code}",
    "client_attached": "a person attached to the session {session}",
    "human_input": "a person typed ({how})",
    "link": "{host}: the connection is {link}",
}


def sentence(kind: str, details: Mapping[str, str | int | None]) -> str:
    """One event, without its time and its tab; `unknown` for a code that is not known, of several lines the first."""
    told = defaultdict(str, {name: "unknown" if value is None else str(value) for name, value in details.items()})
    text, *more = (told["command"] or told["line"]).split("\n")
    told |= {"by": _AUTHORS.get(told["by"], ""), "text": f"{text} ..." if more else text}
    return _SENTENCES[kind].format_map(told).rstrip()
