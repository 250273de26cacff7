"""What may follow what is typed: tmux's commands, what they act on, options, and our own words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.repl.showing import KINDS
from muxwire.tmux.rows import PANES, panes_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

_SETS_OPTIONS = re.compile(r"(?:set|show)")


@final
@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a tmux server knows: its commands, its options, and what `-t` can name now."""

    commands: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


async def load_vocabulary(ask: Callable[..., Awaitable[list[tuple[bytes, ...]]]]) -> Vocabulary:
    """Ask tmux, by `Terminals.ask`; CommandError, ConnectionClosed."""
    commands, *options, panes = await ask(
        ("list-commands", "-F", "#{command_list_name}"),
        ("show-options", "-s"),
        ("show-options", "-g"),
        ("show-options", "-gw"),
        PANES,
    )
    known = {line.partition(b" ")[0].partition(b"[")[0].decode() for answer in options for line in answer}
    rows = panes_of(panes)
    named = [name for row in rows for name in (row.session_name, row.session, row.window_name, row.window, row.pane)]
    return Vocabulary(tuple(line.decode() for line in commands), tuple(sorted(known)), tuple(dict.fromkeys(named)))


def complete(text: str, vocabulary: Vocabulary, ours: Collection[str]) -> tuple[str, list[str]]:
    """The last word of the text, and what it may become. `ours` are the words of the prompt.

    The words of a command are taken to end at each blank: for a quoted one nothing is offered.
    """
    words = re.split(r"[;\n{]", text)[-1].lstrip().split(" ")
    return words[-1], [one for one in _choices(words, vocabulary, ours) if one.startswith(words[-1]) and one]


def _choices(words: list[str], vocabulary: Vocabulary, ours: Collection[str]) -> Collection[str]:
    if len(words) == 1:
        return [*vocabulary.commands, *ours]
    if words[0] == ":filter":
        return [sign + kind for sign in ("", "-") for kind in (*vocabulary.targets, *KINDS, "all")]
    if words[-2] in ("-t", "-s"):
        return vocabulary.targets
    return vocabulary.options if _SETS_OPTIONS.match(words[0]) else ()
