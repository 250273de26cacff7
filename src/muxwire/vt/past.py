"""The screen that the last bytes of an output leave: where to begin to play them, and in which sizes.

What a screen shows was written since it was last empty. So what is played begins with the output if that is near, else
at the last clear, reset or switch to the alternate screen, else in the middle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.values import dataclass, pattern
from muxwire.vt.readable import COLUMNS, ROWS, open_string
from muxwire.vt.screens import SWITCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.vt.replay import ReplayScreen

# So many bytes are played without a search for a better place to begin, and also if there is none: 0.25 s of work.
PLAYED = 256 << 10
# How far back an empty screen is looked for; at the worst all of it is played.
SEARCHED = 1 << 20
# An empty screen with the cursor at home, as programs make it (terminfo's `clear` and `rs1`), or the other screen.
_EMPTIED = pattern(
    rb"\x1bc|\x1b\[(?:1;1)?H\x1b\[[02]?J|\x1b\[2J\x1b\[(?:1;1)?H|" + SWITCH.encode() + rb"(?P<switch>[hl])"
)
_ALTERNATE_ON = b"\x1b[?1049h"
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


def play_end(data: bytes, base: int, sizes: Sequence[PaneSize], *, first: bool) -> tuple[ReplayScreen, bool]:
    """The screen that `data` leaves, which begins at the offset `base`; whether nothing before can have changed it.

    `first`: nothing is known of what came before it. `sizes` are in order. Rows above an empty screen do not matter,
    until tmux lays them out for another width: it may move the cursor then, and they may come back.
    """
    from muxwire.vt.replay import (
        Player,
        ReplayScreen,  # late: importing pyte takes some 20 ms, and few processes need the past
    )

    whole = base == 0 and all(size.blank for size in sizes)
    begin, before, exact = _beginning(data, whole=whole, first=first)
    known = [size for size in sizes if size.at <= base + begin]
    screen = ReplayScreen(known[-1].columns, known[-1].rows) if known else ReplayScreen(COLUMNS, ROWS)
    screen.above_unknown = begin > 0 or not whole
    player = Player(screen)
    player.feed(before)
    for size in sizes[len(known) :]:
        if size.at > base + len(data):
            break
        exact = exact and size.sure
        player.feed(data[begin : size.at - base])
        begin = size.at - base
        screen.resize(size.rows, size.columns)
    player.feed(data[begin:])
    return screen, exact and not screen.guessed


def _beginning(data: bytes, *, whole: bool, first: bool) -> tuple[int, bytes, bool]:
    """Where to begin to play, what to play before it, and whether that was an empty screen."""
    if whole and len(data) <= PLAYED:
        return 0, b"", True
    emptied = {True: -1, False: -1}  # on the alternate screen, and on the main one
    alternate = False if whole else None
    for found in _EMPTIED.finditer(data):
        if found["switch"] is None:
            emptied[bool(alternate)] = found.start()
        elif found["switch"] == b"h":
            emptied[True], alternate = emptied[True] if alternate else found.start(), True
        else:
            if alternate is None:  # all until here was on the alternate screen
                emptied[False] = -1
            alternate = False
    begin = emptied[bool(alternate)]
    if begin >= 0:
        return begin, _ALTERNATE_ON if alternate else b"", alternate is not None
    if first:
        return 0, b"", whole
    begin = max(len(data) - PLAYED, 0)
    begin = data.find(b"\n", begin) + 1 or begin
    return begin, open_string(data[:begin]), False
