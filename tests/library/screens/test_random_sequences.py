"""Random escape sequences, shown by a real pane: every look is what tmux prints by itself at that moment.

MUXWIRE_RANDOM_SCREENS sets how many; 100 by default.
"""

from __future__ import annotations

import os
import unicodedata

from hypothesis import HealthCheck, example, given, settings, strategies as st

from muxwire.library.terminals import Terminals
from tests.library.screens.stage import Stage, ours

RUNS = int(os.environ.get("MUXWIRE_RANDOM_SCREENS", "100"))
# The share of characters of whose width tmux may be of another opinion: of assigned ones that are not all alike.
MISPLACED = 0.05
# Half of the basic plane: ideographs and the syllables of Hangul, all of one width. Every so many of them are tried.
ALIKE, SAMPLE = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xAC00, 0xD7A4)), 16

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


async def test_one_column_or_two_as_tmux_has_it(stage: Stage, terminals: Terminals) -> None:
    """Of the characters of the basic plane and of the emoji blocks; terminals disagree on few of them."""
    known = [chr(code) for code in (*range(0xA0, 0xD800), *range(0xE000, 0x10000), *range(0x1F300, 0x1FB00))]
    known = [character for character in known if unicodedata.category(character) not in ("Cc", "Cn", "Co")]
    known = [one for one in known if not (ord(one) % SAMPLE and any(ord(one) in block for block in ALIKE))]
    across = stage.columns // 4
    wrong = 0
    for begin in range(0, len(known), across * stage.rows):
        texts = known[begin : begin + across * stage.rows]
        pieces = [f"\x1b[{1 + n // across};{1 + n % across * 4}H\x1b[7m|\x1b[m{one}" for n, one in enumerate(texts)]
        await stage.play("".join(pieces).encode())
        taken = await stage.tab.snapshot(cells=True)
        bars = {(run.y, run.x) for run in taken.cells or () if run.style.reverse}
        wrong += sum((n // across, n % across * 4) not in bars for n in range(len(texts)))
    assert wrong < MISPLACED * len(known)


@settings(max_examples=RUNS, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    parts=st.lists(st.lists(PIECES, min_size=1, max_size=5), min_size=1, max_size=4),
    torn=st.lists(st.integers(0, 12), min_size=4, max_size=4),
    again=st.sets(st.integers(0, 3)),
)
@example(parts=[["\x1b[3g"]], torn=[0, 0, 0, 0], again={0})  # no tab stop is left
@example(parts=[["X" * 7 + "終é終", "\x1b[4h", "\r" + "X" * 9]], torn=[0, 0, 0, 0], again=set())  # half of the last one
async def test_every_look_is_tmuxs(
    stage: Stage, terminals: Terminals, parts: list[list[str]], torn: list[int], again: set[int]
) -> None:
    """Looks in between, wherever a sequence is torn: never another picture than tmux's."""
    await stage.play()
    held = b""
    for number, pieces in enumerate(parts):
        data = held + "".join(pieces).encode()
        if (await terminals.server()).version >= (3, 6):
            data = data.replace(b"\t", b"")
        cut = max(len(data) - torn[number], 0)
        held = data[cut:]
        await stage.add(data[:cut])
        plain = await stage.tab.snapshot()
        if number in again:
            stage.tab.view.forget()
        taken = await stage.tab.snapshot(cells=True)
        wanted = await stage.seen()
        assert ours(taken, wanted) == wanted
        assert (plain.lines, plain.soft_wrap, plain.cursor) == (taken.lines, taken.soft_wrap, taken.cursor)
        assert plain.next_byte == taken.next_byte == stage.tab.next_byte
