"""What a pane shows now: kept up to date from its own bytes when somebody looks, and taken from tmux when in doubt.

Every look asks tmux for the size, the cursor and the title: one round trip. A few new bytes are played into our own
screen, and if its cursor is then where tmux's is, that is the picture. Otherwise, and after more than a few bytes, tmux
is asked for the whole screen. It holds exactly what we have received if nothing arrived during that question; if
something did, the picture was true at its moment, and the next look asks again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.client import prepared
from muxwire.errors import CommandError, InvalidArgument, TabUnavailable
from muxwire.results import Cursor, Snapshot
from muxwire.vt.capture import Ink, Loaded, captured, ink, styled_lines, wrapped_rows
from muxwire.vt.cells import PLAIN, runs, text_of
from muxwire.vt.screen import Screen

if TYPE_CHECKING:
    from muxwire.client.client import ControlClient
    from muxwire.pane.state import PaneState
    from muxwire.pane.zones import Zones
    from muxwire.vt.cells import Cell

# New output that is played into our screen: at 1 MB/s or more, no other task waits for longer than a few ms.
# More is asked of tmux, which takes a ms or two whatever came.
FEED_MAX = 4 << 10
# Where the newest sequences are looked for that say how the next character looks: all but plain output has some there.
INK_BYTES = 64 << 10
# How often the whole screen is asked for until nothing arrives meanwhile: a pane that floods never holds still.
TRIES = 3

_FORMAT = (
    "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag} #{wrap_flag} #{insert_flag} "
    "#{origin_flag} #{scroll_region_upper} #{scroll_region_lower} #{history_size} %s#{pane_title}"
)
_FORMAT_SHORT, _FORMAT_LONG = _FORMAT % "- ", _FORMAT % "#{pane_tabs}, "


@final
@dataclass(frozen=True, slots=True)
class _Said:
    """What tmux says of the pane."""

    state: Loaded
    history: int
    title: str

    @classmethod
    def parsed(cls, lines: tuple[bytes, ...]) -> _Said:
        fields = b" ".join(lines).decode("utf-8", "replace").split(" ", 13)
        if not fields[0]:  # display-message does not complain of a pane that is gone: it says nothing in each field
            raise CommandError("display-message", (b"can't find pane",))
        columns, count, x, y, alternate, visible, wraps, inserts, origin, top, bottom, history = map(int, fields[:12])
        tabs = None if fields[12] == "-" else frozenset(int(column) for column in fields[12].split(",") if column)
        state = Loaded(
            columns, count, x, y, bool(alternate), bool(visible), bool(wraps), bool(inserts), bool(origin), top, bottom,
            tabs,
        )  # fmt: skip
        return cls(state, history, fields[13])


@final
class ScreenView:
    """The screen of one pane, for whoever looks."""

    def __init__(self, pane: PaneState, client: ControlClient, pane_id: str, zones: Zones) -> None:
        self._pane = pane
        self._zones = zones
        self._client = client
        self._pane_id = pane_id
        self._screen = Screen(1, 1)
        self._offset: int | None = None  # what the screen holds all output up to; None: it is not to be built upon
        self._seen = 0  # what it holds at least
        self._known = (0, Ink(PLAIN, 0, (False, False)))  # what the character at an offset looks like
        self._zoned = False  # whether the cells know whose they are
        # As long as the screen stays the same: the text of each row, tmux's answer that agreed with it, the picture.
        self._texts: tuple[str, ...] | None = None
        self._agreed: tuple[tuple[bytes, ...], _Said] | None = None
        self._shown: Snapshot | None = None
        self._single: tuple[str, ...] = ("-N", "-T")
        self._question = prepared(("display-message", "-p", "-t", pane_id, _FORMAT_SHORT))
        self._turn = anyio.Lock(fast_acquire=True)  # a turn of the event loop would cost as much as tmux's answer

    async def snapshot(self, scrollback: int | None, *, cells: bool, unwrap: bool) -> Snapshot:
        """Look at the pane; InvalidArgument, TabUnavailable for a dead tab, ConnectionClosed."""
        if scrollback is not None and scrollback < 0:
            raise InvalidArgument(f"scrollback is {scrollback}", remedy="give a number of rows, or 0 for all")
        if self._pane.dead:
            raise self._gone()
        async with self._turn:
            try:
                said = await self._look()
                above = None if scrollback is None else await self._above(scrollback, said.history, cells, unwrap)
                for _ in range(TRIES):
                    if above is None or self._offset == self._pane.stream.end:
                        break
                    # What was written between the two may have moved a row from the one to the other.
                    said = await self._look()
                    above = await self._above(scrollback or 0, said.history, cells, unwrap)
            except CommandError:
                if self._pane.dead:
                    raise self._gone() from None
                raise
            if above is not None or cells or unwrap:
                return self._picture(said, above, cells=cells, unwrap=unwrap)
            if self._shown is None or self._agreed is None:
                self._shown = self._picture(said, None, cells=False, unwrap=False)
            return self._shown

    async def _look(self) -> _Said:
        stream = self._pane.stream
        if self._offset is not None:
            asked_at = stream.end
            (answer,) = self._client.submit_prepared(self._question)
            self._client.poll_until(lambda: answer.done)
            lines = await answer.wait()
            if self._agreed is not None and self._agreed[0] == lines and self._offset == stream.end == asked_at:
                return self._agreed[1]  # nothing is new
            said = _Said.parsed(lines)
            if stream.end == asked_at and self._played(said.state, asked_at):
                self._agreed, self._shown = (lines, said), None
                return said
        for _ in range(TRIES):
            asked_at = self._seen = stream.end
            said = await self._loaded()
            self._offset = asked_at if stream.end == asked_at else None
            if self._offset is not None:
                break
        return said

    def _played(self, state: Loaded, end: int) -> bool:
        """Bring our screen up to `end`; False if it cannot be, or does not agree with tmux then."""
        screen, stream = self._screen, self._pane.stream
        assert self._offset is not None
        if screen.unsure or self._offset < stream.ring.start or end - self._offset > FEED_MAX:
            return False
        if (screen.grid.columns, screen.grid.count) != (state.columns, state.count):
            return False
        sure = True
        if self._offset < end:
            sure = self._zones.feed(screen, self._offset, end)
            self._changed()
        self._offset = end
        return sure and not screen.in_string and screen.state() == replace(state, tabs=None)

    async def _loaded(self) -> _Said:
        """Take the whole screen from tmux. The questions are one line: nothing is read from the pane between them."""
        stream = self._pane.stream
        said, (joined,) = await self._asked(("-J",))
        rows = captured(joined, said.state.columns, joined=True)
        certain = rows.certain
        if len(rows.rows) != said.state.count or not rows.certain or any(row.wrapped for row in rows.rows):
            # A row that was wrapped, perhaps when the pane had another width, or that nobody else can cut: as rows, and
            # which of them go on.
            said, (joined, single) = await self._asked_for_rows()
            rows = captured(single, said.state.columns, joined=False)
            wraps = wrapped_rows(single, joined)
            certain = rows.certain and wraps.certain
            for row, wrapped in zip(rows.rows, wraps.rows, strict=True):
                row.wrapped = wrapped
        before, found = self._ink(stream.end)
        self._screen.load(rows.rows, said.state, before, found, certain=certain)
        self._zones.settle(self._screen, stream.end)
        self._zoned = False
        self._changed()
        return said

    def _changed(self) -> None:
        self._texts = self._agreed = self._shown = None

    def _ink(self, end: int) -> tuple[bytes, Ink | None]:
        """The newest output, and what it says of the next character; if it says nothing, what was known before."""
        ring = self._pane.stream.ring
        offset, known = self._known
        before = ring.read(end - INK_BYTES, end)
        found = ink(before, known if offset == end - len(before) else None)
        if found is None and ring.start <= offset <= end:
            found = ink(ring.read(offset, end), known)
        if found is not None:
            self._known = (end, found)
        return before, found

    async def _asked_for_rows(self) -> tuple[_Said, list[tuple[bytes, ...]]]:
        """The same rows twice, joined and single. From tmux 3.4 on `-T` is needed, which older ones do not know."""
        try:
            return await self._asked(("-J",), self._single)
        except CommandError:
            self._single = ("-N",)
            return await self._asked(("-J",), self._single)

    async def _asked(self, *captures: tuple[str, ...]) -> tuple[_Said, list[tuple[bytes, ...]]]:
        asked = self._client.submit_list(
            ("display-message", "-p", "-t", self._pane_id, _FORMAT_LONG),
            *(("capture-pane", "-p", "-e", *flags, "-t", self._pane_id) for flags in captures),
        )
        await asked.wait()
        return _Said.parsed(asked.blocks[0].output), [block.output for block in asked.blocks[1:]]

    async def _above(self, scrollback: int, history: int, cells: bool, unwrap: bool) -> list[list[Cell]]:
        """The rows above the viewport. tmux 3.3 to 3.5 lose as much memory as they show here: ask for little."""
        if not history:
            return []
        first = min(scrollback or history, history)
        flags = [*(("-e",) if cells else ()), *(("-J",) if unwrap else ())]
        return styled_lines(
            await self._client.command("capture-pane", "-p", *flags, "-S", str(-first), "-E", "-1", "-t", self._pane_id)
        )

    def _picture(self, said: _Said, above: list[list[Cell]] | None, *, cells: bool, unwrap: bool) -> Snapshot:
        screen = self._screen
        rows = screen.grid.rows
        # Of what came while tmux was asked nobody knows how much the picture shows: the next reader gets it.
        end = self._seen if self._offset is None else self._offset
        if cells and not self._zoned:
            self._zones.restore(screen, end)
            self._zoned = True
        if self._texts is None:
            self._texts = tuple(text_of(row.cells) for row in rows)
        lines = list(self._unwrapped() if unwrap else self._texts)
        while lines and not lines[-1]:
            lines.pop()
        return Snapshot(
            pane=self._pane_id,
            cols=screen.grid.columns,
            rows=screen.grid.count,
            cursor=Cursor(min(screen.grid.x, screen.grid.columns - 1), screen.grid.y, screen.visible),
            lines=tuple(lines),
            title=said.title,
            alternate_screen=screen.alternate,
            soft_wrap=tuple(y for y, row in enumerate(rows[:-1]) if row.wrapped),
            scrollback=None if above is None else tuple(text_of(row) for row in above),
            cells=tuple(runs([row.cells for row in rows])) if cells else None,
            next_byte=end,
            scrollback_cells=tuple(runs(above)) if cells and above is not None else None,
        )

    def _unwrapped(self) -> list[str]:
        """Each line as one, however many rows it takes."""
        lines, begun = [], ""
        for row in self._screen.grid.rows:
            if row.wrapped:
                begun += "".join(cell.text for cell in row.cells)
            else:
                lines.append(begun + text_of(row.cells))
                begun = ""
        return [*lines, begun.rstrip(" ")] if begun else lines

    def _gone(self) -> TabUnavailable:
        return TabUnavailable(
            "the tab's program has ended, and its screen with it", state="dead", remedy="read its log instead"
        )
