"""Where lines of ours stand that were typed into a shell without our hooks: between the marks B and T.

B;ID;1 is written before the first of them, B;ID;2 by the shell between two of them, and T when it has all. From each B
to the next B or T all is ours, both marks included, if it is at most `HIDDEN_MAX` bytes, and nothing has begun or ended
there: B;ID;0, which says that no shell took the lines, or one of the marks S, E, D and X.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.shell.marks import CommandFinished, EchoEnd, EchoStart, Mark, OutputStart, PostExec, ShellExited

if TYPE_CHECKING:
    from collections.abc import Sequence

# A piece of a long command has up to 3 KB in octal; its echo may be here twice, by the terminal and by the line editor,
# and before it those of the pieces that the terminal has taken meanwhile: 4 KB, as much as one keeps (MAX_CANON).
HIDDEN_MAX = 16 * 1024
# `ESC ] 7770 ; B ; ID ; NUMBER BEL`, and T is shorter.
HIDDEN_MARK_MAX = 7 + 2 + 17 + 20 + 1

_ENDS = (OutputStart, CommandFinished, PostExec, ShellExited, EchoStart, EchoEnd)


def hidden(marks: Sequence[Mark], pending: int, size: int) -> tuple[list[tuple[int, int]], int]:
    """Return the ranges that are ours, and where one begins whose end is not here yet; `size` if none does.

    `pending` is where an unfinished mark begins in the data, which has `size` bytes: what comes after is not certain.
    """
    found, begun = [], -1
    for mark in sorted((mark for mark in marks if mark.begin < pending), key=_begin):
        begins = isinstance(mark, EchoStart) and mark.step > 0
        if (begins or isinstance(mark, EchoEnd)) and begun >= 0 and mark.begin - begun <= HIDDEN_MAX:
            found.append((begun, mark.end))
        if begins:
            begun = mark.begin
        elif isinstance(mark, _ENDS):
            begun = -1
    return found, begun if begun >= 0 and size - begun <= HIDDEN_MAX + HIDDEN_MARK_MAX else size


def _begin(mark: Mark) -> int:
    return mark.begin
