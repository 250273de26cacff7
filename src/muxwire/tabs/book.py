"""What an instance remembers: its open tabs, its closed ones, the commands that may still be asked about."""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, final

from muxwire.errors import NoSuchTarget, TmuxSilent, unwrapped
from muxwire.ids import pane_id
from muxwire.tabs.event_log import EventLog
from muxwire.tabs.idle import close_when_unused
from muxwire.tabs.tab_events import TabEvents, journal_entry
from muxwire.tmux.status_line import DOING_CHARS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from anyio.abc import TaskGroup

    from muxwire.client.client import ControlClient
    from muxwire.logs.history import History
    from muxwire.shell.execution import Execution
    from muxwire.tabs.seat import Seat
    from muxwire.tabs.tab import Tab


def _within_window(tab: Tab) -> tuple[bool, int]:
    """The order of a window's panes, which is the same in all processes: its first, the others as they were made."""
    return tab.is_split, int(tab.pane_id[1:])


_LOG = logging.getLogger("muxwire")
# How many commands are remembered for command_result: an agent asks about the last few.
REMEMBERED_COMMANDS = 1000
# How many closed tabs list_tabs still shows; their logs stay readable by window id beyond that.
REMEMBERED_TABS = 200


@final
class TabBook:
    """The tabs and commands of one instance, and the tasks that outlive a call.

    `open` is keyed by window id, and by pane id for the further panes of a window that was split. A new tmux server
    counts its windows and panes from the start again, so a closed tab is keyed by `GENERATION/@N`; `generation` is the
    newest server's. Which tab was used last is known of each seat, and of all together.
    """

    def __init__(self, tasks: TaskGroup, parent: TabBook | None = None) -> None:
        """With `parent`, events and commands are remembered there: those of all machines of one instance together."""
        self.open: dict[str, Tab] = {}
        self.closed: dict[str, Tab] = {}
        # By window: the pane that goes by its id, kept when it has ended; "" if it ended before this process came.
        self.first: dict[str, str] = {}
        self.coming: set[str] = set()  # the labels of panes that we are making
        # (session, window) that muxwire selected, until tmux reports the change: that report counts as no use.
        self.shown_by_us: set[tuple[str, str]] = set()
        self.on_latest: Callable[[], None] | None = None
        # Called if an answer of another machine cannot be read.
        self.on_unreadable: Callable[[Exception], None] | None = None
        self.generation = 0
        self.idle_timeout: float = parent.idle_timeout if parent is not None else 0.0  # for tabs without their own
        # While it is not empty, a call that is cancelled interrupts nothing: this process ends, or a client has gone.
        self.leaving: list[ExitStack | None] = []
        self.awaited: dict[object, str] = {}  # what calls wait for, in words, the one that was begun last at the end
        self._used: dict[str, None] = {}  # by whichever seat: the keys of tabs, the one last used at the end
        self.seats: list[Seat] = [] if parent is None else parent.seats
        self._tasks = tasks
        self.commands: OrderedDict[str, tuple[Tab, Execution]]  # a dict is slow to remove its first key
        self.commands = OrderedDict() if parent is None else parent.commands
        self.events: EventLog = EventLog() if parent is None else parent.events
        self.events.sources.append(self._examine_output)
        self.history: History | None = None if parent is None else parent.history

    @contextmanager
    def awaiting(self, what: str) -> Iterator[None]:
        """Say what a call waits for, for the time of the block; other calls' blocks end before it or after it."""
        # `#[` begins a style in a status line (tmux(1) STYLES).
        self.awaited[own := object()] = f"waits for {what[:DOING_CHARS].replace('#', '')!r}"
        try:
            yield
        finally:
            del self.awaited[own]

    def lives(self, key: str) -> bool:
        """Whether the tab of that key is open, and is not about to be closed because its program has ended."""
        return key in self.open and not self.open[key].pane.session.dead

    def latest(self, seat: Seat | None = None) -> str:
        """The key of the open tab that a seat used last, "" if it has none; without a seat, that anybody used last.

        A seat that has used none gets the one that anybody used last, but none that is another seat's.
        """
        return next(self.last_used(seat), "")

    def previous(self, seat: Seat | None = None) -> str:
        """The key of the open tab that was used before `latest`, "" if there is none."""
        latest = self.latest(seat)
        return next((key for key in self.last_used(seat) if key != latest), "")

    def last_used(self, seat: Seat | None) -> Iterator[str]:
        """The keys of the open tabs that a seat used, then of those to which it may come; the last ones first."""
        # Nearly always the first key that is examined is the answer, so this costs a command almost nothing.
        own = seat.used if seat is not None else {}
        made = (key for key, tab in reversed(self.open.items()) if key not in self._used and not tab.is_split)
        known = chain(reversed(own), reversed(self._used), made)
        return (key for key in known if self.lives(key) and (key in own or self._is_free(key, seat)))

    def _is_free(self, key: str, seat: Seat | None) -> bool:
        """Whether a seat may come to a tab that it has not named: no other one that stays has used it."""
        if seat is None or not seat.stays:
            return True
        return not any(key in one.used for one in self.seats if one.stays and one is not seat)

    def use(self, key: str, seat: Seat | None = None) -> None:
        """A tab was used; `on_latest` is called if it is another one than was used last."""
        if seat is not None and key != next(reversed(seat.used), None):
            seat.used.pop(key, None)
            seat.used[key] = None
        if key != next(reversed(self._used), None):
            self._used.pop(key, None)
            self._used[key] = None
            if self.on_latest is not None:
                self.on_latest()

    def selected(self, key: str) -> None:
        """A person has selected a tab's window: every seat that may come to it has used it last now."""
        for seat in self.seats:
            if key in seat.used or self._is_free(key, seat):
                self.use(key, seat)
        self.use(key)

    def recall_used(self, previous: str, latest: str) -> None:
        """What an earlier process has noted; nothing is called, because tmux knows it."""
        self._used |= dict.fromkeys(key for key in (previous, latest) if key in self.open)  # none is used yet

    def add(self, tab: Tab) -> None:
        """A tab was made, or found again. It becomes the active one only if there is no other."""
        if tab.key in self.open and self.open[tab.key] is not tab:
            tab.is_split = True  # its pane was moved into a window whose id is the key of another tab
        self.open[tab.key] = tab
        self.closed.pop(tab.address, None)  # it was lost with the connection, and is found again
        if not tab.is_split:
            self.first[tab.window_id] = tab.pane_id
        # Further panes of its window may have been found again before it.
        if (first := self.open.get(tab.prefix + tab.window_id)) is not None:
            for split in self.panes(tab.window_id)[1:]:
                split.name, split.session, split.sized = first.name, first.session, first.sized
        self.generation = tab.generation
        if tab.events is None:
            tab.events = TabEvents(tab, self.history)
        if not tab.events.reports:
            tab.events.report_to(self.events)
            self.events.record("tab_opened", tab.key, name=tab.name, session=tab.prefix + tab.session)
            if (seconds := tab.idle_timeout or self.idle_timeout) and not tab.is_adopted:
                self.spawn(partial(close_when_unused, tab, seconds, partial(self._window_of, tab)))
        tab.pane.stream.listener, tab.pane.stream.later = tab.events, tab.client.later

    def reads_again(self, tab: Tab) -> None:
        """Marks come from the log, then what tmux kept, until the tab is added: no events, they would have no time."""
        tab.events = tab.pane.stream.listener = TabEvents(tab, self.history)

    def _examine_output(self) -> None:
        for tab in self.open.values():
            tab.pane.stream.settle()

    def in_order(self) -> list[Tab]:
        """The open tabs as their windows were made, each followed by the further panes of its window."""
        return sorted(self.open.values(), key=lambda tab: (int(tab.window_id[1:]), *_within_window(tab)))

    def panes(self, window: str) -> list[Tab]:
        """The open tabs in a window, first the one whose key is the window's id."""
        found = [tab for tab in self.open.values() if tab.window_id == window]
        return sorted(found, key=_within_window)

    def _window_of(self, tab: Tab) -> list[Tab]:
        return self.panes(tab.window_id) if self.open.get(tab.key) is tab else []

    def beside(self, tab: Tab) -> list[Tab]:
        if tab.is_split or tab.generation != self.generation:
            return []
        return [one for one in self.panes(tab.window_id) if one.is_split and one.is_adopted == tab.is_adopted]

    def rename_key(self, tab: Tab, *, window: str, is_split: bool) -> None:
        """A pane of muxwire is in another window now, or has become the one whose key is the window's id."""
        old = tab.key
        del self.open[old]
        tab.window_id, tab.is_split = window, is_split
        self.open[tab.key] = tab
        if not is_split:
            self.first[window] = tab.pane_id
        for used in (self._used, *(seat.used for seat in self.seats)):
            keys = [tab.key if key == old else key for key in used]
            used.clear()
            used.update(dict.fromkeys(keys))
        if tab.key == next(reversed(self._used), None) and self.on_latest is not None:
            self.on_latest()

    def address(self, tab: Tab) -> str:
        """What callers call it: its key, after the generation of its server if that is not the newest."""
        return tab.key if tab.generation == self.generation else tab.address

    def find_closed(self, target: str) -> Tab | None:
        if target in self.closed:
            return self.closed[target]
        newest = list(reversed(self.closed.values()))
        by_id = (tab for tab in newest if target in (tab.key, tab.pane_id))
        return next(by_id, None) or next((tab for tab in newest if target == tab.name and not tab.is_split), None)

    def retire(self, tab: Tab, reason: str, *, persistent: bool = False) -> None:
        """A tab is gone. What ran in it ends with `reason`, unless another one was given before.

        `persistent`: the tab may live on in tmux; this process has lost it.
        """
        # Asked before the pane is closed, and not of `latest`: that skips a tab whose program has ended.
        was_latest = tab.key == next(reversed(self._used), None)
        tab.end_reason = tab.end_reason or reason
        tab.runner.never_connected(tab.end_reason)
        tab.pane.close(tab.end_reason)
        if self.open.get(tab.key) is not tab:
            return
        del self.open[tab.key]
        if not self.panes(tab.window_id):
            self.first.pop(tab.window_id, None)
        for used in (self._used, *(seat.used for seat in self.seats)):
            used.pop(tab.key, None)
        if was_latest and self.open and not persistent and self.on_latest is not None:
            self.on_latest()
        tab.client.detach_pane(pane_id(tab.pane_id))
        tab.pane.stream.close(ended=not persistent)
        self.events.record("tab_closed", tab.key, reason=tab.end_reason)
        tab.events, tab.record = None, None
        tab.runner.close(persistent=persistent)
        while len(self.closed) >= REMEMBERED_TABS:
            del self.closed[next(iter(self.closed))]
        self.closed[tab.address] = tab

    def retire_all(self, reason: str, *, persistent: bool = False, client: ControlClient | None = None) -> None:
        """The server is gone, and every tab with it; with `persistent`, perhaps only the connection to it is gone.

        With `client` only that connection has ended: the tabs that another connection hears stay.
        """
        for tab in list(self.open.values()):
            if client in (None, tab.client):
                self.retire(tab, reason, persistent=persistent)

    def renamed(self, tab: Tab) -> None:
        if tab.events is not None:
            tab.events.named()

    def remember(self, tab: Tab, execution: Execution) -> None:
        """A command was typed; it can be asked about by its id."""
        while len(self.commands) >= REMEMBERED_COMMANDS:
            self.commands.popitem(last=False)
        self.commands[execution.command_id] = (tab, execution)
        if tab.record is not None:
            tab.record.note(execution, tab.pane.session.shell_pid)

    def recall(self, tab: Tab) -> list[Execution]:
        """The commands that an earlier process typed into this tab, oldest first; they can be asked about again."""
        record = tab.record
        assert record is not None  # only a server that outlived its process has tabs to recall
        executions = record.load()
        for execution in executions:
            self.commands[execution.command_id] = (tab, execution)
            if execution.running:
                record.note_end_of(execution)
                execution.ends_with(partial(self._journal, tab, execution))
        return executions

    def _journal(self, tab: Tab, execution: Execution) -> None:
        """Note the true end of a command that an earlier process left running: its last line in the journal counts."""
        if self.history is not None and execution.ending != "lost":
            self.history.note(journal_entry(tab, execution))

    def runs(self, command_id: str) -> bool:
        """Whether that command is known here and has not ended."""
        found = self.commands.get(command_id)
        return found is not None and found[1].running

    def command(self, command_id: str) -> tuple[Tab, Execution]:
        """The tab and the command of that id; NoSuchTarget."""
        found = self.commands.get(command_id)
        if found is None:
            raise NoSuchTarget(
                f"no command has the id {command_id!r}", remedy="use the command_id that `execute_command` returned"
            )
        found[0].pane.use.note()
        return found

    def spawn(self, work: Callable[[], Awaitable[object]]) -> None:
        """Run `work` in a task of the instance's own, so that it outlives the call that asked for it."""

        async def run() -> None:
            try:
                await work()
            except TmuxSilent as error:  # no caller waits for it, and what was sent to tmux is done when it continues
                _LOG.warning("%s", error)
            except Exception as error:  # noqa: BLE001 - no caller waits for it
                if self.on_unreadable is not None and isinstance(unwrapped(error), ValueError):
                    self.on_unreadable(error)
                else:  # as without a free descriptor, when a tab's program has ended: the other tabs go on
                    _LOG.exception("what ran in the background has failed")

        self._tasks.start_soon(run)
