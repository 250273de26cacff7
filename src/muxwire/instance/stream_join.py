"""Joining what was kept of a pane's output to what comes live, at the byte at which the one ends and the other begins.

An invisible mark R is printed on the pane's terminal. Both streams contain it: up to R we read what was kept, and what
comes live continues after it. Nothing is counted, stopped or waited for. (To stop the terminal instead, as C-s does,
loses bytes: Linux drops a CR LF that a program writes just then; docs/decisions.md#spools.)
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, final

import anyio
import anyio.to_thread

from muxwire.ids import pane_id
from muxwire.logs.segments import UNKNOWN_SIZE
from muxwire.shell.marks import ID_RANDOM, join_mark
from muxwire.tabs.maker import attach_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.client.client import ControlClient
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab


# What comes live while the kept output is read is held here; a pane that writes more gets another mark.
_HELD_BYTES = 16 << 20
# R comes within milliseconds, and where the terminal is stopped (C-s), when that continues. It can be lost: a C-c drops
# what a terminal has not passed on (`isig` in n_tty.c). So it is printed again, each time after twice as long.
JOIN_SECONDS = 1.0
# What is kept is written within a ms of what tmux sends us; on a busy machine within seconds.
KEPT_SECONDS = 10.0
# From one look to the next no more than this counts: this process, or the whole machine, may have been stopped.
_LOOK_MAX = 0.1


class KeptOutput(ABC):
    """Where the output of panes is kept while this process does not read it.

    `up` is false while it cannot be asked. `look_seconds`: the pause before it is asked again for what it had not yet.
    `begin_seconds`: how long after a pane it may take until anything is kept of it.
    """

    look_seconds: ClassVar[float]
    begin_seconds: ClassVar[float] = 0.0

    @property
    def up(self) -> bool:
        return True

    @abstractmethod
    async def read(self, tab: Tab, offset: int) -> tuple[int, bytes] | None:
        """What is kept from an offset on, and its first offset: a later one if that is gone.

        Not more than a piece of it; b"" behind the end. The offset is -1 if nothing is kept; None without an answer.
        """

    def give_up(self, tab: Tab) -> None:  # noqa: B027 - few have anything to do
        """Use it no more for this tab: it is not known how much was lost, so its offsets are no longer the stream's."""


def new_mark(tab: Tab) -> bytes:
    """A mark R that was not printed yet."""
    return join_mark(os.urandom(ID_RANDOM), tab.pane.session.nonce)


@final
class StreamJoin:
    """One pane, from its attachment until its output comes live."""

    def __init__(self, tab: Tab, kept: KeptOutput, client: ControlClient, reason: str) -> None:
        """Have R printed, and hold from now on what comes live. `reason` is for the record of what is lost."""
        self.tab = tab
        self.over = False  # whether output comes live, or this join was given up for another one
        self.behind_gap = False
        self._kept, self._client, self.reason = kept, client, reason
        self._stream = tab.pane.stream
        self._heard = anyio.Event()
        self._looks = 0
        # For how many seconds nothing new was kept, and when that was last seen.
        self._looked, self._looked_at = 0.0, time.monotonic()
        self._stream.rejoining = True
        self._stream.log.late()
        self._live = bytearray()
        self._begin()
        client.attach_pane(pane_id(tab.pane_id), self._feed)

    def _begin(self) -> None:
        self._mark = new_mark(self.tab)
        self._live.clear()
        self._is_live = False  # whether R has come
        self._due, self._patience = 0.0, JOIN_SECONDS
        self._print()

    def _print(self) -> None:
        """Have R printed, unless it has come or may still come."""
        now = time.monotonic()
        if not self._is_live and now >= self._due:
            pane = self.tab.pane
            pane.host.write_tty(pane.tty, self._mark, pane.leader_pid, unordered=True)
            self._due, self._patience = now + self._patience, 2 * self._patience

    def _feed(self, data: bytes) -> None:
        """Take what comes live. What stands before R is dropped here: it is read from what was kept."""
        self._live += data
        if not self._is_live:
            at = self._live.find(self._mark)
            self._is_live = at >= 0
            del self._live[: at + len(self._mark) if at >= 0 else 1 - len(self._mark)]
        self._heard.set()

    async def run(self) -> bool:
        """Read what was kept up to R, and continue live; return whether it does."""
        while not self._is_over():
            self._heard = anyio.Event()
            self._print()
            found = await self._kept.read(self.tab, self._stream.end)
            if self._is_over() or (found is None and not self._kept.up):
                return False  # the next connection begins again
            if found is not None and self._take(*found):
                break
            if len(self._live) > _HELD_BYTES:
                self._begin()
            # While the client closes, no answer comes, at once: only a pause lets the event loop go on with that.
            elif found is None or (self._looks and self._is_live):
                await anyio.sleep(self._kept.look_seconds)
            elif self._looks:
                self._looks, self._looked = 0, 0.0
                with anyio.move_on_after(self._due - time.monotonic()):
                    await self._heard.wait()
        while not (self._is_live or self._is_over()):
            self._heard = anyio.Event()
            await self._heard.wait()
        if self._is_over():
            return False
        self._go_on_live()
        return True

    def _is_over(self) -> bool:
        return self.over or self.tab.pane.session.closed or self._client.closed

    def _take(self, first: int, data: bytes) -> bool:
        """Take what was kept from an offset on; return whether live output continues after it."""
        stream, looked = self._stream, self._looked
        if first < 0 and looked < self._kept.begin_seconds:
            self._count_look()
            return False
        if first < 0 or looked > KEPT_SECONDS:
            self._kept.give_up(self.tab)
            stream.lose(UNKNOWN_SIZE, exact=False, reason=self.reason)
            self.behind_gap = self._is_live = True
            return True
        if first > stream.end:
            stream.lose(first - stream.end, reason=f"{self.reason}; more was written than is kept")
            self.behind_gap = True
        at = data.find(self._mark)
        end = at + len(self._mark) if at >= 0 else len(data) - _begun(data, self._mark)
        if end:
            stream.feed(data[:end])
            self._looks, self._looked = 0, 0.0
        else:
            self._count_look()
        return at >= 0

    def _count_look(self) -> None:
        now = time.monotonic()
        # By the clock: on a busy machine a look takes ten times as long as the pause between two.
        self._looked += min(max(now - self._looked_at, self._kept.look_seconds), _LOOK_MAX) if self._looks else 0.0
        self._looks, self._looked_at = self._looks + 1, now

    def _go_on_live(self) -> None:
        self.over = True
        attach_stream(self.tab)
        self._stream.goes_live(bytes(self._live))


async def go_over(joins: Sequence[StreamJoin], book: TabBook, on_live: Callable[[Tab], None]) -> None:
    """Have the output of panes come live; `on_live` is called for each tab at that moment.

    Return when all is done, but after `JOIN_SECONDS` in any case: then it is done later.
    """
    done = anyio.Event()

    async def one(join: StreamJoin) -> None:
        if await join.run():
            on_live(join.tab)

    async def all_of_them() -> None:
        async with anyio.create_task_group() as tasks:
            for join in joins:
                tasks.start_soon(one, join)
        done.set()

    book.spawn(all_of_them)
    with anyio.move_on_after(JOIN_SECONDS):
        await done.wait()


def _begun(data: bytes, mark: bytes) -> int:
    """How many bytes at the end of `data` may be the beginning of `mark`."""
    return next((size for size in range(min(len(mark) - 1, len(data)), 0, -1) if data.endswith(mark[:size])), 0)
