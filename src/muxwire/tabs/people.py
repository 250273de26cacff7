"""People at our server: who is attached, in which tab they press keys, and what their status line says of the agent.

tmux reports to a control client that another client shows a session, never what a person types there. What it does
know is `session_activity` (tmux(1), FORMATS): the second of the last key that a person pressed in a session; nothing
that we send moves it. A subscription has tmux compare it once a second, only while a client is attached, and tell us
when it moves. So a person's key is known within about a second, with the tab that was in front of them then, but not
which key it was. Keys for tmux itself are not counted: those in the second of the prefix key (`PREFIX_PRESSED`) or the
next one, in copy mode, or while another pane came to the front. Other input that tmux takes (the mouse, a menu, a key
long after the prefix) counts, and so does a terminal's report of focus where that is asked for. A line that a shell
accepted is known exactly (tab_events.py).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import ConnectionClosed, MuxwireError
from muxwire.protocol.events import (
    ClientDetached,
    ClientSessionChanged,
    SessionChanged,
    SubscriptionChanged,
)
from muxwire.tabs.event_log import EventFilter
from muxwire.tmux.rows import CLIENTS, ClientRow
from muxwire.tmux.status_line import DOING, DOING_CHARS, PREFIX_PRESSED
from muxwire.vt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import TmuxServer


# Seconds between two updates of what the agent does, while a person is attached: as often as tmux reports their keys.
_WORK_SECONDS = 1.0
_WORK = EventFilter.checked((), ("command_started", "command_finished", "tab_closed"))

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
        self._sizes_are_ours = False
        self._shows = False  # whether the status line is kept up to date now

    def follow(self, event: Event) -> None:
        match event:
            case ClientSessionChanged(session=session):
                self._joined.add(session)
                self._book.spawn(self.refresh)
            case ClientDetached(client):
                name = client.decode("utf-8", "replace")
                self._attached.discard(name)
                self._gone.add(name)
                self._subscribe_as_needed(b"")
            case SessionChanged():  # a new connection to the same server: it subscribed to nothing
                self._subscribed = self._sizes_are_ours = False
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
        clients = list(map(ClientRow.parse, rows))
        for row in clients:
            if row.control or row.name in gone:
                continue  # a program is no person; a client in `gone` left after the answer
            self._attached.add(row.name)
            if row.name not in before:
                name = self._server.host.prefix + self._server.sessions.name(row.session, row.session_name)
                self._book.events.record("client_attached", "", client=row.name, session=name)
        self._leave_sizes_to([row for row in clients if row.name in self._attached])
        self._subscribe_as_needed(fronts[0])
        if self._attached and not self._shows and self._server.access.role == "owner":
            self._shows = True
            self._book.spawn(self._show_work)

    def _leave_sizes_to(self, people: Sequence[ClientRow]) -> None:
        """People's terminals set the sizes of tabs, unless all of them have ignore-size; then ours does.

        Where every client of a server has that flag tmux heeds none of them, and the last one to attach sets the size.
        """
        ours = bool(people) and all("ignore-size" in row.flags for row in people)
        if ours != self._sizes_are_ours and self._server.access.role == "owner":
            self._sizes_are_ours = ours
            with suppress(ConnectionClosed):
                self._server.client.submit(("refresh-client", "-f", "!ignore-size" if ours else "ignore-size"))

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

    def _subscribe_as_needed(self, fronts: bytes) -> None:
        needed = bool(self._attached)
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
    tab = book.open.get(book.latest())
    running = tab.pane.session.running if tab is not None else None
    if tab is None or running is None:
        return next(reversed(book.awaited.values()), "")
    first = (running.command.decode("utf-8", "replace").splitlines() or [""])[0][:DOING_CHARS]
    # `#[` begins a style in a status line (tmux(1) STYLES).
    words = one_line(first).replace("#", "")
    if running.waits_at(tab.pane.stream.shown_end):
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
