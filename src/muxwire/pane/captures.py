"""How rows of a screen are asked of tmux: printed at once, or by way of a buffer.

Up to 3.5, `capture-pane -p` loses the size of what it prints to a control client in the memory of the server. There
the rows go through a buffer with a name of our own, which tmux neither counts nor shows as the newest: it is set, shown
and deleted by one line, between whose commands no other client has a turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.vt.capture import unescaped

if TYPE_CHECKING:
    from collections.abc import Sequence

Version = tuple[int, int]
# The first tmux whose `capture-pane -p` to a control client loses no memory.
_PRINTS = (3, 6)
# The first tmux whose `show-buffer` prints a buffer as it is.
_SHOWS_PLAINLY = (3, 4)
# The first tmux that prints blanks at a row's end for cells that nothing was written to, unless -T is given.
_TRIMS = (3, 4)


def row_flags(version: Version) -> tuple[str, ...]:
    """What makes `capture-pane` print rows with their blanks, to compare them with what `-J` prints."""
    return ("-N", "-T") if version >= _TRIMS else ("-N",)


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
    # A buffer ends with a line end, and so does what shows it.
    shown = [rows[:-1] for rows in outputs[1:-1:2]]
    if version >= _SHOWS_PLAINLY:
        return shown
    # A screen without a wrapped row is printed twice alike.
    plain = {rows: tuple(unescaped(b"\n".join(rows)).split(b"\n")) for rows in dict.fromkeys(shown)}
    return [plain[rows] for rows in shown]
