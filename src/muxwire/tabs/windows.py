"""What becomes of our windows and panes, as tmux reports it: they are closed, moved, renamed, selected, resized.

tmux reports the end of a window and new layouts, but never the end of a pane. So whenever a notification leaves it open
where a pane went, all panes are looked up: one round trip, for an event that a person or an operation caused.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, ConnectionClosed, MuxwireError
from muxwire.protocol.events import (
    ClientDetached,
    ClientSessionChanged,
    LayoutChange,
    SessionChanged,
    SessionRenamed,
    SessionWindowChanged,
    SubscriptionChanged,
    UnlinkedWindowClose,
    UnlinkedWindowRenamed,
    WindowClose,
    WindowRenamed,
)
from muxwire.tabs.event_log import EventFilter
from muxwire.tabs.record import printed_name
from muxwire.tmux.rows import CLIENTS, FIRST_OPTION, PANE_FORMAT, PANES, clients_of, panes_of
from muxwire.tmux.server import DOING, DOING_CHARS, PREFIX_PRESSED
from muxwire.tmux.start import COLUMNS, ROWS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from muxwire.client.client import Pending
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer


# Seconds between two updates of what the agent does, while a person is attached: as often as tmux reports their keys.
_WORK_SECONDS = 1.0
_WORK = EventFilter.checked((), ("command_started", "command_finished", "tab_closed"))

# People at our server: who is attached, and in which tab they press keys.
#
# tmux reports to a control client that another client shows a session, never what a person types there. What it does
# know is `session_activity` (tmux(1), FORMATS): the second of the last key that a person pressed in a session; nothing
# that we send moves it. A subscription has tmux compare it once a second, only while a client is attached, and tell us
# when it moves. So a person's key is known within about a second, with the tab that was in front of them then, but not
# which key it was. Keys for tmux itself are not counted: those in the second of the prefix key (`PREFIX_PRESSED`) or
# the next one, in copy mode, or while another pane came to the front. Other input that tmux takes (the mouse, a menu, a
# key long after the prefix) counts, and so does a terminal's report of focus where that is asked for. A line that a
# shell accepted is known exactly (tab_events.py).

_NAME = "muxwire-people"
# Of every session: its last key, and the pane that is shown to attached clients. No comma between them: what
# stands after one is used for our own session, since tmux 3.6.
_FRONT = f"#{{S:#{{session_id}} #{{session_activity}} #{{pane_id}} #{{pane_in_mode}}/}}#{{{PREFIX_PRESSED}}}"
# The key after the prefix comes in the same second, or in the next one.
_PREFIX_SECONDS = 1


@final
@dataclass(frozen=True, slots=True)
class _Front:
    """What a session shows. `for_tmux`: its last key was the prefix key, or came right after it."""

    activity: str
    pane: str
    in_mode: bool
    for_tmux: bool

    def has_key_since(self, before: _Front) -> bool:
        """Whether a person has typed into this pane since `before`."""
        same = before.activity == self.activity or before.pane != self.pane
        return not (same or self.for_tmux or self.in_mode or before.in_mode)


@final
class People:
    """Follows the people at one server and records what they do; `follow` is called by the reader and never waits."""

    def __init__(self, server: TmuxServer, book: TabBook) -> None:
        self._server = server
        self._book = book
        self._attached: set[str] = set()
        self._gone: set[str] = set()  # who has left since we asked last
        self._subscribed = False
        self._fronts: dict[str, _Front] = {}
        self._joined: set[str] = set()  # sessions that a client came to, which tmux counts as a key, until we asked
        self._shown: str | None = None  # what the status line says of the agent; None: what an earlier process said
        self._shows = False  # whether the status line is kept up to date now

    def follow(self, event: Event) -> None:
        match event:
            case ClientSessionChanged(session=session):
                self._joined.add(session)
                self._book.spawn(self.refresh)
            case ClientDetached(client):
                self._left(client.decode("utf-8", "replace"))
            case SessionChanged():  # a new connection to the same server: it subscribed to nothing
                self._subscribed = False
                self._book.spawn(self.refresh)
            case SubscriptionChanged(name, value=value) if name == _NAME.encode():
                self._compare(value)
            case _:
                pass

    async def refresh(self) -> None:
        """Learn who is attached; some may have been so before us."""
        gone = self._gone = set()
        joined = set(self._joined)  # before the question: the answer has their time
        try:
            rows, fronts = await self._server.client.ask(CLIENTS, ("display-message", "-p", _FRONT))
        except MuxwireError:
            return  # the connection is gone, and with it every client
        now = _read(fronts[0])
        self._fronts |= {session: now[session] for session in joined & now.keys()}
        self._joined -= joined
        before, self._attached = self._attached, set()
        for row in clients_of(rows):
            if row.control or row.name in gone:
                continue  # another muxwire is no person; a client in `gone` left after the answer
            self._attached.add(row.name)
            if row.name not in before:
                name = self._server.sessions.name(row.session, row.session_name)
                self._book.events.record("client_attached", "", client=row.name, session=name)
        self._subscribe_as_needed(fronts[0])
        if self._attached and not self._shows and self._server.access.role == "owner":
            self._shows = True
            self._book.spawn(self._show_work)

    async def _show_work(self) -> None:
        """Have the status line of attached people say what the agent does, for as long as there are any."""
        try:
            while self._attached and not self._server.client.closed:
                if (words := doing(self._book)) != self._shown:
                    self._shown = words
                    with suppress(ConnectionClosed):
                        self._server.client.submit(("set-option", "-s", DOING, words))
                end = self._book.events.end
                # No event says that a program or an agent waits: what it does is examined again after a second.
                with anyio.move_on_after(_WORK_SECONDS):
                    await self._book.events.wait(end, _WORK, 1)
        finally:
            self._shows = False

    def _left(self, client: str) -> None:
        self._attached.discard(client)
        self._gone.add(client)
        self._subscribe_as_needed(b"")

    def _subscribe_as_needed(self, fronts: bytes) -> None:
        needed = self._book.attended = bool(self._attached)
        if needed == self._subscribed:
            return
        self._subscribed, self._fronts = needed, _read(fronts)
        with suppress(ConnectionClosed):
            self._server.client.submit(("refresh-client", "-B", f"{_NAME}::{_FRONT}" if needed else _NAME))

    def _compare(self, value: bytes) -> None:
        """A key was pressed somewhere, or another pane is in front."""
        before, self._fronts = self._fronts, _read(value)
        for session, front in self._fronts.items():
            known = before.get(session)
            if known is None or session in self._joined or not front.has_key_since(known):
                continue
            for tab in self._book.open.values():
                if tab.pane_id == front.pane:
                    running = tab.pane.session.running
                    during = {"command_id": running.command_id} if running is not None else {}
                    tab.pane.use.note()
                    self._book.events.record("human_input", tab.key, how="keys", **during)
                    if tab.events is not None:
                        tab.events.person_typed = True


def doing(book: TabBook) -> str:
    """What the agent does now, and what it waits for, in one line; "" for nothing."""
    tab = book.open.get(book.latest)
    running = tab.pane.session.running if tab is not None else None
    if tab is None or running is None:
        return book.awaited
    first = (running.command.decode("utf-8", "replace").splitlines() or [""])[0][:DOING_CHARS]
    # `#[` begins a style in a status line (tmux(1) STYLES).
    words = "".join(sign if sign.isprintable() else "?" for sign in first).replace("#", "")
    if running.asked_at == tab.pane.stream.shown_end:
        return f"{tab.key} waits for {running.asked_for}: {words}"
    return f"{tab.key} runs {words}"


def _read(value: bytes) -> dict[str, _Front]:
    *rows, prefix = value.decode("utf-8", "replace").split("/")
    prefixed, _, second = prefix.partition(" ")
    fronts = {}
    for row in rows:
        session, activity, pane, in_mode = row.split(" ")
        for_tmux = session == prefixed and int(activity) - int(second) <= _PREFIX_SECONDS
        fronts[session] = _Front(activity, pane, in_mode != "0", for_tmux)
    return fronts


# tmux gives a program its new size within 0.25 s, and only one size of several that follow each other.
RESIZE_SECONDS = 0.5


def follow(event: Event, book: TabBook) -> None:
    match event:
        # tmux to 3.7 reports a window that ended as %unlinked-window-close, from 3.8 on as %window-close, which is also
        # said when only another session unlinks it. And its last pane may have been moved. So tmux is asked.
        case WindowClose(window) | UnlinkedWindowClose(window) if not all(tab.end_reason for tab in book.panes(window)):
            book.spawn(lambda: look_up(book))
        case WindowRenamed(window, name) | UnlinkedWindowRenamed(window, name):
            for tab in book.panes(window):
                tab.was_renamed(name.decode("utf-8", "replace"))
                if tab.name != tab.window_id:
                    tab.keep_name(tab.name)
                book.renamed(tab)
        case SessionChanged():  # a new connection: what the last one was to report does not come
            book.shown_by_us.clear()
        case SessionWindowChanged(session, window) if (session, window) in book.shown_by_us:
            book.shown_by_us.remove((session, window))
        # Not in a person's own session (`muxwire attach`): what is selected there is the person's choice.
        case SessionWindowChanged(session, window) if shown := book.panes(window):
            if not shown[0].is_split and any(tab.session_id == session for tab in book.open.values()):
                book.latest = shown[0].key
        case SessionRenamed(session, name):
            for tab in book.open.values():
                if tab.session_id == session:
                    tab.session = name.decode("utf-8", "replace")
        case LayoutChange(window):
            _resize(book.panes(window), event.sizes, book)
        case ClientDetached():
            restore_sizes(book.open.values())
        case _:
            pass


def _resize(tabs: Sequence[Tab], sizes: Mapping[str, tuple[int, int]], book: TabBook) -> None:
    for tab in tabs:
        size = sizes.get(tab.pane_id)
        if size is None:
            continue
        if size[0] != tab.columns:
            book.spawn(partial(_forget_prompts, tab))
        tab.was_resized(*size)
    if sizes and any(tab.pane_id not in sizes and not tab.end_reason for tab in tabs):
        # A person split the window and closed our half, or moved it: tmux says it in no other way.
        book.spawn(lambda: look_up(book))


async def _forget_prompts(tab: Tab) -> None:
    """A prompt that wraps ends elsewhere now. What is learned before the program knows its new size is wrong too."""
    for wait in (0.0, RESIZE_SECONDS):
        await anyio.sleep(wait)
        tab.pane.prompts.forget()


async def look_up(book: TabBook) -> None:
    """Bring the book up to date: the window and the size of every pane, and which panes are gone."""
    known = list(book.open.values())
    if not known:
        return
    try:
        rows = panes_of(await known[0].client.command(*PANES))
    except (CommandError, ConnectionClosed):
        return  # the server is gone: all of its tabs are retired where the end of the connection is handled
    noted = {row.window: row.first for row in rows if row.first}
    before = {tab.window_id for tab in known}
    settle(book, known, {row.pane: row.window for row in rows}, noted)
    await _learn_names(book, [tab for tab in known if tab.window_id not in before and book.open.get(tab.key) is tab])
    sizes = {row.pane: row.size for row in rows}
    for tab in known:
        if tab.pane_id in sizes:
            tab.was_resized(*sizes[tab.pane_id], reported=False)


async def _learn_names(book: TabBook, moved: Sequence[Tab]) -> None:
    """Ask tmux for the names of the windows that panes were moved to: it may have reported them before the move."""

    def named(window: str, asked: Pending) -> None:
        if not asked.failed and asked.blocks[-1].output:
            for tab in book.panes(window):
                tab.name = printed_name(panes_of(asked.blocks[-1].output)[0].window_name)

    for tab in moved:
        with suppress(CommandError, ConnectionClosed):
            (asked,) = tab.client.submit(("list-panes", "-t", tab.window_id, "-F", PANE_FORMAT))
            asked.then(partial(named, tab.window_id, asked))  # the reader calls it, before what tmux reports next
            await asked.wait()


# Which pane of a window goes by the window's id, `@N`; the others go by their own, `%M`. Every process decides the same
# from the panes that there are, from the log that is named after the window alone (that of the pane that the window was
# made with), and from a window option that is set when another pane takes the id (`FIRST_OPTION`).


def pane_of_window(inside: Collection[str], first: str | None, running: Collection[str]) -> str | None:
    """The pane that goes by a window's id: `first`, or if that was moved away, the one that was made before the others.

    `inside` are the panes of the window, `first` is the one that went by its id so far, None if none did, and `running`
    are those of all windows. None if `first` has ended: `@N` still names its log, and callers may read on from there.
    """
    if first in inside:
        return first
    if first is not None and first not in running:
        return None
    return min(inside, key=lambda pane: int(pane[1:]), default=None)


def settle(book: TabBook, known: list[Tab], windows: Mapping[str, str], noted: Mapping[str, str]) -> None:
    """`windows` says in which window each pane is; a tab of `known` that it does not name is gone.

    `noted` has the first pane of windows where tmux stores one (`FIRST_OPTION`): another process may have set it.
    """
    changed = {window for window, first in noted.items() if first != book.first.get(window)}
    names = {tab.window_id: tab.name for tab in known}
    for tab in known:
        if book.open.get(tab.key) is not tab:
            continue  # closed, or moved by another client, while tmux was asked
        window = windows.get(tab.pane_id)
        if window is None:
            tab.lost("its pane was closed" if tab.window_id in windows.values() else "the window was closed")
        elif window != tab.window_id:
            changed |= {window, tab.window_id}
            book.rename_key(tab, window=window, is_split=True)
            tab.name = names.get(window, tab.name)
    for window in changed:
        inside = {tab.pane_id: tab for tab in book.panes(window) if windows.get(tab.pane_id) == window}
        first = pane_of_window(inside, noted.get(window, book.first.get(window)), windows)
        # The one that takes the id comes last: another one gives it up before.
        for tab in sorted(inside.values(), key=lambda one: one.pane_id == first):
            if tab.is_split == (tab.pane_id == first):
                book.rename_key(tab, window=window, is_split=tab.pane_id != first)
                _note_first(tab, noted)
        if not book.panes(window):
            book.first.pop(window, None)


def give_ids(book: TabBook, tabs: Sequence[Tab], noted: Mapping[str, str]) -> None:
    """Say of panes that were found, and are in no book yet, which of them go by the ids of their windows."""
    running = {tab.pane_id: tab for tab in (*book.open.values(), *tabs)}
    made_with = {tab.log_path.name: tab.pane_id for tab in running.values()}
    for window in {tab.window_id for tab in tabs}:
        log = tabs[0].log_path.with_name(f"pane-{window}.log")
        known = noted.get(window) or book.first.get(window) or made_with.get(log.name)
        if known is None and log.exists():
            known = ""  # that pane has ended, and this process never knew its id
        inside = {pane: tab for pane, tab in running.items() if tab.window_id == window}
        first = pane_of_window(inside, known, running)
        if first is None:
            book.first[window] = known or ""
        for tab in tabs:
            if tab.window_id == window:
                tab.is_split = tab.pane_id != first
                _note_first(tab, noted)


def _note_first(tab: Tab, noted: Mapping[str, str]) -> None:
    """Store in tmux that this pane goes by its window's id, if it does and other processes could not tell."""
    known, server = noted.get(tab.window_id, ""), tab.server
    if tab.is_split or known == tab.pane_id or not server.lists_records or server.access.role == "adopted":
        return
    if not known and tab.log_path.name == f"pane-{tab.window_id}.log":
        return
    with suppress(ConnectionClosed):  # the next process decides as we did
        tab.client.submit(("set-option", "-w", "-t", tab.window_id, FIRST_OPTION, tab.pane_id))


def restore_sizes(tabs: Iterable[Tab]) -> None:
    """Give tabs their own size back: tmux leaves a window that no client shows as small as a person's terminal was.

    Where a client shows it, tmux gives it that client's size again at once.
    """
    for tab in tabs:
        if tab.columns != COLUMNS and not tab.sized:
            with suppress(ConnectionClosed):  # people leave when the server ends, too
                tab.client.submit(
                    ("resize-window", "-t", tab.window_id, "-x", str(COLUMNS), "-y", str(ROWS)),
                    # resize-window also makes the size a fixed one; the next person's terminal shall set it again.
                    ("set-option", "-w", "-u", "-t", tab.window_id, "window-size"),
                )
