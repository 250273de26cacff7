"""Random escape sequences, shown by a real pane: our screen is tmux's, or says that it does not know.

MUXWIRE_RANDOM_SCREENS sets how many; 400 by default.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from muxwire.vt.screen import Screen
from muxwire.vt.widths import width
from tests.library.screens.stage import CURTAIN, Picture, Stage, ours

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.library.terminals import Terminals
pytestmark = pytest.mark.anyio

RUNS = int(os.environ.get("MUXWIRE_RANDOM_SCREENS", "400"))
# A fuzz that mostly says "I do not know" proves little.
SURE = 0.5

NUMBERS = st.sampled_from(["", "0", "1", "2", "3", "5", "7", "9", "19", "20", "21", "99"])
WORDS = st.text("abcXYZ ", min_size=1, max_size=45)
OTHERS = st.lists(st.sampled_from(["終", "わ", "é", "e\u0301", "a", "ß", "─", "😀", "✓", "\u0301", "한"]), max_size=11)
CONTROLS = st.sampled_from(["\r", "\n", "\r\n", "\b", "\t", "\b\b", "\v", "\x0e", "\x0f"])
MOVES = st.tuples(st.lists(NUMBERS, max_size=2), st.sampled_from("ABCDEFGHJKLMPSTXZ@`bdfgrsu")).map(
    lambda made: f"\x1b[{';'.join(made[0])}{made[1]}"
)
COLOURS = st.sampled_from(
    ["", "0", "1", "31", "42", "7", "27", "4", "22", "39", "49", "38;5;200", "48;5;17", "48;2;1;2;3", "38;5;3", "100",
     "38;5;12", "1;33;44", "97", "2", "3", "9", "29", "58;5;3", "59", "4:3", "38:2::1:2:3", "48:5:99", "21", "8", "5",
     "38;5;300", "38;2;1;2;300", "38;7", "48;5", "38:5:300", "4:0", "24", "23", "25", "28"]
).map("\x1b[{}m".format)  # fmt: skip
ESCAPES = st.sampled_from(["7", "8", "D", "E", "M", "H", "=", "(0", "(B", ")0", ")B", "c", "#8", "\\"]).map(
    "\x1b{}".format
)
MODES = st.tuples(
    st.sampled_from(["7", "6", "25", "1", "1047", "1049", "47", "12", "2004", "1000"]), st.sampled_from("hl")
).map(lambda made: f"\x1b[?{made[0]}{made[1]}")
REST = st.sampled_from(
    ["\x1b[4h", "\x1b[4l", "\x1b[2;6r", "\x1b[3;5r", "\x1b]0;t\x07", "\x1bPq\x1b\\", "\x1b_x\x1b\\", "\x1b[>4;2m",
     "\x1b[2 q", "\x7f", "\x18", "\x1bkname\x1b\\"]
)  # fmt: skip
PIECES = st.one_of(WORDS, OTHERS.map("".join), CONTROLS, MOVES, MOVES, COLOURS, ESCAPES, MODES, REST)


class Tally:
    """How often our screen had an opinion."""

    sure = played = 0


async def compared(stage: Stage, terminals: Terminals, pieces: Sequence[str]) -> tuple[Screen, Picture]:
    """Play the pieces for both."""
    data = "".join(pieces).encode()
    if (await terminals.server()).version >= (3, 6):
        data = data.replace(b"\t", b"")  # such a tmux prints a tab that is overwritten in part as several
    screen = Screen(stage.columns, stage.rows)
    screen.feed(CURTAIN)
    assert not screen.unsure
    screen.feed(data)
    return screen, await stage.play(data)


@pytest.fixture(scope="module")
def tally() -> Tally:
    return Tally()


@settings(max_examples=RUNS, deadline=None, suppress_health_check=list(HealthCheck))
@given(pieces=st.lists(PIECES, min_size=1, max_size=14))
async def test_our_screen_is_tmuxs(stage: Stage, terminals: Terminals, tally: Tally, pieces: list[str]) -> None:
    screen, wanted = await compared(stage, terminals, pieces)
    tally.played += 1
    if not screen.unsure:
        tally.sure += 1
        assert ours(screen, wanted) == wanted


def test_most_of_them_were_known(tally: Tally) -> None:
    assert tally.sure >= SURE * tally.played


async def test_one_column_or_two_as_tmux_has_it(stage: Stage, terminals: Terminals) -> None:
    """Every character of the basic plane and of the emoji blocks that we are sure of."""
    known = [chr(code) for code in (*range(0xA0, 0xD800), *range(0xE000, 0x10000), *range(0x1F300, 0x1FB00))]
    across = stage.columns // 4
    page = across * stage.rows
    for begin in range(0, len(known), page):
        texts = [character for character in known[begin : begin + page] if width(character) is not None]
        pieces = [f"\x1b[{1 + n // across};{1 + n % across * 4}Hx{text}|" for n, text in enumerate(texts)]
        screen, wanted = await compared(stage, terminals, pieces)
        assert not screen.unsure
        assert ours(screen, wanted) == wanted, texts


@settings(max_examples=RUNS // 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    parts=st.lists(st.lists(PIECES, min_size=1, max_size=5), min_size=1, max_size=4),
    torn=st.lists(st.integers(0, 12), min_size=4, max_size=4),
    forget=st.sets(st.integers(0, 3)),
)
@example(parts=[["\x1b[3g"]], torn=[0, 0, 0, 0], forget={0})  # no tab stop is left
async def test_every_look_is_tmuxs(
    stage: Stage, terminals: Terminals, parts: list[list[str]], torn: list[int], forget: set[int]
) -> None:
    """Looks in between, wherever a sequence is torn, and from a picture of tmux's on: never another than tmux's."""
    await stage.play()
    held = b""
    for number, pieces in enumerate(parts):
        data = held + "".join(pieces).encode()
        if (await terminals.server()).version >= (3, 6):
            data = data.replace(b"\t", b"")
        cut = max(len(data) - torn[number], 0)
        held = data[cut:]
        await stage.add(data[:cut])
        if number in forget:
            stage.tab._view._offset = None  # as if more had been written than is played
        taken = await stage.tab.snapshot(cells=True)
        wanted = await stage.seen()
        assert ours(stage.tab._view._screen, wanted) == wanted
        assert taken.next_byte == stage.tab.next_byte
