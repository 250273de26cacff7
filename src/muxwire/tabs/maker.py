"""How a tab comes to be: a checked request, one `new-window`, a stream that misses no byte."""

from __future__ import annotations

import errno
import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, InvalidArgument, MuxwireError, NotPermitted, TmuxSilent
from muxwire.host.environment import check_size, check_text, checked_environment, whole_setting
from muxwire.ids import pane_id
from muxwire.logs.segments import UNKNOWN_SIZE
from muxwire.pane.keyboard import Keyboard
from muxwire.pane.runner import Runner
from muxwire.pane.state import PaneState
from muxwire.pane.stream import RING_CAPACITY, RING_MIN, PaneStream
from muxwire.shell import Shell, supervisor_argv
from muxwire.tabs.log_access import log_names
from muxwire.tabs.record import CommandBook, TabRecord, kept_log_name, shown_name
from muxwire.tabs.tab import Tab
from muxwire.tabs.targets import check_tab_name
from muxwire.tmux.rows import PANE_FORMAT, RECORD_OPTION, PaneRow
from muxwire.tmux.sessions import checked_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from muxwire.host.host import Host
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.seat import Seat
    from muxwire.tmux.server import TmuxServer
    from muxwire.verbs.catalogue import TabRequest


# What shells are called that may open no file with a slash in its path: RESTRICTED SHELL in bash(1), zsh(1), ksh(1).
_RESTRICTED = ("rbash", "rzsh", "rksh", "rksh93")


def checked_request(host: Host, asked: TabRequest) -> TabRequest:
    """What `create_tab` was asked for, checked, with what it leaves to the machine filled in; InvalidArgument."""
    check_text(asked.name, "name")
    if "\0" in asked.name:
        raise InvalidArgument("the name contains a NUL byte", remedy="leave it out")
    check_tab_name(asked.name)
    if asked.size is not None:
        check_size(asked.size)
    if any("\0" in word for word in asked.command):
        raise InvalidArgument("command must be a list of words without NUL", remedy='for example ["python3", "-q"]')
    program = host.checked_program(asked.command[0], "command") if asked.command else ""
    shell = host.checked_program(asked.shell, "shell") if asked.shell else host.default_shell()
    if not program and PurePath(shell).name in _RESTRICTED:
        raise InvalidArgument(
            f"{shell} is a restricted shell: it may not read muxwire's files, so no command can be run in it",
            remedy="name another shell (`shell`, --shell)",
        )
    cwd = str(host.checked_folder(asked.cwd, "")) if asked.cwd else host.own_folder()
    if not host.is_folder(cwd):  # a shell would begin in another one, where `rm -rf ./*` means other files
        raise InvalidArgument(
            f"the directory in which this was called was removed, or may not be entered{cwd and f': {cwd}'}",
            remedy="change to another one, or first open a tab in another one, by `create_tab` (`cwd`, --cwd)",
        )
    return replace(
        asked,
        cwd=cwd,
        env={**host.brought, **checked_environment(asked.env)},
        shell=shell,
        command=(program, *asked.command[1:]) if program else (),
        session=checked_session(asked.session) if asked.session else "",
    )


_FULL = os.strerror(errno.EMFILE)
# The first tmux that does not crash when a window is made while the global option window-size is `manual`.
_MANUAL_SIZE_WORKS = (3, 7)


@final
@dataclass(frozen=True, slots=True)
class PaneSpec:
    """A pane that is about to be made: what will run in it. Its directory holds what the pane's shell reads."""

    record: TabRecord
    folder: Path
    argv: tuple[str, ...]
    env: Mapping[str, str]
    size: tuple[int, int] | None  # columns and rows, if it is to have others than tmux gives it
    connections: int  # how often the connection was regained before


@final
class TabMaker:
    """Makes tabs on one server. InvalidArgument for a setting that is no number."""

    def __init__(self, server: TmuxServer, book: TabBook, seat: Seat | None = None) -> None:
        """What is made is the tab that `seat` used last."""
        self.server = server
        self._seat = seat
        self._host = server.host
        self._book = book
        settings = self._host.settings
        self._tabs_max = whole_setting(settings, "MUXWIRE_TABS", 0)
        self._ring = whole_setting(settings, "MUXWIRE_RING_BYTES", RING_CAPACITY, RING_MIN)

    async def make(self, request: TabRequest, label: str, *, patient: bool = False) -> Tab:
        """Open the window and hand back its tab; CommandError if tmux refused.

        TmuxSilent if it does not answer, unless the caller is `patient`; what it makes later is a tab all the same.
        NotPermitted where a person's tmux would crash.
        """
        if self.server.access.role == "adopted" and self.server.version < _MANUAL_SIZE_WORKS:
            (window_size,) = await self.server.client.command("show-options", "-gwv", "window-size")
            if window_size == b"manual":
                raise NotPermitted(
                    "this tmux crashes when a window is made while the global option window-size is manual",
                    remedy="run `tmux set-option -gw window-size latest`, or use tmux 3.7",
                )
        spec = self.prepare(request, label)
        hub, name = f"{self.server.sessions.hub}:", window_name(request.name) or Path(spec.argv[0]).name
        new_window = ("new-window", "-d", "-P", "-F", PANE_FORMAT, "-t", hub, "-n", name)
        try:
            made = _Made(self, spec, (*new_window, *self._what_runs(spec)))
            # A window that is in no book would live for ever: from here on it is made whole or not at all.
            with anyio.CancelScope(shield=True):
                if not patient:
                    await made.asked.wait()
                tab = await self._placed(made, request)
        except TmuxSilent:
            if not made.asked.done:
                self._book.spawn(lambda: self._late(made, request))
            raise
        except BaseException as error:
            self.discard(spec)
            if isinstance(error, CommandError) and _FULL in str(error):  # its limit is that of who started it
                error.remedy = (
                    "this tmux server has as many files open as it may: close tabs, or end the server, raise "
                    "`ulimit -n`, and start it again"
                )
            raise
        return tab

    async def _placed(self, made: _Made, request: TabRequest) -> Tab:
        """The tab of the window that tmux was asked for, once it is there and has its size and its session."""
        tab = await made.tab()
        try:
            tab.session_id = await self._place(request, tab.window_id)
        except TmuxSilent:
            raise
        except MuxwireError as error:
            tab.lost(f"tmux could not give it its size and its session: {error}")
            await self.server.kill_window(tab.window_id)
            raise
        finally:
            self.close_at_end(tab)  # not before: a window that is gone can be neither resized nor linked
        return tab

    async def _late(self, made: _Made, request: TabRequest) -> None:
        """Finish a tab whose call was given up while tmux did not answer."""
        try:
            await self._placed(made, request)
        except TmuxSilent:
            raise
        except MuxwireError:
            self.discard(made.spec)

    def prepare(self, request: TabRequest, label: str, *, is_split: bool = False) -> PaneSpec:
        """Put in place what a new pane's shell will read; nothing is sent. InstanceUnavailable, NotPermitted."""
        self.check_room()
        folder, nonce = self.server.folders.tab(label), os.urandom(8).hex()
        self.server.mend_folders()
        self._host.make_folder(folder)
        try:
            shell, argv, env = self._program(request, folder, nonce)
            record = TabRecord(
                label=label,
                nonce=nonce,
                name=request.name,
                session=request.session or self.server.sessions.hub_name,
                shell=(request.shell or "") if shell is not None else "",
                cwd=os.fspath(request.cwd),
                sized=request.size is not None,
                is_split=is_split,
                strip_ansi=request.strip_ansi,
                idle_timeout=request.idle_timeout,
                created=time.time(),
            )
            # Before the window is made: a process that is notified of the window can then read its record.
            if self.server.access.persistent:  # for a later process
                record.save(self.server.make_record_folder(label))
        except BaseException:
            self._host.remove_folder(folder)
            raise
        self._book.coming.add(label)
        return PaneSpec(record, folder, argv, env, request.size, self.server.client.connections)

    def discard(self, spec: PaneSpec) -> None:
        """It was not made: leave nothing."""
        self._book.coming.discard(spec.record.label)
        self._host.remove_folder(spec.folder)

    def _what_runs(self, spec: PaneSpec) -> tuple[str, ...]:
        """How new-window and split-window are told what to run."""
        record, host = spec.record, self._host
        cwd, argv = host.start(spec.folder, record.cwd, spec.argv)
        env = {**spec.env, "MUXWIRE_NONCE": record.nonce}
        # On another machine what a tab has started in a session of its own is found by its TMUX (helper.sh).
        if self.server.access.role != "adopted" and host.is_local:
            env["MUXWIRE_TMUX"] = "x"  # its programs get neither TMUX nor TMUX_PANE
        settings = [word for pair in env.items() for word in ("-e", "=".join(pair))]
        supervisor = supervisor_argv(argv, record.label, spec.size, takes_nonce=bool(record.shell))
        return ("-c", cwd, *settings, "--", *supervisor)

    def check_room(self, count: int = 1) -> None:
        """NotPermitted if `count` more panes would exceed the number that may be open."""
        if not self._tabs_max:
            return
        ours = sum(not tab.is_adopted for tab in self._book.open.values()) + len(self._book.coming)
        if ours + count > self._tabs_max:
            raise NotPermitted(
                f"{ours + count} panes would be open then, more than MUXWIRE_TABS={self._tabs_max} allows",
                remedy="close one with `close_tab`, or start muxwire with a larger MUXWIRE_TABS",
            )

    async def split(self, request: TabRequest, label: str, beside: Tab, flags: Sequence[str]) -> Tab:
        """A further pane of a window, split off `beside` as these flags of split-window say; CommandError.

        It waits for tmux's answer, however long that takes.
        """
        spec = self.prepare(request, label, is_split=True)
        split = ("split-window", "-d", "-P", "-F", PANE_FORMAT, "-t", beside.pane_id, *flags)
        try:
            tab = await _Made(self, spec, (*split, *self._what_runs(spec)), beside=beside).tab()
        except BaseException:
            self.discard(spec)
            raise
        self.close_at_end(tab)
        return tab

    def register_in_reader(self, spec: PaneSpec, answer: Sequence[bytes], *, beside: Tab | None = None) -> Tab:
        """The tab of a pane that tmux has made: a window of its own, or a further pane `beside` another one.

        To be called while the answer is read: until then the pane's output is kept, within bounds. `close_at_end`
        follows.
        """
        place = PaneRow.parse(b"\n".join(answer))
        tab = self.build(spec.record, place, self.server.sessions.hub, started_at=time.monotonic())
        if self.server.lists_records:  # nothing waits for that
            self.server.client.submit(("set-option", "-p", "-t", tab.pane_id, RECORD_OPTION, spec.record.packed()))
        if beside is not None:
            tab.name, tab.session, tab.session_id = beside.name, beside.session, beside.session_id
            tab.sized = beside.sized
        self._add_and_read(tab, connections=spec.connections)
        if beside is None:
            self._book.use(tab.key, self._seat)
        self._book.coming.discard(spec.record.label)
        return tab

    def show_in_place_of_keeper(self, window: str) -> None:
        """Make a window the hub's current one if that was the keeper, which shows nothing; nothing waits for that.

        tmux reports the change as it reports a person's, perhaps after another tab was made, and after the answer.
        """
        session, keeper = self.server.sessions.hub, self.server.sessions.keeper
        shows_keeper = f"#{{==:#{{window_id}},{keeper}}}"
        command = ("if-shell", "-F", "-t", f"{session}:", shows_keeper, f"select-window -t '{session}:{window}'")
        (asked,) = self.server.client.submit((*command, "display-message -p ''"))

        def answered() -> None:
            # select-window prints nothing, display-message an empty line.
            if not asked.failed and not any(block.output for block in asked.blocks):
                self._book.shown_by_us.add((session, window))

        asked.then(answered)

    async def _place(self, request: TabRequest, window: str) -> str:
        """Give the window its size, and show it where a person would look for it; return its session's id."""
        server = self.server
        self.show_in_place_of_keeper(window)
        if request.size is not None:
            columns, rows = map(str, request.size)
            await server.client.command("resize-window", "-t", window, "-x", columns, "-y", rows)
        if request.session in ("", server.sessions.hub_name):
            return server.sessions.hub
        return await server.sessions.link(window, request.session)

    def _program(
        self, request: TabRequest, folder: Path, nonce: str
    ) -> tuple[Shell | None, tuple[str, ...], dict[str, str]]:
        if request.command:
            return None, tuple(request.command), dict(request.env)
        program = request.shell or self._host.default_shell()
        shell = self._host.shell_for(program)
        if shell is None:
            return None, (program, *(("-l",) if request.login else ())), dict(request.env)
        start = shell.launch(
            program,
            self.server.folders.shells,
            folder,
            nonce,
            request.login,
            {**self._host.environ, **request.env},
        )
        return shell, start.argv, {**request.env, **start.env}

    def build(self, record: TabRecord, place: PaneRow, session_id: str, *, started_at: float = -math.inf) -> Tab:
        """The tab of a pane that was started for that record; it is in no book yet, and its output goes nowhere."""
        server = self.server
        folder = server.folders.tab(record.label)
        log_path = server.logs / (
            f"pane-{place.window}-{place.pane}.log" if record.is_split else f"pane-{place.window}.log"
        )
        if record.is_split:  # the file is named after the window that it was split off in, and the pane may have moved
            log_path = next(iter(log_names(server.logs, place.pane)), log_path)
        if server.access.persistent:
            log_path = server.logs / kept_log_name(server.record(record.label), log_path.name)
        shell = self._host.shell_for(record.shell) if record.shell else None
        state = PaneState(
            host=self._host,
            pane_id=place.pane,
            nonce=record.nonce,
            shell=shell,
            leader_pid=place.pid,
            tty=place.tty,
            cwd=record.cwd,
            started_at=started_at,
        )
        log = server.log_store.open(log_path)
        state.stream = PaneStream(
            log, state.session.on_mark, nonce=record.nonce, start=log.end, capacity=self._ring, owns=state.session.owns
        )
        keyboard = Keyboard(state, server.client, server.version, may_be_dead=server.access.role == "adopted")
        runner = Runner(state, keyboard, server.client, folder, self._book.spawn)
        tab = Tab(
            record,
            window_id=place.window,
            pane_id=place.pane,
            session_id=session_id,
            log_path=log_path,
            size=place.size,
            pane=state,
            runner=runner,
            server=server,
            book=self._book,
        )
        if server.access.persistent:
            tab.record = CommandBook(server.record(record.label))
        return tab

    def add_and_read(self, tab: Tab) -> None:
        """Make the tab known, and give it the output of its pane: what was kept of it, and all that comes."""
        self._add_and_read(tab)
        self.close_at_end(tab)

    def add(self, tab: Tab) -> None:
        """Make the tab known; its output may come later."""
        self.server.watch_session(tab.pane.leader_pid)
        self._book.add(tab)
        # A window of a person's showed something before.
        tab.pane.stream.log.resized(*tab.size, blank=not tab.is_adopted or tab.next_byte > 0)

    def _add_and_read(self, tab: Tab, *, connections: int | None = None) -> None:
        """The first part of `add_and_read`. `connections`: how often we had reconnected when the pane was asked for."""
        self.add(tab)
        if self.server.rejoin is not None and connections not in (None, self.server.client.connections):
            self.server.rejoin(tab)
        elif dropped := attach_stream(tab):
            tab.pane.stream.lose(dropped, reason="the pane wrote more than is kept of one that is not known yet")

    def close_at_end(self, tab: Tab) -> None:
        """Close the tab when its program has ended."""
        tab.pane.on_exit = lambda: self._book.spawn(tab.reap)
        if tab.pane.session.exit_status is not None:  # it ended while no process was attached
            tab.pane.on_exit()


@final
class _Made:
    """A pane that tmux was asked for. The reader registers its tab when it processes the answer.

    So the new size, which tmux reports after the answer, is recorded at the right offset of the pane's output: what
    a shell wrote before that was laid out for the old size.
    """

    def __init__(self, maker: TabMaker, spec: PaneSpec, command: Sequence[str], *, beside: Tab | None = None) -> None:
        self.spec = spec
        self._tab: Tab | None = None
        self._failure: Exception | None = None
        self._maker = maker
        self._beside = beside
        (self.asked,) = maker.server.client.submit(command)
        self.asked.then(lambda: self._register(self.asked.result))

    def _register(self, answer: Callable[[], Sequence[bytes]]) -> None:
        try:
            self._tab = self._maker.register_in_reader(self.spec, answer(), beside=self._beside)
        except Exception as error:  # noqa: BLE001 - it is the caller's, not the reader's: `tab` raises it
            self._failure = error

    async def tab(self) -> Tab:
        """The tab, once the answer is here; raises what prevented it."""
        await self.asked.settled()
        if self.asked.failed:
            await self._look_for_it()
        if self._tab is None:
            assert self._failure is not None
            raise self._failure
        return self._tab

    async def _look_for_it(self) -> None:
        """Find a pane that tmux made before the connection was lost, whose answer nobody has heard."""
        client = self._maker.server.client
        await client.wait_reconnected()
        its_own = f"#{{m:*{self.spec.record.label}*,#{{pane_start_command}}}}"
        with suppress(MuxwireError):
            if found := await client.command("list-panes", "-a", "-f", its_own, "-F", PANE_FORMAT):
                self._register(lambda: found)


def attach_stream(tab: Tab) -> int:
    """Give a tab the output of its pane from here on; return how much was dropped before the tab was known."""
    tab.pane.stream.log.live()
    return tab.client.attach_pane(pane_id(tab.pane_id), tab.pane.stream.feed)


def read_again(tab: Tab, **gap: object) -> None:
    """Give a tab the output of its pane again, after a time in which it was not read; `gap` says what is known of that.

    How much was written meanwhile is not known: tmux counts no pane's bytes.
    """
    tab.pane.stream.lose(UNKNOWN_SIZE, exact=False, **gap)
    attach_stream(tab)


def window_name(name: str) -> str:
    """`shown_name` as new-window and rename-window take it: a format, in which a doubled # stands for itself."""
    return shown_name(name).replace("#", "##")
