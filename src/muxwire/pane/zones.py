"""What the cells of a screen belong to: the shell's prompt, what was typed at it, what a program printed.

Marks in the output say where a prompt begins and where a program's output does. Where the prompt ends and input begins
no shell says by itself: it is where the first key of ours went, or where a prompt that is known by heart ends.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, final

from muxwire.vt.capture import zone
from muxwire.vt.cells import Cell, text_of
from muxwire.vt.screen import Screen

if TYPE_CHECKING:
    from muxwire.pane.state import PaneState

# Prompts on one screen; more of them scroll away.
_INPUTS = 256
# How much output is played again to know whose a screen's rows are: some ms, and more than a screen of text.
REPLAYED = 16 << 10
# The longest prompt that is looked for among those that are known by heart: two rows of a wide one, all of it coloured.
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
        if pane.at_prompt and pane.prompt_end >= 0 and (not self._inputs or self._inputs[-1] < pane.prompt_end):
            self._inputs.append(pane.stream.end)

    def feed(self, screen: Screen, begin: int, end: int) -> bool:
        """Play a stretch of the output; False if the screen is of no use any more."""
        ring = self._pane.stream.ring
        for cut in self._cuts(begin, end):
            screen.feed(ring.read(begin, cut))
            self._begin_input(screen)
            begin = cut
        return screen.feed(ring.read(begin, end))

    def settle(self, screen: Screen, end: int) -> None:
        """A screen was taken from tmux: is its cursor behind a prompt, in a program's output?"""
        if not screen.zone and self._pane.running is not None:
            screen.zone = "output"
        if self._cuts(self._pane.prompt_end, end):
            self._begin_input(screen)

    def restore(self, screen: Screen, end: int) -> None:
        """Find out whose the rows of a screen are that was taken from tmux: play the newest output once more.

        Rows whose text is not the same, seen from the cursor, stay nobody's.
        """
        ring = self._pane.stream.ring
        begin = max(ring.start, end - REPLAYED)
        if begin > 0:
            begin = max(ring.find(b"\n", begin) + 1, begin)
        again = Screen(screen.grid.columns, screen.grid.count)
        again.zone = zone(ring.read(begin - _MARK_REACH, begin)) or ("output" if self._pane.running else "")
        if screen.alternate or not self.feed(again, begin, end):
            return
        below = screen.grid.y - again.grid.y
        for y, row in enumerate(screen.grid.rows):
            if 0 <= y - below < again.grid.count:
                other = again.grid.rows[y - below].cells
                if text_of(row.cells) and text_of(row.cells) == text_of(other):
                    pairs = zip(row.cells, other, strict=True)
                    row.cells = [Cell(cell.text, cell.style, known.zone) for cell, known in pairs]

    def _cuts(self, begin: int, end: int) -> list[int]:
        cuts = [offset for offset in self._inputs if begin <= offset <= end]
        prompt = self._pane.prompt_end
        if max(begin, 0) <= prompt <= end and not any(offset >= prompt for offset in cuts):
            known = self._pane.prompts.length(self._pane.stream.ring.read(prompt, min(end, prompt + _PROMPT_BYTES)))
            cuts += [prompt + known] if known else []
        return cuts

    def _begin_input(self, screen: Screen) -> None:
        if screen.zone == "prompt":
            screen.zone = "input"
