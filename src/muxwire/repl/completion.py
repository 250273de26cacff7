"""What may follow what is typed: commands, flags, targets, options, and our own words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from muxwire.repl.view import KINDS
from muxwire.repl.words import WORDS, is_word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muxwire.repl.live import Targets, Usage, Vocabulary

_SETS_OPTIONS = ("set-option", "show-options", "set-window-option", "show-window-options")
_TAKES_TARGET = (":exec", ":wait", ":snap", ":ring", ":log")
_TAKES_FILE = (":record", ":replay")
# The last command of the line. Its words are taken to end at each blank: for a quoted one nothing is offered.
_LAST_COMMAND = re.compile(r"(?:^|[;\n{])\s*([^;\n{]*)\Z")


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """A text that can stand in place of the last `replaces` characters, and a word on what it is."""

    text: str
    replaces: int
    meaning: str = ""


def complete(text: str, vocabulary: Vocabulary) -> list[Choice]:
    if is_word(text):
        return _complete_ours(text.lstrip(), vocabulary)
    found = _LAST_COMMAND.search(text)
    words = found[1].split(" ") if found else [""]
    name, last = words[0], words[-1]
    if len(words) == 1:
        known = vocabulary.commands.values()
        return [Choice(usage.name, len(last), usage.alias) for usage in known if usage.name.startswith(last)]
    usage = vocabulary.usage(name)
    return [] if usage is None else _arguments(usage, words, vocabulary)


def _arguments(usage: Usage, words: list[str], vocabulary: Vocabulary) -> list[Choice]:
    last, before = words[-1], words[-2]
    wanted = usage.valued.get(before[-1:], "") if before.startswith("-") else ""
    if wanted:
        return _starting(_targets(wanted, vocabulary.targets), last, wanted)
    if last.startswith("-"):
        flags = [Choice(f"-{flag}", len(last)) for flag in usage.flags]
        valued = [Choice(f"-{flag}", len(last), value) for flag, value in usage.valued.items()]
        return [choice for choice in (*flags, *valued) if choice.text.startswith(last)]
    if usage.name in _SETS_OPTIONS:
        return _starting(vocabulary.options, last, "option")
    return []


def _targets(wanted: str, targets: Targets) -> tuple[str, ...]:
    """What may be the value that list-commands calls `target-pane` or `src-window`; nothing for a `window-name`."""
    match wanted.removeprefix("target-").removeprefix("src-").removeprefix("dst-"):
        case "pane":
            return (*targets.panes, *targets.windows)
        case "window":
            return targets.windows
        case "session":
            return targets.sessions
    return ()


def _complete_ours(text: str, vocabulary: Vocabulary) -> list[Choice]:
    words = text.split(" ")
    name, last = words[0], words[-1]
    if len(words) == 1:
        return [Choice(word.name, len(last), word.does) for word in WORDS if word.name.startswith(last)]
    if name in _TAKES_TARGET and words[-2] == "-t":
        return _starting(_targets("pane", vocabulary.targets), last, "target")
    if name == ":filter":
        sign = last[:1] if last[:1] in ("-", "+") else ""
        return _starting((f"{sign}{kind}" for kind in (*vocabulary.targets.panes, *KINDS, "all")), last, "")
    if name == ":help":
        return _starting((*(word.name for word in WORDS), *vocabulary.commands), last, "")
    return _files(last) if name in _TAKES_FILE else []


def _files(last: str) -> list[Choice]:
    typed = Path(last).expanduser()
    folder = typed if last.endswith("/") else typed.parent
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    part = "" if last.endswith("/") else typed.name
    shown = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries if entry.name.startswith(part)]
    return [Choice(name, len(part)) for name in shown]


def _starting(names: Iterable[str], last: str, meaning: str) -> list[Choice]:
    return [Choice(name, len(last), meaning) for name in names if name.startswith(last) and name]
