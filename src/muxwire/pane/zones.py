"""What the cells of a screen belong to: the shell's prompt, what was typed at it, what a program printed.

Marks in the output say where a prompt begins and where a program's output does. Where the prompt ends and input begins
no shell says by itself: it is where the first key of ours went, or where a prompt that was seen before ends. Where on
the screen that is, the newest output says, when it is played once more.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, final

from muxwire.vt.cells import Cell, has_marks, newest_zone

if TYPE_CHECKING:
    from muxwire.pane.state import PaneState
    from muxwire.vt.replay import ReplayScreen

# Prompts on one screen; more of them scroll away.
_INPUTS = 256
# How much output is played again to know whose a screen's rows are: some ms, and more than a screen of text.
REPLAYED = 16 << 10
# The longest prompt that is looked for among those that were seen before: two rows of a wide one, all of it coloured.
_PROMPT_BYTES = 8 << 10
# How far back the newest mark is looked for.
_MARK_REACH = 64 << 10


@final
class Zones:
    """Knows the places in one pane's output at which input begins."""

    def __init__(self, pane: PaneState) -> None:
        self._pane = pane
        self._inputs: deque[int] = deque(maxlen=_INPUTS)

    def typed(self) -> None:
        """A key is about to be typed: if it is the first at this prompt, input begins."""
        pane = self._pane
        if (
            pane.session.at_prompt
            and pane.session.prompt_end >= 0
            and (not self._inputs or self._inputs[-1] < pane.session.prompt_end)
        ):
            self._inputs.append(pane.stream.end)

    def mark(self, rows: list[list[Cell]], y: int, end: int) -> None:
        """Say in its cells whose each row of a screen is, whose cursor is in row `y`, and which `end` bytes made.

        Rows whose text is not the same, seen from the cursor, stay nobody's.
        """
        again = self._played(len(rows[0]), len(rows), end)
        if again is None:
            return
        below = y - again.cursor.y
        for at, row in enumerate(rows):
            other = again.row(at - below) if 0 <= at - below < len(rows) else []
            if [cell.text for cell in other] == [cell.text for cell in row]:
                rows[at] = [Cell(cell.text, cell.style, own.zone) for cell, own in zip(row, other, strict=True)]

    def _played(self, columns: int, count: int, end: int) -> ReplayScreen | None:
        """The newest output up to `end`, played on a screen of that size; None if nothing is known of whose it is."""
        from muxwire.vt.player import Player
        from muxwire.vt.replay import ReplayScreen  # pyte takes ms of every start; few ask for this

        ring = self._pane.stream.ring
        begin = max(ring.start, end - REPLAYED)
        if begin > 0:
            begin = max(ring.find(b"\n", begin) + 1, begin)
        before = newest_zone(ring.read(max(begin - _MARK_REACH, ring.start), begin))
        zone = before or ("output" if self._pane.session.running else "")
        if not zone and not has_marks(ring.read(begin, end)):
            return None
        screen = ReplayScreen(columns, count, zone)
        player = Player(screen)
        for cut in self._cuts(begin, end):
            player.feed(ring.read(begin, cut))
            if screen.zone == "prompt":
                screen.zone = "input"
            begin = cut
        player.feed(ring.read(begin, end))
        return screen

    def _cuts(self, begin: int, end: int) -> list[int]:
        cuts = [offset for offset in self._inputs if begin <= offset <= end]
        prompt = self._pane.session.prompt_end
        if max(begin, 0) <= prompt <= end and not any(offset >= prompt for offset in cuts):
            known = self._pane.prompts.length(self._pane.stream.ring.read(prompt, min(end, prompt + _PROMPT_BYTES)))
            cuts += [prompt + known] if known else []
        return cuts
