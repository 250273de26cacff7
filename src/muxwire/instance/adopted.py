"""A tmux server that a person runs: its windows as tabs, and nothing of it changed.

Every window is a tab, with its active pane at the time it was found. Their shells have no hooks of muxwire, so commands
run as in any shell that muxwire did not start (shell/listener.py): the kernel says which process reads, and what is
typed is the path of a file that holds the command.

Windows that muxwire makes there have hooks, as in other instances. They are known by the label among the arguments of
their first process, and end with this process, however that ends (client/watchdog.py).
"""

from __future__ import annotations

import os
import secrets
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client import client as patience
from muxwire.client.client import ControlClient
from muxwire.client.liveness import Watchdog
from muxwire.client.transport import TmuxProcess, clean_environment
from muxwire.errors import (
    CommandError,
    ConnectionClosed,
    InstanceUnavailable,
    InvalidArgument,
    NoSuchTarget,
    TmuxSilent,
    TmuxUnavailable,
    remedy_for,
)
from muxwire.ids import pane_id
from muxwire.instance.connect import watch_end
from muxwire.instance.reattach import RunningPane, notice_lost_end, reattach_panes
from muxwire.logs.store import LogStore
from muxwire.pane.state import end_of
from muxwire.protocol.escaping import DOLLAR_VERSION, undo_dollars
from muxwire.tabs.maker import PANE_FORMAT, PanePlace, TabMaker, listen_again
from muxwire.tabs.record import TabRecord
from muxwire.tmux.program import program_for, read_version, server_runs
from muxwire.tmux.server import Sessions, TmuxServer
from muxwire.tmux.start import silent_server
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from anyio.abc import TaskGroup, TaskStatus

    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.instance.connect import Wrap
    from muxwire.pane.state import PaneState
    from muxwire.protocol.events import Event
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import Access
    from muxwire.verbs.catalogue import CreateTab


# Our connection to one session of a person's tmux server: there while a call needs it, gone in between.
#
# A control client hears the panes of the session that it is attached to, and while it is attached tmux reads these
# panes whatever other control clients do (iTerm2 relies on the opposite); and to attach clears the alert of the
# session's current window. So a link rests until a tab of its session is used, and stays no longer than that call, or
# what it has left running: a command, or the program of a line that was typed. It is attached with `ignore-size` and
# `-E`: no size, no variable and no option changes, and a session's current window stays.

# Calls often follow each other within milliseconds: a link stays attached for so long after a call.
LINGER_SECONDS = 0.2
_GONE = "its session is gone"
_AWAY = "muxwire is attached to a person's server only while a call needs it"


@final
class Link:
    """The connection to one session; made by `open_link`."""

    def __init__(self, process: TmuxProcess, argv: tuple[str, ...], session: str, book: TabBook) -> None:
        self.session = session
        self.client: ControlClient
        self.server: TmuxServer  # the session, as a server with a hub of its own; set by `server_of`
        self.process = process
        self._argv = argv
        self._book = book
        self._calls = 0
        self._resting = True  # until it is used for the first time
        self._gone = False
        self._heard: set[str] = set()  # the panes that were there when it was last attached
        self._wanted = anyio.Event()
        self._back = anyio.Event()

    @property
    def up(self) -> bool:
        """Whether it is attached now, and is going to stay."""
        return not self._resting and not self.client.closed

    async def end(self) -> None:
        self._gone = True
        self._wanted.set()
        await self.client.wait_closed()

    @asynccontextmanager
    async def used(self) -> AsyncIterator[None]:
        """Be attached for as long as the block lasts; ConnectionClosed if the session is gone, TmuxSilent."""
        self._calls += 1
        try:
            if self._resting:
                self._wanted.set()
                with anyio.move_on_after(patience.ANSWER_SECONDS):  # a stopped tmux does not detach us
                    await self._back.wait()
                if not self._back.is_set():
                    raise self.client.patience.explain()
            if self.client.closed:
                raise ConnectionClosed(self.client.close_reason)
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._book.spawn(self._rest)

    async def _rest(self) -> None:
        """Detach from the session, unless another call comes or a command of muxwire still runs."""
        await anyio.sleep(LINGER_SECONDS)
        # Look through all tabs again after each wait: another command may have been left running meanwhile.
        while not self._calls and (tab := self._left_running()) is not None:
            running = tab.pane.session.running
            await (end_of(running).wait() if running is not None else _typed_line(tab.pane))
        if self._calls or self._resting or self.client.closed:
            return
        self._resting, self._wanted, self._back = True, anyio.Event(), anyio.Event()
        with suppress(ConnectionClosed):
            self.client.submit(("detach-client",))

    def _tabs(self) -> list[Tab]:
        return [tab for tab in self._book.open.values() if tab.session_id == self.session]

    def _left_running(self) -> Tab | None:
        return next((tab for tab in self._tabs() if tab.pane.session.running is not None or tab.pane.entered), None)

    async def reconnect(self, reason: str) -> str:
        """Wait until a call needs the connection, and open it; return "" then, else why there is none."""
        if not self._resting:
            self._back.set()
            return reason
        await self._wanted.wait()
        if self._gone:
            self._back.set()
            return _GONE
        try:
            await self.process.restart(self._argv)
        except TmuxUnavailable as error:
            self._back.set()
            return str(error)
        return ""

    def on_reconnected(self) -> None:
        for tab in self._tabs():
            if tab.next_byte or tab.pane_id in self._heard:
                expect_gap(tab)
        self._heard = {tab.pane_id for tab in self._tabs()}
        self._resting = False
        self._back.set()
        if not self._calls:  # the call that wanted it was cancelled meanwhile
            self._book.spawn(self._rest)


async def _typed_line(pane: PaneState) -> None:
    """Wait a little, and note in `pane.entered` whether the line that a call typed at the shell may still run.

    It has ended once the shell waits for keys again; what a person starts after that does not count. While a program
    is in front, output is waited for (a prompt follows its end), and a program that writes much is not examined more
    often than every LINGER_SECONDS.
    """
    if pane.program_in_front():
        await pane.stream.changed()
        await anyio.sleep(LINGER_SECONDS)
    else:  # its last output may be on its way, or the shell may not have begun the line
        await anyio.sleep(LINGER_SECONDS)
        pane.entered = pane.program_in_front() or not pane.host.sleeps_for_keys(pane.session.shell_pid, polls=True)


def expect_gap(tab: Tab) -> None:
    """Put a gap before what the pane writes next; a pane that stays silent gets none."""

    def feed(data: bytes) -> None:
        listen_again(tab, reason=_AWAY)
        tab.pane.stream.feed(data)

    tab.client.attach_pane(pane_id(tab.pane_id), feed)


@asynccontextmanager
async def open_link(
    tmux: str,
    socket: str,
    session: str,
    environ: Mapping[str, str],
    *,
    store: LogStore,
    book: TabBook,
    on_notification: Callable[[Event], None],
    away: Callable[..., Awaitable[tuple[bytes, ...]]],
    wrap: Wrap | None = None,
) -> AsyncIterator[Link]:
    """A link to a session of a server that runs; `away` asks that server while the link rests. TmuxUnavailable."""
    # -N: starts no server. -E: the session's environment stays as it is.
    argv = (tmux, "-u", "-N", "-S", socket, "-C", "attach-session", "-E", "-f", "ignore-size", "-t", session)
    process = TmuxProcess(argv, socket=socket, env=clean_environment(environ), ephemeral=False, cwd="/", starts=False)
    link = Link(process, argv, session, book)
    link.client = ControlClient(
        wrap(process) if wrap else process,
        on_notification=on_notification,
        on_chunk=store.flush_soon,
        reconnect=link.reconnect,
        on_reconnected=link.on_reconnected,
        attaches=True,
        away=away,
    )
    async with link.client, anyio.create_task_group() as tasks:
        tasks.start_soon(process.watchdog.keep)
        yield link
        tasks.cancel_scope.cancel()


_SESSIONS = ("list-sessions", "-F", "#{session_id} #{session_attached} #{version}")
_WHICH_SOCKET = "in that tmux, `tmux display-message -p '#{socket_path}'` prints the path of its socket"
_PANES = (
    f"{PANE_FORMAT} #{{session_id}} #{{pane_active}} #{{pane_dead}}"
    " |#{window_name} |#{session_name} |#{pane_current_path} |#{pane_start_command}"
)
_GAP = " |"


@final
@dataclass(frozen=True, slots=True)
class _Row:
    place: PanePlace
    session_id: str
    name: str
    session: str
    cwd: str
    command: str


@final
class _Questions:
    """What the server at one socket is asked without being attached to it: each question is a `tmux` of its own."""

    def __init__(self, socket: Path, host: Host) -> None:
        self.version = (0, 0)  # of the server, once it is known
        self._socket = socket
        self._host = host

    @property
    def tmux(self) -> str:
        return program_for(self._host.listening_pid(self._socket), self._host)

    def silent(self) -> TmuxSilent:
        return silent_server(
            self._host, self._host.listening_pid(self._socket) or 0, "the person who runs this server has to check it"
        )

    async def ask(self, *command: str | bytes) -> tuple[bytes, ...]:
        """The lines of tmux's answer; CommandError, TmuxSilent, TmuxUnavailable, ConnectionClosed if it has ended."""
        # -u: else a client without a terminal gets underscores for what is not ASCII. -N: starts no server.
        argv = [self.tmux, "-u", "-N", "-S", str(self._socket), *command]
        try:
            with anyio.fail_after(patience.ANSWER_SECONDS):
                answer = await anyio.run_process(argv, check=False, env=clean_environment(self._host.environ))
        except TimeoutError:
            raise self.silent() from None
        except OSError as error:
            raise TmuxUnavailable(f"cannot start tmux: {error.strerror or error}", remedy=remedy_for(error)) from error
        if answer.returncode:
            if not server_runs(self._host, self._socket):
                raise ConnectionClosed(f"there is no tmux server at {self._socket}")
            raise CommandError(str(command[0]), tuple(answer.stderr.splitlines()))
        lines = tuple(answer.stdout.splitlines())
        return undo_dollars(lines) if self.version == DOLLAR_VERSION else lines


@final
class Adopted:
    """A person's server, seen through one link for each of its sessions, which is up while a tab there is used.

    `open` is called again after the connection was lost; `aclose` closes the panes that muxwire made there.
    """

    def __init__(
        self,
        folders: Folders,
        host: Host,
        access: Access,
        book: TabBook,
        on_notification: Callable[[Event], None],
        wrap: Wrap | None = None,
    ) -> None:
        self.main: TmuxServer
        self._wrap_transport = wrap
        self._folders = folders
        self._host = host
        self._access = access
        self._book = book
        self._on_notification = on_notification
        self._store: LogStore
        self._questions = _Questions(folders.socket_path, host)
        self._links: dict[str, Link] = {}
        self._made: set[str] = set()  # the labels of the panes that we made
        self._watchdog: Watchdog | None = None  # there is one as soon as there is something to close
        self._tasks: TaskGroup
        self._linking = anyio.Lock()
        self._changing = anyio.Lock()  # of the tabs: two calls that see a new window at once must not both adopt it

    @asynccontextmanager
    async def open(self, on_end: Callable[[str], None]) -> AsyncIterator[TmuxServer]:
        """Find its sessions, attached to none; InstanceUnavailable if there is no server."""
        sessions = await self._sessions()
        self._folders.prepare()
        self._host.install(self._folders.shells)
        self._folders.make_logs(1)
        self._store = LogStore(home=self._folders.state / self._folders.instance)
        self._links = {}
        async with self._store, anyio.create_task_group() as self._tasks:
            self.main = await self.server_of(sessions[0])
            self._tasks.start_soon(watch_end, self.main.client, on_end)
            yield self.main
            self._tasks.cancel_scope.cancel()

    async def aclose(self, *, hurry: bool) -> None:
        """Close the panes that we made; the server may be gone, and the connection to it is not needed."""
        if self._watchdog is not None:
            if hurry:
                self._watchdog.hurry()
            await self._watchdog.aclose()

    async def _sessions(self) -> list[str]:
        socket = self._folders.socket_path
        try:
            rows = [line.decode("utf-8", "replace").split(" ") for line in await self._questions.ask(*_SESSIONS)]
        except TmuxSilent:
            raise
        except (CommandError, ConnectionClosed) as error:
            ended = error.reason if isinstance(error, ConnectionClosed) else ""
            raise InstanceUnavailable(
                ended or f"the tmux server at {socket} has no session: {error}", remedy=_WHICH_SOCKET
            ) from error
        if not rows:  # it has none, and runs on: `exit-empty off`
            raise self._without_session()
        self._questions.version = read_version(rows[0][2], self._host)
        # Sessions to which a client is attached come first: the tabs that a person uses are there.
        return [row[0] for row in sorted(rows, key=lambda row: row[1] == "0")]

    def _without_session(self) -> InstanceUnavailable:
        socket = self._folders.socket_path
        return InstanceUnavailable(f"the tmux server at {socket} has no session", remedy=_WHICH_SOCKET)

    async def _ask(self, *command: str | bytes) -> tuple[bytes, ...]:
        """Ask over a connection that is up already, else without one: to look is no reason to attach."""
        for link in [link for link in self._links.values() if link.up]:
            try:
                return await link.client.command(*command)
            except TmuxSilent:
                raise
            except ConnectionClosed:
                pass
        return await self._questions.ask(*command)

    async def server_of(self, session: str) -> TmuxServer:
        """The session as a server with a hub of its own, attached to while a tab in it is used."""
        async with self._linking:
            if session not in self._links or self._links[session].client.closed:
                link = self._links[session] = await self._tasks.start(self._hold_link, session)
                link.client.undoes_dollars = self._questions.version == DOLLAR_VERSION
                link.client.patience.explain = self._questions.silent
                sessions = Sessions(link.client, session, "", "")
                link.server = TmuxServer(
                    self._host, self._folders, link.process, link.client, self._questions.version, 1, self._store,
                    sessions, self._access,
                )  # fmt: skip
                link.server.attached = link.used
            return self._links[session].server

    async def _hold_link(self, session: str, *, task_status: TaskStatus[Link]) -> None:
        """A link's life, in a task of its own: the call that needed it first comes and goes."""
        async with open_link(
            self._questions.tmux,
            str(self._folders.socket_path),
            session,
            self._host.environ,
            store=self._store,
            book=self._book,
            on_notification=self._on_notification,
            away=self._ask,
            wrap=self._wrap_transport,
        ) as link:
            task_status.started(link)
            await link.client.wait_closed()
            # The person has detached us, or the session is gone: the next call finds anew what is left of it.
            await self._store.written()  # that call opens the logs again, each at its end
            reason = f"the connection to its session ended: {link.client.close_reason}"
            self._book.retire_all(reason, persistent=True, client=link.client)

    # -- tabs

    async def refresh(self) -> bool:
        """Have a tab for every window, and none for windows and panes that are gone.

        Return False if the first session is gone, or the server: the caller has to `open` again, which finds what is
        left. TmuxSilent.
        """
        async with self._changing:
            return not self.main.client.closed and await self._refresh()

    async def _refresh(self) -> bool:
        try:
            rows, panes, sessions = await self._rows()
        except TmuxSilent:
            raise
        except (CommandError, ConnectionClosed):
            rows, panes, sessions = {}, set(), set()
        for session in set(self._links) - sessions:
            await self._links[session].end()
        if self.main.client.closed:
            return False
        for tab in list(self._book.open.values()):
            row = rows.get(tab.window_id)
            if row is None or tab.pane_id not in panes:
                tab.lost("its pane was closed")
                continue
            tab.session = row.session
            if tab.pane_id == row.place.pane and tab.size != row.place.size:
                tab.was_resized(*row.place.size, reported=False)
            # Only a change of the shown name is a new name: of a name that muxwire gave, tmux shows a shortened form.
            if tab.shown_name not in (None, row.name):
                tab.name = row.name
            tab.shown_name = row.name
            # Its program has ended, and it was not closed then, since it was the only window of a session.
            if not tab.is_adopted and tab.pane.session.exit_status is not None:
                self._book.spawn(tab.reap)
        known = {tab.window_id for tab in self._book.open.values()}
        for window, row in rows.items():
            if window not in known:
                await self._adopt(row)
        return True

    async def _rows(self) -> tuple[dict[str, _Row], set[str], set[str]]:
        """The active pane of every window, and the ids of all panes that live and of all sessions."""
        rows: dict[str, _Row] = {}
        panes, sessions = set(), set()
        for line in await self._ask("list-panes", "-a", "-F", _PANES):
            ids, name, session, cwd, command = [*line.decode("utf-8", "replace").split(_GAP, 4), "", "", "", ""][:5]
            place = PanePlace.parse((ids.encode(),))
            window, pane = place.window, place.pane
            session_id, active, dead = ids.split(" ")[-3:]
            sessions.add(session_id)
            if dead == "1":
                continue
            panes.add(pane)
            if active == "1" and window not in rows:  # a window that is linked is listed for each session
                rows[window] = _Row(place, session_id, name, session, cwd, command)
        return rows, panes, sessions

    async def _adopt(self, row: _Row) -> None:
        server = await self.server_of(row.session_id)
        made = (TabRecord.load(self._folders.tab(word)) for word in row.command.split() if word in self._made)
        ours = next(made, None)
        record = ours or TabRecord(
            label=secrets.token_hex(8), nonce=secrets.token_hex(8), name=row.name, session=row.session, shell="",
            cwd=row.cwd, sized=True,
        )  # fmt: skip
        self._host.make_folder(self._folders.tab(record.label))
        pane = RunningPane(row.place, row.session_id, record, is_adopted=ours is None)
        (tab,) = await reattach_panes(server, self._book, [pane])
        if tab.next_byte:  # it was a tab before, until another client detached us: its output since then was not read
            expect_gap(tab)
        tab.shown_name = row.name
        if ours is not None:
            self._book.spawn(lambda: notice_lost_end(tab, "muxwire was detached", tab.next_byte))

    async def make(self, request: CreateTab) -> Tab:
        """Open a tab in the session of that name, or in the one where a person is; NoSuchTarget.

        No session is made: a person would find it among his own. InvalidArgument for a tab to be closed when unused:
        what happens in it between calls is not heard.
        """
        if request.idle_timeout:
            raise InvalidArgument(
                "muxwire is attached to a person's tmux server only during calls, so it cannot know that a tab there is"
                " unused",
                remedy="leave idle_timeout out, and close it with `close_tab`",
            )
        rows = await self._ask("list-sessions", "-F", "#{session_id} #{session_name}")
        names = dict(row.decode("utf-8", "replace").split(" ", 1) for row in rows)
        if not names:
            raise self._without_session()
        found = [session for session, name in names.items() if name == request.session]
        if request.session and not found:
            raise NoSuchTarget(
                f"there is no session {request.session!r}",
                remedy=f"use one of {', '.join(names.values())}, or make it: tmux new-session -d -s {request.session}",
            )
        session = found[0] if found else next((one for one in self._links if one in names), next(iter(names)))
        server = await self.server_of(session)
        server.sessions.hub_name = names[session]
        async with self._changing, server.attached():
            maker = TabMaker(server, self._book)
            tab = await maker.make(replace(request, session=""), self._coming())
            tab.sized = True  # the person's terminals say how large it is, as of every window there
            await self._refresh()
        return tab

    def _coming(self) -> str:
        """The label of a pane that is about to be made: whatever happens now, it is closed when we are gone."""
        if self._watchdog is None:
            self._watchdog = Watchdog(tmux=self._questions.tmux, socket=str(self._folders.socket_path), kind="adopted")
            self._book.spawn(self._watchdog.keep)
            for folder in self._folders.transient:
                self._watchdog.watch_folder(str(folder))
        label = secrets.token_hex(8)
        self._made.add(label)
        self._watchdog.watch_made(label)
        return label


def socket_of(name: str, environ: Mapping[str, str]) -> Path:
    """The socket of the server that `tmux -L NAME` talks to (tmux(1), -L)."""
    return Path(environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}" / name  # noqa: S108 - as tmux has it
