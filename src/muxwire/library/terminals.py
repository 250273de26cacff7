"""The library's front door: one instance, its tabs, its logs. The tmux server starts when it is first needed."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, final

import anyio
import anyio.to_thread

from muxwire.errors import AmbiguousTarget, InvalidArgument, NoSuchTarget, TabUnavailable
from muxwire.host.local import LocalHost
from muxwire.library.machine import Machine, check_hosts, machines_of
from muxwire.logs.history import read_history
from muxwire.logs.times import offset_ago
from muxwire.results import CommandInfo
from muxwire.tabs.attached import attached
from muxwire.tabs.closing import check_idle
from muxwire.tabs.ended import ended_tabs, logged_tabs
from muxwire.tabs.event_log import EventFilter, watch
from muxwire.tabs.listing import list_tabs
from muxwire.tabs.log_access import LogSource, find_log, read_chunk, read_tail
from muxwire.tabs.scrollback import limit_scrollback
from muxwire.tabs.seat import Seat
from muxwire.tabs.tab import TURN_SECONDS, Tab
from muxwire.tabs.takes import takes, takes_of
from muxwire.tabs.waits import Wanted, wait_for
from muxwire.tmux.past import past_screen
from muxwire.verbs.catalogue import (
    CreateTab,
    Listing,
    Piece,
    ResultOf,
    RunTmuxOperations,
    Screenshot,
    SetHistoryLimit,
    Tail,
    Wait,
    Watching,
)
from muxwire.verbs.describe import Says, Verb
from muxwire.verbs.types import ACTIVE, Positive

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from typing import Protocol, TypeAlias

    from muxwire.host.host import Host
    from muxwire.library.lifetime import ServerLifetime
    from muxwire.operations import OperationsResult
    from muxwire.protocol.events import CommandBlock
    from muxwire.results import (
        CommandRecord,
        ExecutionResult,
        LogChunk,
        LogTail,
        Snapshot,
        TabInfo,
        TabList,
        WaitOutcome,
    )
    from muxwire.shell.execution import Execution
    from muxwire.tabs.event_log import EventBatch, EventLog
    from muxwire.tmux.server import Role, TmuxServer
    from muxwire.verbs.types import Way

    class NamedTab(Protocol):
        """A tab, or its blocking twin."""

        @property
        def key(self) -> str:
            """What it is called."""

    # A tab, or what it is called; and one or several of them.
    Target: TypeAlias = str | NamedTab
    Targets: TypeAlias = Target | Sequence[Target]
else:
    Target = Targets = Any  # the methods check what names a tab

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenshotOf(Screenshot):
    """The screen of a tab that is named."""

    target: Annotated[Target, Says(is_here=True)] = field(default=ACTIVE, kw_only=False)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TailOf(Tail):
    """The last lines of a tab that is named."""

    target: Annotated[Target, Says(is_here=True)] = field(default=ACTIVE, kw_only=False)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WatchingIn(Watching):
    """The events of tabs that are named; none: of all."""

    targets: Annotated[Targets, Says(is_here=True)] = field(default=(), kw_only=False)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOf(Verb):
    """How many of the commands that ended in tabs that are named; none: in all."""

    targets: Annotated[Targets, Says(is_here=True)] = field(default=(), kw_only=False)
    limit: Positive = 100


# What a program that uses the library may use, in the order of `dir`; all else is for the front ends.
PUBLIC = (
    "aclose", "close_host", "close_session", "close_tab", "command_result", "create_tab", "events", "history",
    "list_tabs", "read_logs", "role", "run_operations", "set_history_limit", "snapshot", "stream_logs", "tab",
    "tab_or_new", "wait_for", "watch_events",
)  # fmt: skip
# What front ends have called in the owner's process besides.
INTERNAL = ("ask", "give_hosts", "trace", "type_line")


class Terminals:
    """One instance of muxwire; made by `open_terminals`."""

    def __init__(self, life: ServerLifetime, hosts: Mapping[str, Way] | None = None) -> None:
        self.folders = life.folders
        self.host = life.host
        self._life = life
        self._book = life.book
        # Calls that come at once make one tab, not one each, and use it in the order in which they came.
        self._making = anyio.Lock(fast_acquire=True)
        self.leave: Callable[[], Awaitable[None]] | None = None  # the block that `start` entered
        self._hosts = machines_of(Machine(life))
        self._hosts.give(hosts or {})
        self.seat = Seat()
        self._book.seats.append(self.seat)

    def __repr__(self) -> str:
        tabs = ", ".join(f"{tab.key} {tab.name!r}" for tab in self._book.in_order())
        return f"<muxwire.Terminals {self.folders.instance!r}, {self.role}: {tabs or 'no tab'}>"

    def __dir__(self) -> list[str]:
        return list(PUBLIC)

    @contextmanager
    def seated(self, seat: Seat, directory: str, environ: Mapping[str, str]) -> Iterator[Terminals]:
        """These terminals for a client that comes to a running process, for the time of the block.

        `directory` and `environ` are the client's: it names programs and directories as it sees them, and its tabs find
        its agent of ssh and its display.
        """
        here = copy(self)  # all that the clients share is shared, what `Seat` names is not
        here.seat = seat
        # What one makes that has tabs of its own is no other's: nobody waits for that.
        here._making = anyio.Lock(fast_acquire=True) if seat.stays else self._making  # noqa: SLF001
        if isinstance(self.host, LocalHost):
            here.host = self.host.seen_from(directory, environ)
        self._book.seats.append(seat)
        try:
            yield here
        finally:
            self._book.seats.remove(seat)

    @property
    def runs(self) -> bool:
        """Whether its tmux server runs, or a tab is open on another machine, as far as is known."""
        return self._life.running is not None or any(machine.book.open for machine in self._hosts.machines)

    def on_change(self, tell: Callable[[], None]) -> None:
        """Have `tell` called when the tmux server has started or ended; `runs` says which."""
        self._life.on_change = tell

    @property
    def role(self) -> Role:
        """`owner`: the instance is this process's; `client`: another process owns it; `adopted`: a person's server."""
        return self._life.access.role

    def name_client(self, client: str) -> None:
        """Name the program that drives this instance, such as an MCP client: `muxwire ls` shows it."""
        self._life.name_client(client, self.host.own_folder())

    @property
    def events(self) -> EventLog:
        """What happened in the tabs, the last 10,000 events of it; `watch_events` reads it."""
        return self._book.events

    async def give_hosts(self, hosts: Mapping[str, Way]) -> None:
        """Allow these machines too, by their names."""
        check_hosts(hosts)
        self._hosts.give(hosts)

    async def trace(self, tell: Callable[[bytes, bytes], object]) -> None:
        """Tell all that the control connection sends and receives (`ControlClient.taps`), until it has ended for good.

        It begins where no answer is due, with what tmux says of itself, as a comment (b"#"). Raises as `server`.
        """
        client = (await self.server()).client
        about: Sequence[bytes] = ()
        while not (about and client.quiet):
            about = await client.command("display-message", "-p", "tmux #{version}, socket #{socket_path}")
        tell(b"#", about[0])
        client.taps.append(tell)
        try:
            await client.wait_closed()
        finally:
            client.taps.remove(tell)

    async def type_line(self, line: str) -> list[CommandBlock]:
        """Send tmux a line in its own language; what answers it, and the sentinel's block: `submit_line`."""
        answer = (await self.server()).client.submit_line(line)
        await answer.wait()
        return answer.blocks

    async def ask(self, *commands: Sequence[str]) -> list[tuple[bytes, ...]]:
        """The answers to several commands of tmux: `ControlClient.ask`."""
        return await (await self.server()).client.ask(*commands)

    async def server(self, *, start: bool = True) -> TmuxServer:
        """The running tmux server; started now if there is none. TmuxUnavailable, InstanceUnavailable."""
        return await self._life.server(start=start)

    @takes(CreateTab)
    async def create_tab(self, asked: CreateTab) -> Tab:
        """Open a tab with a shell in it, or with `command` (an argv) in its place.

        `size` is (columns, rows), `strip_ansi` the default of its reads. `host` is a machine that hosts.toml allows, or
        that was given to `open_terminals`, or the way to one. The tab is closed when it was not used for
        `idle_timeout` seconds.
        InvalidArgument, TmuxUnavailable, InstanceUnavailable, CommandError, HostUnavailable.
        """
        machine = self._hosts.on(asked.host)
        asked = replace(asked, host="", idle_timeout=asked.idle_timeout or self.seat.idle)
        return await machine.make(asked, self.seat, self._seen(machine))

    def _seen(self, machine: Machine) -> Host:
        """A machine as this client sees it: from its own directory, if it is this one."""
        return self.host if machine is self._hosts.here else machine.life.host

    @takes(Listing)
    async def list_tabs(self, asked: Listing) -> TabList:
        """Every tab and session, or those of one `session`; with `closed`, the closed tabs of these servers too.

        On another machine a session is called `HOST/SESSION`. Machines that do not answer are in `unreached`.
        """
        await self._hosts.find_all()
        for machine in self._hosts.machines:
            await machine.life.look()
        active = self.latest.key if self.latest is not None else ""
        lists = [
            await list_tabs(machine.life.running, machine.book, active, **asked.words)
            for machine in self._hosts.machines
        ]
        return replace(
            lists[0],
            tabs=tuple(tab for one in lists for tab in one.tabs),
            sessions=tuple(session for one in lists for session in one.sessions),
            unreached=self._hosts.unreached,
        )

    async def ended_tabs(self) -> tuple[TabInfo, ...]:
        """Closed tabs that `list_tabs` does not know, whose logs can be read by these ids.

        They are those that another process closed, or an earlier one, and those of the last instances without a name
        that have ended. Raises as `list_tabs`.
        """
        # Read before the list of tabs: so a tab that is made meanwhile is not taken for one that has ended.
        logged = await anyio.to_thread.run_sync(logged_tabs, self.folders, self._book.generation)
        known = {one.log_path for one in (await self.list_tabs()).tabs}
        return (
            *(one for one in logged if one.log_path not in known),
            *await anyio.to_thread.run_sync(ended_tabs, self.folders),
        )

    async def tab_or_new(
        self, target: Target = ".", *, within: float = inf, shell: str | None = None, cwd: str = "", host: str = ""
    ) -> tuple[Tab, bool]:
        """The tab that `target` names, and False; if that is `.` and no tab is open, a new one, and True.

        `shell`, `cwd` and `host` are those of a new one. Raises as `tab` and `create_tab`.
        """
        target = self._name_of(target)
        await self._life.look(within)
        if target == ".":
            async with self._making:
                if self.latest is None:
                    return await self.create_tab(shell=shell, cwd=cwd, host=host), True
        return await self.tab(target, within=within), False

    @property
    def latest(self) -> Tab | None:
        """The open tab that `.` means now; None if there is none."""
        book = self._hosts.latest(self.seat).book
        return book.open.get(book.latest(self.seat))

    async def where_free(self, key: str, run: Callable[[str], Awaitable[T]]) -> tuple[T, str]:
        """What `run` gives for a tab or, where that is busy, for another one; and a note that says so.

        The other is the newest tab made here in which nothing runs, else a new one like the busy one (`Tab.like`).
        TabUnavailable in place of another one where the busy one is in a nested shell: what is meant for another
        machine or user must not run on this one. So, too, if a shell waits there which has refused the command.
        """
        refused = ""
        async with self._making:  # for which calls may wait that came before
            busy = await self.tab(key)
        if await busy.comes_free(TURN_SECONDS):
            try:
                return await run(key), ""
            except TabUnavailable as error:
                if error.state in ("prompt", "never_ran", "dead"):  # it is free, or the command was typed there
                    raise
                refused = str(error)
        if busy.pane.session.is_nested:
            raise TabUnavailable(
                f"nothing was run: {busy.key} is in a nested shell (ssh, su, docker exec), where no other tab is; "
                f"{refused or busy.pane.refusal()}",
                state=busy.state,
                remedy="wait with `command_result.wait`, or see it with `snapshot`: at a prompt that is not taken for "
                "one, type with `send_keys`; to run this in another tab, name one, or make one with `create_tab`",
            )
        machine = next(one for one in self._hosts.machines if one.book is busy.book)
        async with self._making:
            free = [
                tab
                for tab in machine.book.in_order()
                if tab in self.seat.made and tab.state == "prompt" and tab.pane.use.last < inf
            ]
            other = free[-1] if free else await self.create_tab(**await busy.like(), host=machine.name)
        return await run(other.key), f"{busy.key} is busy: this is {other.key}, in {other.cwd}"

    def left_running(self, command_id: str) -> dict[str, tuple[Tab, Execution]]:
        """The tab of a command and the command by its id, if it runs."""
        return {command_id: self._book.command(command_id)} if self._book.runs(command_id) else {}

    def _name_of(self, target: Target) -> str:
        """What a tab is called here; InvalidArgument for one of another instance, which would name another tab."""
        if isinstance(target, str):
            return target
        if not isinstance(target, Tab):
            raise InvalidArgument(f"a tab is named by a string or a Tab, not {target!r}", remedy="give one of them")
        if not any(target.book is machine.book for machine in self._hosts.machines):
            raise InvalidArgument(f"{target!r} is of another instance", remedy="use a tab of this one, or a name")
        return target.address if target.pane.session.closed else target.key

    def _names_of(self, targets: Targets) -> list[str]:
        given = targets if isinstance(targets, Collection) and not isinstance(targets, str) else [targets]
        return [self._name_of(target) for target in given]

    async def tab(self, target: Target = ".", *, within: float = inf) -> Tab:
        """The tab that `target` names; NoSuchTarget if there is none, or more than one, or it is closed.

        Tmux is asked about some names: TmuxSilent without an answer after `within` seconds, `answer_seconds` at least.
        """
        machine, target = await self._hosts.place(self._name_of(target), self.seat)
        with self._pointing(machine, target):
            return await machine.tab(target, self.seat, within)

    async def known_tab(self, target: Target, *, within: float = inf) -> Tab:
        """The tab that `target` names, open or closed; this does not make it the active one. As `tab`."""
        machine, target = await self._hosts.place(self._name_of(target), self.seat)
        with self._pointing(machine, target):
            return await machine.known_tab(target, self.seat, within)

    @contextmanager
    def _pointing(self, machine: Machine, target: str) -> Iterator[None]:
        """Where this machine has no such tab, say what it would be called on the others."""
        try:
            yield
        except NoSuchTarget as error:
            if machine is self._hosts.here and not isinstance(error, AmbiguousTarget):
                self._hosts.point_elsewhere(error, target)
            raise

    async def close_tab(self, target: Target, *, force: bool = False) -> None:
        """Close a tab with all panes of its window, or a further pane, if it is open. As `Tab.close`; NoSuchTarget."""
        tab = await self.known_tab(target)
        for pane in (*tab.book.beside(tab), tab):
            if not pane.pane.session.closed:
                await pane.close(force=force)

    async def close_session(self, session: str, *, force: bool = False) -> None:
        """Close every tab of a session; NoSuchTarget if it has none, TabUnavailable if something runs in one.

        Without `force` none is closed then. On another machine a session is called `HOST/SESSION`.
        """
        machine, name = await self._hosts.place(session, self.seat)
        await machine.life.look()
        tabs = [tab for tab in machine.book.open.values() if tab.session == name]
        if not tabs:
            raise NoSuchTarget(f"no tab is in the session {session!r}", remedy="`list_tabs` shows every session")
        for tab in () if force else tabs:
            await check_idle(tab.pane, tab.runner, tab.key)
        for tab in tabs:
            await self.close_tab(tab.key, force=force)

    async def close_host(self, host: str | Way) -> None:
        """End every tab on another machine, its tmux server there and the connection. The logs stay. NoSuchTarget.

        A machine that was not reached is forgotten: what an earlier process left there ends by itself after `keep`.
        """
        await self._hosts.close(host)

    # -- commands

    @takes(ResultOf)
    async def command_result(self, asked: ResultOf) -> ExecutionResult:
        """What a command wrote since it was last asked about; waits up to `wait` seconds for its end.

        With `idle` no longer than until nothing new came for that many seconds. `drawing` as for `Tab.execute`. With
        `whole` all that it wrote. NoSuchTarget, InvalidArgument.
        """
        tab, execution = await self._command(asked.command_id, within=asked.wait or inf)
        return await tab.result_within(execution, asked)

    async def command_info(self, command_id: str) -> CommandInfo:
        """Which command it is, in which tab, and when it began and ended. NoSuchTarget."""
        tab, execution = await self._command(command_id)
        offset = time.time() - time.monotonic()
        return CommandInfo(
            command_id,
            execution.command.decode("utf-8", "replace"),
            tab.key,
            execution.typed_time + offset,
            None if execution.running else execution.end_time + offset,
            execution.exit_code,
        )

    async def command_end(self, command_id: str) -> None:
        """Wait for the end of a command, also where it waits for input. NoSuchTarget."""
        tab, execution = await self._command(command_id)
        async with attached(tab):
            await tab.pane.stream.until(lambda: not execution.running, inf)

    async def interrupt(self, command_id: str) -> bool:
        """Begin to interrupt a command, as at its timeout; False if it has ended. NoSuchTarget."""
        tab, execution = await self._command(command_id)
        if execution.running:
            self._book.spawn(lambda: tab.runner.interrupt(execution))
        return execution.running

    async def _command(self, command_id: str, *, within: float = inf) -> tuple[Tab, Execution]:
        """The tab and the command of that id, also on a machine where an earlier process left it; NoSuchTarget."""
        await self._life.look(within)
        if command_id not in self._book.commands:
            await self._hosts.find_all()
        try:
            return self._book.command(command_id)
        except NoSuchTarget as error:
            left_out = "; ".join(f"{host} ({why})" for host, why in self._hosts.unreached.items())
            error.remedy += f"; it may be of a machine that could not be asked: {left_out}" if left_out else ""
            raise

    @takes(ScreenshotOf)
    async def snapshot(self, asked: ScreenshotOf) -> Snapshot:
        """The screen of a tab: now, at an offset of its output, when a command ended, or last, if it has ended.

        As `Tab.snapshot`, for every log that `read_logs` finds. NoSuchTarget, InvalidArgument, TabUnavailable,
        TmuxUnavailable.
        """
        if sum((asked.at_byte is not None, bool(asked.command_id), asked.ago is not None)) > 1:
            raise InvalidArgument("an offset, a command and a time cannot be combined", remedy="give one of them")
        source = await self._log_source(asked.target, asked.command_id)
        if source.tab is not None:
            if (
                asked.at_byte is None
                and not asked.command_id
                and asked.ago is None
                and source.tab.key in source.tab.book.open
            ):
                source.tab.book.use(source.tab.key, self.seat)
            return await source.tab.snapshot(**asked.words)
        at_byte = asked.at_byte
        if asked.ago is not None:
            at_byte = await anyio.to_thread.run_sync(offset_ago, source.path, asked.ago)
        pane = source.path.stem.removeprefix("pane-")
        return await past_screen(
            source.path, at_byte, self.host.environ, pane=pane, scrollback=asked.scrollback, cells=asked.cells,
            unwrap=asked.unwrap,
        )  # fmt: skip

    @takes_of(Wait)
    async def wait_for(self, targets: Targets, asked: Wait) -> WaitOutcome:
        """Wait for the first of `targets` that shows a text or a match, is silent for `idle` s, ends, prompts or rings.

        Text counts from `from_byte` on, else from the last command or input: in the output, or new on the screen. With
        `gone` it is waited for until it is not on the screen, for `stable` s if that is given; alone, `stable` is a
        screen that has not changed for so long. Without a condition it waits for half a second without output.
        NoSuchTarget, InvalidArgument.
        """
        wanted = await Wanted.of(asked)
        names = self._names_of(targets)
        tabs = [await self.known_tab(name, within=asked.timeout) for name in names]
        with self._book.awaiting(asked.until or asked.regex or ("silence" if wanted.idle else "an end or a prompt")):
            return await wait_for(tabs, wanted, from_byte=asked.from_byte, timeout=asked.timeout, names=names)

    @takes(WatchingIn)
    async def watch_events(self, asked: WatchingIn) -> EventBatch:
        """What happened in `targets` (none: in every tab) after the cursor `since`, as soon as there is something.

        `since` is the `next` of an earlier answer, 0 for all that is remembered, None for what happens from now on.
        No `kinds` means all but `output`. NoSuchTarget, InvalidArgument (a kind, a cursor of another instance).
        """
        await self._life.look(asked.timeout)
        tabs = [await self.known_tab(name, within=asked.timeout) for name in self._names_of(asked.targets)]
        wanted = EventFilter.checked([tab.key for tab in tabs], asked.kinds)
        async with attached(*(tabs or self._book.open.values()), uses=bool(tabs)):
            return await watch(self.events, wanted, since=asked.since, limit=asked.max_events, timeout=asked.timeout)

    @takes(RunTmuxOperations)
    async def run_operations(self, asked: RunTmuxOperations) -> OperationsResult:
        """Run tmux operations in order, with a result for each: `[NewWindow(ref="w"), SplitPane(target=Ref("w"))]`.

        Any may be the JSON of the MCP tool. The list is checked before anything is sent, and is for one machine. A step
        without an answer within `dispatch_timeout` seconds is `unknown`, and never sent again; `timeout` is for the
        whole. `execute` and `wait_for` have their own. With `agreed`, the addresses of the tabs that a person agreed to
        end, no other tab is ended in which something of theirs may run. InvalidArgument, NoSuchTarget, and as `server`.
        """
        # Late: what few programs use takes a fifth of what all of the library takes to import.
        from muxwire.library.operations import run_here
        from muxwire.operations.lists import on_one_machine, read_operations, targets_of

        given = read_operations(asked.operations)
        places = {target: await self._hosts.place(target, self.seat) for target in targets_of(given)}
        machine, found = on_one_machine(given, places.__getitem__)
        if machine is None:
            machine = self._hosts.here
        find = partial(machine.tab, seat=self.seat)
        return await run_here(found, asked, machine.life, self._seen(machine), self.seat, find)

    @takes(TailOf)
    async def read_logs(self, asked: TailOf) -> LogTail:
        """The last `lines` lines of a tab, also of a closed one, or of a command. NoSuchTarget, InvalidArgument.

        `drawing` as for `Tab.execute`.
        """
        return await read_tail(await self._log_source(asked.target, asked.command_id), asked)

    @takes_of(Piece)
    async def stream_logs(self, target: Target, asked: Piece) -> LogChunk:
        """A piece of the log from an offset on; waits up to `wait` seconds if nothing is there yet. NoSuchTarget."""
        return await read_chunk(await self._log_source(target), asked)

    @takes(HistoryOf)
    async def history(self, asked: HistoryOf) -> tuple[CommandRecord, ...]:
        """The last `limit` commands that ended in `targets` (none: in every tab), the newest last.

        NoSuchTarget, InvalidArgument (a limit below 1).
        """
        tabs = [await self.known_tab(name) for name in self._names_of(asked.targets)]
        if self._book.history is not None:
            self._book.events.catch_up()
            await self._book.history.flush()
        home, of = self.folders.state / self.folders.instance, {(tab.generation, tab.key) for tab in tabs}
        return tuple(await anyio.to_thread.run_sync(read_history, home, of, asked.limit, self._book.runs))

    async def _log_source(self, target: Target, command_id: str = "") -> LogSource:
        """The log of a tab, open or closed, also of an earlier server (`GENERATION/@N`), or what a command wrote."""
        if command_id:
            tab, command = await self._command(command_id)
            return LogSource(tab.log_path, tab, command)
        name = self._name_of(target)
        try:
            machine, target = await self._hosts.place(name, self.seat)
        except NoSuchTarget as error:
            return find_log(*self._hosts.left_by(name), error)
        try:
            with self._pointing(machine, target):
                tab = await machine.known_tab(target, self.seat)
        except NoSuchTarget as error:
            return find_log(machine.life.folders, target, error)
        return LogSource(tab.log_path, tab)

    def leave_running(self, until: ExitStack | None = None) -> None:
        """From now on a cancelled call leaves its command running: it is cancelled because the caller's process ends.

        If a stack is given, until that is closed: for as long as the calls of one of several clients are cancelled.

        The next process takes the command up. A transient instance ends with its process, and every command in it:
        what does not end at once, the watchdog ends when this process has gone.
        """
        for machine in self._hosts.machines:
            machine.book.leaving.append(until)
            (until or ExitStack()).callback(machine.book.leaving.remove, until)

    @takes(SetHistoryLimit)
    async def set_history_limit(self, asked: SetHistoryLimit) -> None:
        """Set how many rows of scrollback tmux keeps for tabs made from now on, and from tmux 3.7 on for all.

        InvalidArgument (out of range), TabUnavailable (rows of an open tab would go), NotPermitted (a person's server).
        """
        await self._life.look()
        if self._life.running is not None:
            await limit_scrollback(self._life.running, self._book, asked.limit)
        self._life.history_limit = asked.limit

    async def aclose(self) -> None:
        """End the instance: every process in its tabs, its tmux server, its connection. Logs stay.

        A named instance is left running. What `start` opened is closed with it; a block closes at its end.
        """
        leave, self.leave = self.leave, None
        await (leave() if leave is not None else self.end())

    async def end(self) -> None:
        """End the instance, and leave its tasks to the block that holds them."""
        await self._hosts.end()
        await self._life.aclose()
