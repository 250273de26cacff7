"""What a pane shows now: tmux's own picture, asked for in one line and kept until something may have changed it.

tmux runs the commands of a line with nothing between them, and sends what it has read from a pane before it answers. So
if nothing arrived between question and answer, the picture holds exactly what we have received. It is shown again, and
tmux not asked, until the pane's next byte, a change of its window's layout, or another connection. The rows above are
asked for every time: tmux does not report that they were cleared. What tmux no longer has is played from the log.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.client import prepared_lists
from muxwire.errors import CommandError, InvalidArgument, TabUnavailable, TmuxUnavailable, remedy_for
from muxwire.shell.tab_state import UNDER_WAY, not_begun
from muxwire.tmux.past import past_screen
from muxwire.tmux.screens import (
    FORMAT,
    Look,
    capture_commands,
    captured,
    facts_of,
    flags_above,
    row_flags,
)
from muxwire.vt.cells import LINES_REACH, draws_lines
from muxwire.vt.drawn import picture

if TYPE_CHECKING:
    from muxwire.client.client import ControlClient
    from muxwire.pane.state import PaneState
    from muxwire.protocol.commands import Command
    from muxwire.results import Snapshot
    from muxwire.tmux.screens import Version
    from muxwire.vt.drawn import Picture


# What to do where the pane goes away during the questions for its screen.
_PLAYED = "call it again: then the screen is played from the log"
# How often tmux is asked at most until no output arrives meanwhile: some programs never stop writing.
TRIES = 3


@final
class ScreenView:
    def __init__(self, pane: PaneState, client: ControlClient, version: Version) -> None:
        self._pane = pane
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
        self._kept: Look | None = None
        self._connection = 0  # of which `_kept` is
        self._turn = anyio.Lock(fast_acquire=True)  # a turn of the event loop would cost as much as tmux's answer

    def forget(self) -> None:
        """The screen may have changed without a byte of output."""
        self._kept = None

    async def snapshot(
        self, scrollback: int | None, *, cells: bool, unwrap: bool, at_byte: int | None = None
    ) -> Snapshot:
        """What the pane shows now, or what it showed at an offset, or last; InvalidArgument, ConnectionClosed.

        TabUnavailable if nothing is left of a tab that has ended; TmuxUnavailable as `past_screen`.
        """
        if at_byte is None and not self._pane.session.dead:
            with suppress(TabUnavailable):  # it ends in this moment
                return await self._living(scrollback, cells=cells, unwrap=unwrap)
        try:
            return await self._played(at_byte, scrollback, cells=cells, unwrap=unwrap)
        except OSError as error:
            raise TabUnavailable(
                f"the tab has ended, and its log cannot be read: {error}", state="dead", remedy=remedy_for(error)
            ) from error

    async def picture(self) -> Picture:
        """The text now: tmux is asked once only, so it may show more than has arrived here; TabUnavailable."""
        look = await self._of_living(None, cells=False, unwrap=True, tries=1)
        return _as_picture(look.snapshot(self._called, None, cells=False, unwrap=True), look.said[6])

    async def picture_at(self, offset: int) -> Picture | None:
        """The text at that offset, played from the log; None where the log cannot say."""
        try:
            seen = await self._played(offset, None, cells=False, unwrap=True)
        except (OSError, InvalidArgument, TmuxUnavailable):
            return None
        return _as_picture(seen, -1)

    async def _played(self, at_byte: int | None, scrollback: int | None, *, cells: bool, unwrap: bool) -> Snapshot:
        """What it showed at that offset, with all that was received; as `past_screen`."""
        log = self._pane.stream.log
        await log.flushed()
        return await past_screen(
            log.path, at_byte, self._pane.host.environ,
            pane=self._called, scrollback=scrollback, cells=cells, unwrap=unwrap,
        )  # fmt: skip

    async def look(self, scrollback: int | None = None, *, cells: bool = True, unwrap: bool = False) -> Look:
        """What tmux says of the pane now, of which a snapshot is made; TabUnavailable."""
        session = self._pane.session
        if not_begun(session) is not None:  # a line of ours is on its way, perhaps drawn on the alternate screen
            await self._pane.stream.until(lambda: not_begun(session) is None, UNDER_WAY)
        return await self._of_living(scrollback, cells=cells, unwrap=unwrap)

    async def _of_living(self, scrollback: int | None, *, cells: bool, unwrap: bool, tries: int = TRIES) -> Look:
        async with self._turn:
            try:
                return await self._look(scrollback, cells=cells, unwrap=unwrap, tries=tries)
            except CommandError:
                if self._pane.session.dead:
                    raise TabUnavailable("the tab's program has ended", state="dead", remedy=_PLAYED) from None
                raise

    async def _living(self, scrollback: int | None, *, cells: bool, unwrap: bool) -> Snapshot:
        look = await self.look(scrollback, cells=cells, unwrap=unwrap)
        if scrollback is not None or cells or unwrap:
            return look.snapshot(self._called, scrollback, cells=cells, unwrap=unwrap)
        if look.shown is None:
            look.shown = look.snapshot(self._called, None, cells=False, unwrap=False)
        return look.shown

    async def _look(self, scrollback: int | None, *, cells: bool, unwrap: bool, tries: int) -> Look:
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
                flags = (*(("-e",) if styled else ()), *flags_above(scrollback, unwrap=unwrap))
                question = prepared_lists(self._commands(flags, styled=styled, wraps=True))
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

    def _is_current(self, look: Look) -> bool:
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
        said = ("display-message", "-p", "-t", self._pane.pane_id, FORMAT)
        flags = ("-e",) if styled else ()
        rows = ((*flags, *row_flags(self._version)),) if wraps else ()
        return [said, *capture_commands(self._version, self._pane.pane_id, (*flags, "-J"), *rows, *above)]

    async def _asked(self, question: tuple[Command, ...], asked_at: int, *, styled: bool) -> Look:
        while True:
            (answer,) = self._client.submit_prepared(question or self._questions[styled, self._wraps])
            self._search_lines()  # while tmux works: it takes as long for 1 MB
            await self._client.poll(lambda: answer.done)  # noqa: B023 - it is called in this round only
            await answer.wait()
            words, *outputs = (block.output for block in answer.blocks)
            said, title = facts_of(words)
            joined, *more = captured(self._version, outputs)
            wraps = len(joined) != said[1]
            if more or not wraps:
                break
            self._wraps = True
        self._wraps = wraps
        rows, *above = more or [joined]
        return Look(said, title, rows, joined, above[0] if above else (), asked_at, styled)


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
