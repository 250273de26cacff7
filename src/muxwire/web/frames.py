"""What a tab shows, as lines of JSON: a full frame first, then what has changed.

A viewer that is slow gets fewer frames, never older ones: the next picture is taken when it can take the next line.

    {"frame":"full","schema_version":1,"cols":120,"rows":30,"cursor":[7,4,true],"alternate_screen":false,"title":"vm",
     "soft_wrap":[],"asks":"","next_byte":1452,"lines":[["dev:~# ls",[{"x":0,"length":3,"fg":"green"}]],["bin  boot"]]}
    {"frame":"diff","up":1,"cursor":[7,6,true],"next_byte":1891,"count":7,"lines":[[5,"red",[...]],[6,"dev:~#"]]}
    {"frame":"end","reason":"its program ended with status 0"}

A row is its text and, if not all of it looks like the default, its runs, as `snapshot` has them. The reader of a diff
drops `up` rows at the top, sets each row of `lines` by its number, cuts or fills to `count` rows, and takes every
other field that is there. `asks` says what the program waits for, a line or a password; "" if for neither.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import anyio

from muxwire.errors import MuxwireError
from muxwire.values import to_dict
from muxwire.web.asks import asked_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from muxwire.results import Snapshot
    from muxwire.tabs.tab import Tab
    from muxwire.vt.cells import Run

# A row of a frame: its text, and its runs if any.
Row: TypeAlias = list[Any]

# Raised by one for every change that could break a program which reads frames.
SCHEMA_VERSION: Final = 1
# Pictures of one tab a second: a person sees no more, and a flood costs no more.
FRAME_SECONDS: Final = 0.05
# How soon something is seen that no byte reports: the tab's size, or what is waited for. The latter takes a look at all
# processes, 5 ms, so it is taken after as much silence only.
LOOK_SECONDS: Final = 0.5


def packed(value: object) -> str:
    """A value as one line of JSON, with its line end."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def rows_of(lines: Sequence[str], runs: Sequence[Run]) -> list[Row]:
    """Texts and the runs in them as the rows of a frame."""
    rows: list[Row] = [[text] for text in lines]
    for run in runs:
        flat = to_dict(run)
        del flat["y"]
        rows += [[""] for _ in range(len(rows), run.y + 1)]  # a row of coloured blanks has no text
        if len(rows[run.y]) == 1:
            rows[run.y].append([])
        rows[run.y][1].append(flat)
    return rows


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a tab: its rows, and in `head` all else that is told of it."""

    head: dict[str, Any]
    rows: list[Row]

    @classmethod
    def of(cls, taken: Snapshot, asks: str) -> Frame:
        rows = rows_of(taken.lines, taken.cells or ())
        rows += [[""] for _ in range(len(rows), taken.cursor.y + 1)]
        return cls(
            {
                "cols": taken.cols,
                "rows": taken.rows,
                "cursor": [taken.cursor.x, taken.cursor.y, taken.cursor.visible],
                "alternate_screen": taken.alternate_screen,
                "title": taken.title,
                "soft_wrap": list(taken.soft_wrap),
                "asks": asks,
                "next_byte": taken.next_byte,
            },
            rows,
        )

    def line(self, before: Frame | None) -> str:
        """What a viewer is told that has `before`; "" if nothing is new to it."""
        if before is None:
            return packed({"frame": "full", "schema_version": SCHEMA_VERSION, **self.head, "lines": self.rows})
        head = {name: value for name, value in self.head.items() if before.head[name] != value}
        up = self._scrolled(before)
        old = before.rows[up:]
        rows = [[y, *row] for y, row in enumerate(self.rows) if y >= len(old) or old[y] != row]
        # That bytes came which show nothing is no news.
        if not rows and head.keys() <= {"next_byte"} and len(self.rows) == len(before.rows):
            return ""
        moved = {"up": up} if up else {}
        return packed({"frame": "diff", **moved, **head, "count": len(self.rows), "lines": rows})

    def _scrolled(self, before: Frame) -> int:
        """By how many rows the screen has moved up since; 0 if to say so would save nothing."""
        alike = [sum(map(Row.__eq__, before.rows[up:], self.rows)) for up in range(len(before.rows))]
        if not alike or alike[0] * 2 > len(self.rows):
            return 0
        best = max(alike)
        return alike.index(best) if best > alike[0] else 0


async def lines_of(tab: Tab) -> AsyncIterator[str]:
    """What one viewer is told of a tab, until that ends. A picture is taken whenever it may show something new."""
    stream = tab.pane.stream
    told: Frame | None = None
    seen: tuple[int, tuple[int, int]] | None = None
    while True:
        due = anyio.current_time() + FRAME_SECONDS
        closed = tab.pane.session.closed  # asked before the look, so the last one is at all of it
        try:
            if seen != (stream.end, tab.size):
                taken = await tab.snapshot(cells=True)
                seen = taken.next_byte, tab.size
            silent = time.monotonic() - stream.last_output >= LOOK_SECONDS
            frame = Frame.of(taken, asked_of(tab) if silent else "")
        except (MuxwireError, OSError) as error:
            yield packed({"frame": "end", "reason": str(error)})
            return
        if line := frame.line(told):
            yield line
        told = frame
        if closed:
            yield packed({"frame": "end", "reason": tab.end_reason})
            return
        await anyio.sleep_until(due)
        if seen == (stream.end, tab.size):
            await stream.changed_within(LOOK_SECONDS)
