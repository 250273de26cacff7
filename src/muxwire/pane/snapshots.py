"""What a pane shows now: tmux's own picture, asked for in one line and kept until something may have changed it.

tmux runs the commands of a line with nothing between them, and sends what it has read from a pane before it answers. So
if nothing arrived between question and answer, the picture holds exactly what we have received. It is shown again, and
tmux not asked, until the pane's next byte, a change of its window's layout, or another connection. The rows above are
asked for every time: tmux does not report that they were cleared. What tmux no longer has is played from the log.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.client import prepared_lists
from muxwire.errors import CommandError, InvalidArgument, TabUnavailable, remedy_for
from muxwire.logs.screens import received_screen
from muxwire.results import Cursor, Snapshot
from muxwire.values import dataclass
from muxwire.vt.cells import (
    LINES_REACH,
    Cell,
    cell_rows,
    draws_lines,
    has_marks,
    newest_zone,
    runs,
    styled_lines,
    text_of,
    text_rows,
    unescaped,
    wrapped_rows,
)
from muxwire.vt.drawn import picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.client import ControlClient
    from muxwire.pane.state import PaneState
    from muxwire.protocol.commands import Command
    from muxwire.vt.cells import Run
    from muxwire.vt.drawn import Picture
    from muxwire.vt.replay import ReplayScreen


# How rows of a screen are asked of tmux: printed at once, or by way of a buffer.
#
# Up to 3.5, each `capture-pane -p` of a control client leaks as much memory of the server as it prints. There the rows
# go through a buffer with a name of our own, which tmux neither counts nor shows as the newest: it is set, shown and
# deleted by one line, between whose commands no other client has a turn.

Version = tuple[int, int]
# What to do where the pane goes away during the questions for its screen.
_PLAYED = "call it again: then the screen is played from the log"
# The first tmux whose `capture-pane -p` to a control client leaks no memory.
_PRINTS = (3, 6)
# The first tmux whose `show-buffer` prints a buffer as it is.
_SHOWS_PLAINLY = (3, 4)
# The first tmux that prints blanks at a row's end for cells that nothing was written to, unless -T is given.
_TRIMS = (3, 4)


def row_flags(version: Version) -> tuple[str, ...]:
    """What makes `capture-pane` print rows with their blanks, to compare them with what `-J` prints."""
    return ("-N", "-T") if version >= _TRIMS else ("-N",)


def capture_commands(version: Version, pane: str, *captures: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The commands, for one line, that print what `capture-pane` with each of these flags would."""
    if version >= _PRINTS:
        return [("capture-pane", "-p", *flags, "-t", pane) for flags in captures]
    buffer = f"muxwire-screen{pane}"
    commands: list[tuple[str, ...]] = []
    for flags in captures:
        commands += [("capture-pane", "-b", buffer, *flags, "-t", pane), ("show-buffer", "-b", buffer)]
    return [*commands, ("delete-buffer", "-b", buffer)]


def captured(version: Version, outputs: Sequence[tuple[bytes, ...]]) -> list[tuple[bytes, ...]]:
    if version >= _PRINTS:
        return list(outputs)
    # The buffer ends with a line end, and `show-buffer` adds another.
    shown = [rows[:-1] for rows in outputs[1:-1:2]]
    if version >= _SHOWS_PLAINLY:
        return shown
    # A screen without a wrapped row is printed twice alike.
    plain = {rows: tuple(unescaped(b"\n".join(rows)).split(b"\n")) for rows in dict.fromkeys(shown)}
    return [plain[rows] for rows in shown]


# What the cells of a screen belong to: the shell's prompt, what was typed at it, what a program printed.
#
# Marks in the output say where a prompt begins and where a program's output does. No mark says where the prompt ends
# and input begins: it is where the first key that muxwire typed went, or where a prompt that was seen before ends. The
# newest output is played once more, to find out which cells of the screen these places are.

# Prompts on one screen; more of them scroll away.
_INPUTS = 256
# How much output is played again to find the zones of a screen: it takes some ms, and is more than a screen of text.
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
        """Put the zone into each cell of a screen that shows the output up to `end`, and whose cursor is in row `y`.

        Rows are compared by their distance from the cursor; those whose text differs from what was played get no zone.
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
        """The newest output up to `end`, played on a screen of that size; None if no mark says what any of it is."""
        from muxwire.vt.replay import (
            Player,
            ReplayScreen,  # pyte takes ms of every start; few ask for this
        )

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


# How often tmux is asked at most until no output arrives meanwhile: some programs never stop writing.
TRIES = 3

_FORMAT = (
    "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag} #{history_size} #{pane_title}"
)


@final
@dataclass(slots=True)
class _Look:
    """tmux's answer; `end`: the offset up to which it holds all output. What is made of it is made when asked for."""

    said: tuple[int, ...]  # columns, rows, cursor x and y, alternate screen, cursor visible, rows above
    title: str
    rows: tuple[bytes, ...]
    joined: tuple[bytes, ...]
    above: tuple[bytes, ...]
    end: int
    styled: bool
    lines: tuple[str, ...] | None = None
    wraps: tuple[int, ...] = ()
    cells: tuple[Run, ...] | None = None
    shown: Snapshot | None = None  # without anything that must be asked for


@final
class ScreenView:
    def __init__(self, pane: PaneState, client: ControlClient, version: Version, zones: Zones) -> None:
        self._pane = pane
        self._zones = zones
        self._client = client
        self._called = pane.host.prefix + pane.pane_id
        self._version = version
        # The joined rows alone are all of it while no row is wrapped, and take tmux half the time.
        self._questions = {
            (styled, wraps): prepared_lists(self._commands(styled=styled, wraps=wraps))
            for styled in (False, True)
            for wraps in (False, True)
        }
        self._wraps = False  # whether there was a wrapped row when we looked last
        self._searched = 0  # the offset up to which it is known whether the line drawing set was used
        self._draws_lines = False
        self._kept: _Look | None = None
        self._connection = 0  # of which `_kept` is
        self._turn = anyio.Lock(fast_acquire=True)  # a turn of the event loop would cost as much as tmux's answer

    def forget(self) -> None:
        """The screen may have changed without a byte of output."""
        self._kept = None

    async def snapshot(
        self, scrollback: int | None, *, cells: bool, unwrap: bool, at_byte: int | None = None
    ) -> Snapshot:
        """What the pane shows now, or what it showed at an offset, or last; InvalidArgument, ConnectionClosed.

        TabUnavailable if nothing is left of a tab that has ended.
        """
        if at_byte is None and not self._pane.session.dead:
            with suppress(TabUnavailable):  # it ends in this moment
                return await self._living(scrollback, cells=cells, unwrap=unwrap)
        log = self._pane.stream.log
        try:
            return await received_screen(
                log, at_byte, pane=self._called, scrollback=scrollback, cells=cells, unwrap=unwrap
            )
        except OSError as error:
            raise TabUnavailable(
                f"the tab has ended, and its log cannot be read: {error}", state="dead", remedy=remedy_for(error)
            ) from error

    async def picture(self) -> Picture:
        """The text now: tmux is asked once only, so it may show more than has arrived here; TabUnavailable."""
        async with self._turn:
            try:
                look = await self._look(None, cells=False, unwrap=True, tries=1)
            except CommandError:
                if self._pane.session.dead:
                    raise TabUnavailable("the tab's program has ended", state="dead", remedy=_PLAYED) from None
                raise
        return _as_picture(self._picture(look, None, cells=False, unwrap=True), look.said[6])

    async def picture_at(self, offset: int) -> Picture | None:
        """The text at that offset, played from the log; None where the log cannot say."""
        log = self._pane.stream.log
        try:
            seen = await received_screen(log, offset, pane=self._called, scrollback=None, cells=False, unwrap=True)
        except (OSError, InvalidArgument):
            return None
        return _as_picture(seen, -1)

    async def _living(self, scrollback: int | None, *, cells: bool, unwrap: bool) -> Snapshot:
        if scrollback is not None and scrollback < 0:
            raise InvalidArgument(f"scrollback is {scrollback}", remedy="give a number of rows, or 0 for all")
        async with self._turn:
            try:
                look = await self._look(scrollback, cells=cells, unwrap=unwrap)
            except CommandError:
                if self._pane.session.dead:
                    raise TabUnavailable("the tab's program has ended", state="dead", remedy=_PLAYED) from None
                raise
        if scrollback is not None or cells or unwrap:
            return self._picture(look, scrollback, cells=cells, unwrap=unwrap)
        if look.shown is None:
            look.shown = self._picture(look, None, cells=False, unwrap=False)
        return look.shown

    async def _look(self, scrollback: int | None, *, cells: bool, unwrap: bool, tries: int = TRIES) -> _Look:
        stream = self._pane.stream
        self._client.take_received()
        kept = self._kept
        if scrollback is None and kept is not None and (kept.styled or not cells) and self._is_current(kept):
            return kept
        left = tries
        while left:
            styled = cells or self._draws_lines
            question: tuple[Command, ...] = ()
            if scrollback is not None:
                flags = (*(("-e",) if styled else ()), *(("-J",) if unwrap else ()))
                first = str(-scrollback) if scrollback else "-"
                question = prepared_lists(self._commands((*flags, "-S", first, "-E", "-1"), styled=styled, wraps=True))
            asked_at, self._kept, self._connection = stream.end, None, self._client.connections
            look = await self._asked(question, asked_at, styled=styled)
            left -= 1
            if self._draws_lines and not styled:  # as the output has shown meanwhile
                left = tries
            elif stream.end == asked_at:
                self._kept = look
                break
        # The picture may hold some of the output that came while tmux was asked. Its `end` is before that output, so a
        # caller that reads on from there misses none.
        return look

    def _is_current(self, look: _Look) -> bool:
        client = self._client
        return look.end == self._pane.stream.end and self._connection == client.connections and not client.closed

    def _search_lines(self) -> None:
        """See in the new output whether letters may stand for lines, which tmux shows with the styles only."""
        ring = self._pane.stream.ring
        if not self._draws_lines:
            unknown = not self._pane.supervised or self._searched < ring.start
            self._draws_lines = unknown or draws_lines(ring, self._searched)
            self._searched = max(ring.end - LINES_REACH, self._searched)

    def _commands(self, *above: tuple[str, ...], styled: bool, wraps: bool) -> list[tuple[str, ...]]:
        said = ("display-message", "-p", "-t", self._pane.pane_id, _FORMAT)
        flags = ("-e",) if styled else ()
        rows = ((*flags, *row_flags(self._version)),) if wraps else ()
        return [said, *capture_commands(self._version, self._pane.pane_id, (*flags, "-J"), *rows, *above)]

    async def _asked(self, question: tuple[Command, ...], asked_at: int, *, styled: bool) -> _Look:
        while True:
            (answer,) = self._client.submit_prepared(question or self._questions[styled, self._wraps])
            self._search_lines()  # while tmux works: it takes as long for 1 MB
            await self._client.poll(lambda: answer.done)  # noqa: B023 - it is called in this round only
            await answer.wait()
            words, *outputs = (block.output for block in answer.blocks)
            *fields, title = b" ".join(words).decode("utf-8", "replace").split(" ", 7)
            if not fields[0]:  # display-message does not complain of a pane that is gone: it says nothing in each field
                raise CommandError("display-message", (b"can't find pane",))
            said = tuple(map(int, fields))
            joined, *more = captured(self._version, outputs)
            wraps = len(joined) != said[1]
            if more or not wraps:
                break
            self._wraps = True
        self._wraps = wraps
        rows, *above = more or [joined]
        look = _Look(said, title, rows, joined, above[0] if above else (), asked_at, styled)
        if not look.said[6]:  # with nothing above, tmux prints the first row instead
            look.above = ()
        return look

    def _picture(self, look: _Look, scrollback: int | None, *, cells: bool, unwrap: bool) -> Snapshot:
        columns, count, x, y, alternate, visible, _ = look.said
        if look.lines is None:
            look.lines = _shown(text_rows(look.rows))
            wraps = wrapped_rows(look.rows, look.joined).rows
            look.wraps = tuple(row for row, wrapped in enumerate(wraps[:-1]) if wrapped)
        if cells and look.cells is None:
            look.cells = self._cells(look)
        above = None if scrollback is None else styled_lines(look.above)
        return Snapshot(
            pane=self._called,
            cols=columns,
            rows=count,
            cursor=Cursor(min(x, columns - 1), y, bool(visible)),
            lines=_shown(text_rows(look.joined)) if unwrap else look.lines,
            title=look.title,
            alternate_screen=bool(alternate),
            soft_wrap=look.wraps,
            scrollback=None if above is None else tuple(text_of(row) for row in above),
            cells=look.cells if cells else None,
            next_byte=look.end,
            scrollback_cells=tuple(runs(above)) if cells and above is not None else None,
        )

    def _cells(self, look: _Look) -> tuple[Run, ...]:
        columns, _, _, y, alternate, *_ = look.said
        rows = cell_rows(look.rows, columns)
        if not alternate:
            self._zones.mark(rows, y, look.end)
        return tuple(runs(rows))


def _as_picture(seen: Snapshot, above: int) -> Picture:
    return picture(
        seen.lines,
        seen.soft_wrap,
        size=(seen.cols, seen.rows),
        cursor=(seen.cursor.x, seen.cursor.y),
        visible=seen.cursor.visible,
        alternate=seen.alternate_screen,
        above=above,
        end=seen.next_byte,
    )


def _shown(lines: list[str]) -> tuple[str, ...]:
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)
