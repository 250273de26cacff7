"""Random screens of text, of any width: cells, soft wraps and cursor are what tmux prints by itself at that moment.

MUXWIRE_RANDOM_SCREENS sets how many; 100 by default. Each has the same content in each run.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

from tests.library.screens.stage import ours

if TYPE_CHECKING:
    from muxwire.library.terminals import Terminals
    from tests.library.screens.stage import Stage

SCREENS = int(os.environ.get("MUXWIRE_RANDOM_SCREENS", "100"))
COLUMNS, ROWS = (8, 120), (3, 30)
# Of the characters; of the lines, how many go on for several rows; of the words, how many have a style.
WIDE, LONG, STYLED = 0.02, 0.2, 0.05
CHARACTERS, TWO_COLUMNS = "abcdefghij-/.0123456789", "終わ한😀"


def screen(dice: random.Random, columns: int, rows: int) -> bytes:
    """Some lines, the last one without an end; a part of what was drawn is erased or moved over."""
    lines = []
    for _ in range(dice.randrange(1, 2 * rows)):
        words, left = [], dice.randrange(3 * columns if dice.random() < LONG else columns)
        while left > 0:
            length = min(left, dice.randrange(1, 12))
            word = "".join(dice.choice(TWO_COLUMNS if dice.random() < WIDE else CHARACTERS) for _ in range(length))
            words.append(f"\x1b[{dice.choice((1, 4, 7, 31, 44))}m{word}\x1b[m" if dice.random() < STYLED else word)
            left -= length + 1
        lines.append(" ".join(words))
    move = f"\x1b[{dice.randrange(1, rows + 1)};{dice.randrange(1, columns + 1)}H"
    after = dice.choice(
        ("", f"{move}\x1b[K", f"{move}\x1b[J", f"{move}over", f"{move}終", f"\x1b[2L{move}", f"{move}\x1b[3P")
    )
    return ("\r\n".join(lines) + after).encode()


async def test_a_look_at_any_screen_is_tmuxs(stage: Stage, terminals: Terminals) -> None:
    client = (await terminals.server()).client
    wrapped = 0
    for number in range(SCREENS):
        dice = random.Random(number)
        columns, rows = dice.randint(*COLUMNS), dice.randint(*ROWS)
        await client.command("resize-window", "-t", stage.tab.window_id, "-x", str(columns), "-y", str(rows))
        stage.columns, stage.rows = columns, rows
        wanted = await stage.play(screen(dice, columns, rows))
        plain = await stage.tab.snapshot()
        taken = await stage.tab.snapshot(cells=True)
        assert (taken.cols, taken.rows) == (columns, rows)
        assert ours(taken, wanted) == wanted, number
        assert (plain.lines, plain.soft_wrap, plain.cursor) == (taken.lines, taken.soft_wrap, taken.cursor), number
        wrapped += bool(taken.soft_wrap)
    assert 0 < wrapped < SCREENS
