"""Which size a pane had from which offset of its log on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

# tmux takes the new size of a person's terminal, and reports it in the next turn of its loop (window.c, notify.c). What
# a program writes in between comes before the report, and is laid out in the new size. Nothing did if the last output
# came so many seconds before: a turn takes milliseconds.
_TURN = 1.0


@final
@dataclass(frozen=True, slots=True)
class PaneSize:
    """What size the pane has from the offset `at` on; `blank`: a screen that began there was empty.

    `sure`: nothing that was written before `at` was laid out in this size.
    """

    at: int
    columns: int
    rows: int
    blank: bool = True
    sure: bool = True


def is_sure(now: float, last_output: float, answered_at: float) -> bool:
    """Whether no output that came before tmux's report of a new size was laid out in that size.

    `now`: when the report came; with the times of the last output and of tmux's last answer in seconds on one clock. A
    command resizes a pane, and reports that, before tmux reads a pane again. Before an answer tmux had not resized it
    either: in each turn, reports of sizes come before answers.
    """
    return answered_at >= last_output or now - last_output > _TURN
