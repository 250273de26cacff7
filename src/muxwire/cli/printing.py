"""What verbs print: documents for programs, tables and colours for people, exit codes."""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from muxwire.values import to_dict
from muxwire.verbs.words import spelled
from muxwire.vt.text import one_line
from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    # `coloured` or `uncoloured`.
    Paint = Callable[[str, str], str]

FAILED = 1
# Shells and argparse use 2 for a command line that is wrong.
USAGE = 2

# Raised by one for every change of a document that could break a program which reads it.
SCHEMA_VERSION = 1

# What "..." stands for in a table, in the name of a tab: 40 characters are shown, as many as the window's name in tmux
# has. A name of a thousand letters would make every row as long.
_NAME_END = re.compile(r"(?<=^.{37}).{4,}\Z")

# How the command line spells the verbs that a text names. For a verb that it does not have, the nearest one.
WORDS: Mapping[str, str] = {
    "create_tab": "muxwire new",
    "list_tabs": "muxwire ls",
    "close_tab": "muxwire kill",
    "close_tab.force": "muxwire kill -f (or --force)",
    "execute_command": "muxwire run --json (or history --json)",
    "execute_script": "muxwire run",
    "command_result": "muxwire logs --command",
    # `muxwire run` waits for its turn, also in a shell that does not tell when it shows its prompt.
    "command_result.wait": "a longer --timeout",
    "start_process": "muxwire run",
    "stop_process": "muxwire send-keys C-c",
    "read_logs_from_tab": "muxwire logs",
    "stream_logs_from_tab": "muxwire logs",
    "set_history_limit": "the tool set_history_limit",
    "snapshot": "muxwire snapshot",
    "send_keys": "muxwire send-keys",
    "wait_for": "muxwire wait",
    "watch_events": "muxwire watch",
    "show_terminal": "muxwire attach",
    "run_tmux_operations": "muxwire ops",
}


def packed(value: object) -> bytes:
    """A result, or fields with some, as one line of JSON, with the command line's verbs in muxwire's own texts."""
    fields = {"schema_version": SCHEMA_VERSION, **to_dict(value, spoken, whole=True)}
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _columns(cell: str) -> int:
    return len(cell) if cell.isascii() else sum(map(guessed_width, cell))


# SGR (ECMA-48 8.3.117) by name.
_COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35"}


def coloured(colour: str, text: str) -> str:
    """The text in the colour of that name; as it is for a name without a colour."""
    number = _COLOURS.get(colour, "")
    return f"\x1b[{number}m{text}\x1b[0m" if number and text else text


def uncoloured(_colour: str, text: str) -> str:
    """What stands for `coloured` where a text stays as it is."""
    return text


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    paint: Paint = uncoloured,
    by_column: Mapping[str, Callable[[str], str]] = MappingProxyType({}),
) -> list[str]:
    """The lines of a table, none if it has no row.

    `by_column` has, by a column's head, the function that names the colour of a cell.
    """
    if not rows:
        return []
    cells = [
        [
            _NAME_END.sub("...", one_line(cell)) if column == "NAME" else one_line(cell)
            for column, cell in zip(head, row, strict=True)
        ]
        for row in rows
    ]
    widths = [max(map(_columns, column)) for column in zip(head, *cells, strict=True)]

    def line(row: Sequence[str], names: Sequence[str]) -> str:
        padded = zip(row, widths, names, strict=True)
        return "  ".join(paint(name, cell) + " " * (width - _columns(cell)) for cell, width, name in padded).rstrip()

    painted = [
        line(row, [by_column[one](cell) if one in by_column else "" for one, cell in zip(head, row, strict=True)])
        for row in cells
    ]
    return [line(head, ["bold"] * len(head)), *painted]


def spoken(text: str) -> str:
    """A text with the command line's spelling of the verbs that it names."""
    return spelled(text, WORDS)
