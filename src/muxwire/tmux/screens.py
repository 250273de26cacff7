"""What tmux says of a pane's screen, and the snapshot that is made of it.

Up to 3.5, each `capture-pane -p` of a control client leaks as much memory of the server as it prints. There the rows
go through a buffer with a name of our own, which tmux neither counts nor shows as the newest: it is set, shown and
deleted by one line, between whose commands no other client has a turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.errors import CommandError
from muxwire.results import Cursor, Snapshot
from muxwire.vt.cells import cell_rows, runs, styled_lines, text_of, text_rows, unescaped, wrapped_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

Version = tuple[int, int]
# The first tmux whose `capture-pane -p` to a control client leaks no memory.
_PRINTS = (3, 6)
# The first tmux whose `show-buffer` prints a buffer as it is.
_SHOWS_PLAINLY = (3, 4)
# The first tmux that prints blanks at a row's end for cells that nothing was written to, unless -T is given.
_TRIMS = (3, 4)

FORMAT = (
    "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag} #{history_size} #{pane_title}"
)


def row_flags(version: Version) -> tuple[str, ...]:
    """What makes `capture-pane` print rows with their blanks, to compare them with what `-J` prints."""
    return ("-N", "-T") if version >= _TRIMS else ("-N",)


def flags_above(scrollback: int, *, unwrap: bool) -> tuple[str, ...]:
    """What makes `capture-pane` print that many rows above the screen, 0 for all."""
    return *(("-J",) if unwrap else ()), "-S", str(-scrollback) if scrollback else "-", "-E", "-1"


def capture_commands(version: Version, pane: str, *captures: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The commands, for one line, that print what `capture-pane` with each of these flags would."""
    if version >= _PRINTS:
        return [("capture-pane", "-p", *flags, "-t", pane) for flags in captures]
    buffer = f"muxwire-screen{pane}"
    commands: list[tuple[str, ...]] = []
    for flags in captures:
        commands += [("capture-pane", "-b", buffer, *flags, "-t", pane), ("show-buffer", "-b", buffer)]
    return [*commands, ("delete-buffer", "-b", buffer)]


def captured(version: Version, outputs: Sequence[tuple[bytes, ...]]) -> list[tuple[bytes, ...]]:
    if version >= _PRINTS:
        return list(outputs)
    # The buffer ends with a line end, and `show-buffer` adds another.
    shown = [rows[:-1] for rows in outputs[1:-1:2]]
    if version >= _SHOWS_PLAINLY:
        return shown
    # A screen without a wrapped row is printed twice alike.
    plain = {rows: tuple(unescaped(b"\n".join(rows)).split(b"\n")) for rows in dict.fromkeys(shown)}
    return [plain[rows] for rows in shown]


def facts_of(answer: tuple[bytes, ...]) -> tuple[tuple[int, ...], str]:
    """The numbers of `FORMAT`, and the title; CommandError for a pane that is gone, of which tmux says nothing."""
    *fields, title = b" ".join(answer).decode("utf-8", "replace").split(" ", 7)
    if not fields[0]:
        raise CommandError("display-message", (b"can't find pane",))
    return tuple(map(int, fields)), title


@final
@dataclass(slots=True)
class Look:
    """tmux's answer; `end`: the offset up to which it holds all output. What is made of it is made when asked for.

    `rows` are those of `capture-pane` with `row_flags`, `joined` those with `-J`, `above` those of `flags_above`.
    """

    said: tuple[int, ...]  # columns, rows, cursor x and y, alternate screen, cursor visible, rows above
    title: str
    rows: tuple[bytes, ...]
    joined: tuple[bytes, ...]
    above: tuple[bytes, ...]
    end: int
    styled: bool
    shown: Snapshot | None = None  # without anything that must be asked for

    def snapshot(self, pane: str, scrollback: int | None, *, cells: bool, unwrap: bool) -> Snapshot:
        columns, count, x, y, alternate, visible, history = self.said
        wraps = wrapped_rows(self.rows, self.joined).rows
        # With nothing above, tmux prints the first row instead.
        above = None if scrollback is None else styled_lines(self.above if history else ())
        return Snapshot(
            pane=pane,
            cols=columns,
            rows=count,
            cursor=Cursor(min(x, columns - 1), y, bool(visible)),
            lines=_shown(text_rows(self.joined if unwrap else self.rows)),
            title=self.title,
            alternate_screen=bool(alternate),
            soft_wrap=tuple(row for row, wrapped in enumerate(wraps[:-1]) if wrapped),
            scrollback=None if above is None else tuple(text_of(row) for row in above),
            cells=tuple(runs(cell_rows(self.rows, columns))) if cells else None,
            next_byte=self.end,
            scrollback_cells=tuple(runs(above)) if cells and above is not None else None,
        )


def _shown(lines: list[str]) -> tuple[str, ...]:
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)
