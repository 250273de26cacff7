"""The output of a named instance's panes while no process is attached: tmux keeps it, and it is joined to the logs.

tmux writes each pane's output to a spool too (host/scripts/spool.sh), from its first byte on. A process that attaches
reads the spool from the end of the log up to a mark R, and continues live. So it does not matter how the owner ended.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.errors import CommandError, ConnectionClosed
from muxwire.host.folders import private_folder
from muxwire.instance.stream_join import JOIN_SECONDS, KEPT_SECONDS, KeptOutput, StreamJoin, go_over, new_mark
from muxwire.logs.segments import Spool, spooled, spools_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from pathlib import Path

    from muxwire.host.folders import Folders
    from muxwire.logs.store import LogStore
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer


<<<<<<< HEAD
=======
# Joining what was kept of a pane's output to what comes live, at the byte at which the one ends and the other begins.
#
# An invisible mark R is printed on the pane's terminal. Both streams contain it: up to R we read what was kept, and
# what comes live continues after it. Nothing is counted, stopped or waited for. (To stop the terminal instead, as C-s
# does, loses bytes: Linux drops a CR LF that a program writes just then; docs/measurements.md#spools.)

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
            pane.host.print_mark(pane.tty, self._mark, pane.leader_pid)
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
        if end:
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


>>>>>>> 46449be5 (stream: what is joined is heard before it goes live)
NOT_KEPT = "no client was attached, and tmux did not keep the pane's output"
# A spool's program writes within a ms of tmux; on a busy machine within seconds.
_LOOK_SECONDS = 0.002
# A C-c may drop a mark, so up to so many are printed. Without any the spool cannot be aligned, and is of no use.
_MARKS = 3
# Panes of muxwire alone: their supervisor prints the mark X. A window that a person makes has no log.
_IF_OURS = "if-shell -F '#{m:*7770;X;*,#{pane_start_command}}'"


def spool_hooks(folders: Folders, generation: int) -> list[tuple[str, ...]]:
    """The commands that have tmux spool every pane that is made from here on; InstanceUnavailable."""
    logs = folders.logs(generation)
    private_folder(spools_beside(logs))
    # As logs are named.
    names = {"after-new-window": "pane-#{window_id}", "after-split-window": "pane-#{window_id}-#{pane_id}"}
    return [
        ("set-hook", "-g", hook, f"{_IF_OURS} {{ pipe-pane -O '{_program(folders, logs, name)}' }}")
        for hook, name in names.items()
    ]


def _program(folders: Folders, logs: Path, name: str) -> str:
    """What a pane's pipe runs; `name` is that of its log.

    tmux expands the text as a format and as a date, and then a shell reads it: so paths are written in octal, in which
    no character is special.
    """
    paths = (folders.spool_program, spools_beside(logs))
    script, spools = ("".join(f"\\{byte:03o}" for byte in bytes(path)) for path in paths)
    return f'exec sh "$(printf "{script}")" "$(printf "{spools}")"/{name} #{{pid}} #{{pane_pid}}'


@final
class _Spools(KeptOutput):
    """The spools of panes that run; `piped` are the ids of the panes whose output tmux writes to a pipe."""

    look_seconds = _LOOK_SECONDS

    def __init__(self, piped: Container[str]) -> None:
        self._piped = piped
        self.given_up: set[Tab] = set()

    async def read(self, tab: Tab, offset: int) -> tuple[int, bytes] | None:
        await tab.pane.stream.log.flushed()  # else more and more would wait for the disk
        first, data = await anyio.to_thread.run_sync(Spool(tab.log_path).read, offset)
        if data:
            return first, data
        is_piped = tab.pane_id in self._piped
        return offset if is_piped else -1, b""  # the pipe's program has begun late, or is about to write

    def give_up(self, tab: Tab) -> None:
        Spool(tab.log_path).remove()
        self.given_up.add(tab)


async def join_spools(server: TmuxServer, book: TabBook, tabs: Sequence[Tab], listen: Callable[[Tab], None]) -> None:
    """Complete the logs of the panes that run with what tmux kept; `listen` is called as each comes live.

    A pane whose terminal is stopped follows later.
    """
    await complete_logs(server.folders, server.log_store, server.generation, {tab.log_path.stem for tab in tabs})
    panes = await server.client.command("list-panes", "-a", "-f", "#{pane_pipe}", "-F", "#{pane_id}")
    spools = _Spools({pane.decode() for pane in panes})

    def on_live(tab: Tab) -> None:
        listen(tab)
        if tab in spools.given_up:
            book.spawn(lambda: _spool_again(server, tab))

    await go_over([StreamJoin(tab, spools, server.client, NOT_KEPT) for tab in tabs], book, on_live)


async def _spool_again(server: TmuxServer, tab: Tab) -> None:
    """Have tmux keep the output of a pane that it did not keep: the disk was full, or a person has used its pipe."""
    spool, program = Spool(tab.log_path), _program(server.folders, server.logs, tab.log_path.stem)
    with suppress(OSError, CommandError, ConnectionClosed):  # the disk is full still, or the pane is gone
        spool.begin()
        await server.client.command("pipe-pane", "-O", "-t", tab.pane_id, program)
        for _ in range(_MARKS):
            mark = new_mark(tab)
            if (at := await _printed(tab, mark)) >= 0:
                is_aligned = False
                with anyio.move_on_after(KEPT_SECONDS):
                    while not is_aligned:
                        await anyio.sleep(_LOOK_SECONDS)
                        is_aligned = await anyio.to_thread.run_sync(spool.align, mark, at)
                break


async def _printed(tab: Tab, mark: bytes) -> int:
    """Print a mark R; return the offset at which it came, -1 if it did not."""
    stream, begin = tab.pane.stream, tab.pane.stream.end
    tab.pane.host.print_mark(tab.pane.tty, mark, tab.pane.leader_pid)
    await stream.until(lambda: stream.ring.find(mark, begin) >= 0, JOIN_SECONDS)
    return stream.ring.find(mark, begin)


async def complete_logs(folders: Folders, store: LogStore, generation: int = 0, living: Container[str] = ()) -> None:
    """Complete the logs of panes that are no more; `living` are the names of those that run in that generation."""
    for number in folders.generations():
        for path in spooled(folders.logs(number)):
            if number != generation or path.stem not in living:
                await _complete(store, path)


async def _complete(store: LogStore, path: Path) -> None:
    log, spool = store.open(path), Spool(path)
    while True:
        first, data = await anyio.to_thread.run_sync(spool.read, log.end)
        if not data:
            break
        if first > log.end:
            log.lose(first - log.end, reason=NOT_KEPT)
        log.append(data)
        if not await log.flushed():  # the disk is full: the spool stays for another time
            log.close()
            return
    log.close(ended=True)
