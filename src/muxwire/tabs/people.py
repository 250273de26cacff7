"""People at our server: who is attached, and in which tab they press keys.

tmux reports to a control client that another client shows a session, never what somebody types there. What it does know
is `session_activity` (tmux(1), FORMATS): the second of the last key that a person pressed in a session; nothing that we
send moves it. A subscription has tmux compare it once a second, only while somebody is attached, and tell us when it
moves. So a person's key is known within about a second, with the tab that was in front of them then, but not which key
it was: one that tmux itself takes (its prefix, a menu) counts too, as does a terminal's report of focus where that is
asked for. Keys in copy mode do not count. A line that a shell accepted is known exactly (tab_events.py).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, final

from muxwire.errors import ConnectionClosed, MuxwireError
from muxwire.protocol.events import ClientDetached, ClientSessionChanged, SessionChanged, SubscriptionChanged
from muxwire.values import dataclass

if TYPE_CHECKING:
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tmux.server import TmuxServer

_NAME = "muxwire-people"
# Of every session: its last key, and the pane that is shown to whoever is attached. No comma between them: what
# stands after one is used for our own session, since tmux 3.6.
_FRONT = "#{S:#{session_id} #{session_activity} #{pane_id} #{pane_in_mode}/}"
_CLIENTS = ("list-clients", "-F", "#{client_control_mode} #{session_id} #{client_name} #{session_name}")


@final
@dataclass(frozen=True, slots=True)
class _Front:
    activity: str
    pane: str
    in_mode: bool


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

    def follow(self, event: Event) -> None:
        match event:
            case ClientSessionChanged():
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
        try:
            rows, fronts = [
                await answer.wait()
                for answer in self._server.client.submit(_CLIENTS, ("display-message", "-p", _FRONT))
            ]
        except MuxwireError:
            return  # the connection is gone, and with it everybody
        before, self._attached = self._attached, set()
        for row in rows:
            control, session, client, shown = row.decode("utf-8", "replace").split(" ", 3)
            if control == "1" or client in gone:
                continue  # another muxwire is no person; nor is one who left after the answer
            self._attached.add(client)
            if client not in before:
                name = self._server.sessions.name(session, shown)
                self._book.events.record("client_attached", "", client=client, session=name)
        self._subscribe_as_needed(fronts[0])

    def _left(self, client: str) -> None:
        self._attached.discard(client)
        self._gone.add(client)
        self._subscribe_as_needed(b"")

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
            if known is None or known.activity == front.activity or front.in_mode or known.in_mode:
                continue
            for tab in self._book.open.values():
                if tab.pane_id == front.pane:
                    running = tab.pane.session.running
                    during = {"command_id": running.command_id} if running is not None else {}
                    tab.pane.use.note()
                    self._book.events.record("human_input", tab.key, how="keys", **during)


def _read(value: bytes) -> dict[str, _Front]:
    fronts = {}
    for row in value.decode("utf-8", "replace").split("/")[:-1]:
        session, activity, pane, in_mode = row.split(" ")
        fronts[session] = _Front(activity, pane, in_mode != "0")
    return fronts
