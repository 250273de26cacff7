"""The twins. Made from the library by `python tests/docs/blocking.py`: change that, or the library, and not this."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, final

from muxwire.library import opening
from muxwire.sync.loop import READY_SECONDS, LoopThread, loop_thread

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self, TypeAlias

    from muxwire.host.carriers import Carrier
    from muxwire.instance.connect import Wrap
    from muxwire.library.terminals import Terminals as AsyncTerminals
    from muxwire.operations import Operation, OperationsResult
    from muxwire.results import (
        CommandRecord,
        ExecutionResult,
        KeysSent,
        LogChunk,
        LogTail,
        ProcessStart,
        ProcessStop,
        Snapshot,
        State,
        TabList,
        WaitOutcome,
    )
    from muxwire.tabs.event_log import EventBatch
    from muxwire.tabs.tab import Tab as AsyncTab
    from muxwire.tabs.waits import Wanted
    from muxwire.tmux.server import Role
    from muxwire.verbs.types import Language, OnError, OnTimeout

    Target: TypeAlias = "str | Tab"
    Targets: TypeAlias = "Target | Sequence[Target]"


def _twin_of(target: object) -> Any:  # noqa: ANN401 - what is no target is refused by the library
    return target._twin if isinstance(target, Tab) else target  # noqa: SLF001 - of this module


def _public(kind: type) -> list[str]:
    return sorted(name for name in vars(kind) if not name.startswith("_"))


def _twins_of(targets: object) -> Any:  # noqa: ANN401
    if isinstance(targets, Collection) and not isinstance(targets, str | bytes):
        return [_twin_of(target) for target in targets]
    return _twin_of(targets)


def open_terminals(
    name: str | None = None,
    *,
    socket: str | os.PathLike[str] | None = None,
    socket_name: str | None = None,
    state_dir: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    wrap: Wrap | None = None,
    close_idle: float | None = None,
    hosts: Mapping[str, Carrier] | None = None,
) -> Terminals:
    """Open an instance whose methods wait: close it, or use it in a `with` block; it ends with the program.

    Without a name it is yours alone, and its tmux server ends with you. With one its server outlives you, and the next
    to open that name finds the tabs again; who opens it while another process does is a follower (`Terminals.role`).
    The name of a running instance without one (`e<pid>-<hex>`) may be given too, to be its follower.

    `socket` is the path of a tmux server that a person runs, `socket_name` what they call it with `tmux -L`: its
    windows are the tabs then, nothing of it is changed, and we are attached to a session only while a call uses a tab
    of it, or what it has started there runs.

    `state_dir` is where logs go (default: `$MUXWIRE_STATE_DIR`, `$XDG_STATE_HOME/muxwire`, `~/.local/state/muxwire`).
    `close_idle`: tabs that were not used for so many seconds are closed: no call named them, no person typed there,
    nothing ran, and nothing was written.
    `hosts` are other machines by their names, in addition to those of hosts.toml.
    `wrap` may put something around the control connection's transport, as `muxwire.testing.RecordingTransport`.
    """
    loop = loop_thread()
    return Terminals(
        loop.run(
            lambda _: loop.opened(
                opening.start(
                    name,
                    socket=socket,
                    socket_name=socket_name,
                    state_dir=state_dir,
                    environ=environ,
                    wrap=wrap,
                    close_idle=close_idle,
                    hosts=hosts,
                )
            )
        ),
        loop,
    )


@final
class Terminals:
    """An instance whose methods wait: see `muxwire.Terminals`."""

    def __init__(self, twin: AsyncTerminals, loop: LoopThread) -> None:
        self._twin = twin
        self._loop = loop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._twin).replace("muxwire.", "muxwire.sync.", 1)

    def __dir__(self) -> list[str]:
        return _public(type(self))

    def _of(self, twin: AsyncTab) -> Tab:
        return Tab(twin, self._twin, self._loop)

    def close(self) -> None:
        """End the instance: every process in its tabs, its tmux server, its connection. Logs stay.

        A named instance is left running. A second call does nothing.
        """
        self._loop.run(lambda _: self._loop.closed(self._twin))

    @property
    def role(self) -> Role:
        """Our place at the tmux server: `owner`, `follower` next to the owner, or `adopted` for a person's server."""
        return self._twin.role

    def create_tab(
        self,
        *,
        name: str = "",
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        login: bool = False,
        shell: str | None = None,
        command: Sequence[str] | None = None,
        session: str | None = None,
        size: tuple[int, int] | None = None,
        strip_ansi: bool = False,
        idle_timeout: float | None = None,
        host: str | Carrier = "",
    ) -> Tab:
        """Open a tab with a shell in it, or with `command` (an argv) in its place.

        `size` is (columns, rows), `strip_ansi` the default of its reads. `host` is a machine that hosts.toml allows, or
        that was given to `open_terminals`, or the way to one. The tab is closed when it was not used for
        `idle_timeout` seconds.
        InvalidArgument, TmuxUnavailable, InstanceUnavailable, CommandError, HostUnavailable.
        """
        return self._of(
            self._loop.run(
                lambda _: self._twin.create_tab(
                    name=name,
                    cwd=cwd,
                    env=env,
                    login=login,
                    shell=shell,
                    command=command,
                    session=session,
                    size=size,
                    strip_ansi=strip_ansi,
                    idle_timeout=idle_timeout,
                    host=host,
                )
            )
        )

    def tab(
        self,
        target: Target = ".",
        *,
        within: float = math.inf,
    ) -> Tab:
        """The tab that `target` names; NoSuchTarget if there is none, or more than one, or it is closed.

        Tmux is asked about some names: TmuxSilent without an answer after `within` seconds, `answer_seconds` at least.
        """
        return self._of(self._loop.run(lambda _: self._twin.tab(_twin_of(target), within=within)))

    def list_tabs(
        self,
        *,
        closed: bool = True,
        session: str = "",
    ) -> TabList:
        """Every tab and session, or those of one `session`; with `closed`, the closed tabs of this server too.

        Machines that do not answer are in `unreached`.
        """
        return self._loop.run(lambda _: self._twin.list_tabs(closed=closed, session=session))

    def close_tab(
        self,
        target: Target,
        *,
        force: bool = False,
    ) -> None:
        """Close a tab with all panes of its window, or a further pane, if it is open. As `Tab.close`; NoSuchTarget."""
        self._loop.run(lambda _: self._twin.close_tab(_twin_of(target), force=force))

    def close_session(
        self,
        session: str,
        *,
        force: bool = False,
    ) -> None:
        """Close every tab of a session; NoSuchTarget if it has none, TabUnavailable if something runs in one.

        Without `force` none is closed then.
        """
        self._loop.run(lambda _: self._twin.close_session(session, force=force))

    def close_host(
        self,
        host: str | Carrier,
    ) -> None:
        """End every tab on another machine, its tmux server there and the connection. The logs stay. NoSuchTarget."""
        self._loop.run(lambda _: self._twin.close_host(host))

    def command_result(
        self,
        command_id: str,
        *,
        wait: float = 0.0,
        idle: float | None = None,
        strip_ansi: bool | None = None,
        max_chars: int | None = None,
        drawing: bool = True,
        whole: bool = False,
    ) -> ExecutionResult:
        """What a command wrote since it was last asked about; waits up to `wait` seconds for its end.

        With `idle` no longer than until nothing new came for that many seconds. `drawing` as for `Tab.execute`. With
        `whole` all that it wrote. NoSuchTarget, InvalidArgument.
        """
        return self._loop.run(
            lambda _: self._twin.command_result(
                command_id,
                wait=wait,
                idle=idle,
                strip_ansi=strip_ansi,
                max_chars=max_chars,
                drawing=drawing,
                whole=whole,
            )
        )

    def snapshot(
        self,
        target: Target = ".",
        scrollback: int | None = None,
        *,
        cells: bool = False,
        unwrap: bool = False,
        at_byte: int | None = None,
        command_id: str = "",
        ago: float | None = None,
    ) -> Snapshot:
        """The screen of a tab: now, at an offset of its output, when a command ended, or last, if it has ended.

        As `Tab.snapshot`, for every log that `read_logs` finds. NoSuchTarget, InvalidArgument, TabUnavailable.
        """
        return self._loop.run(
            lambda _: self._twin.snapshot(
                _twin_of(target),
                scrollback,
                cells=cells,
                unwrap=unwrap,
                at_byte=at_byte,
                command_id=command_id,
                ago=ago,
            )
        )

    def wait_for(
        self,
        targets: Targets,
        *,
        until: str = "",
        regex: str = "",
        gone: bool = False,
        stable: float | None = None,
        idle: float | None = None,
        exit: bool = False,  # noqa: A002
        prompt: bool = False,
        bell: bool = False,
        from_byte: int | None = None,
        timeout: float = 30.0,
    ) -> WaitOutcome:
        """Wait for the first of `targets` that shows a text or a match, is silent for `idle` s, ends, prompts or rings.

        Text counts from `from_byte` on, else from the last command or input: in the output, or new on the screen. With
        `gone` it is waited for until it is not on the screen, for `stable` s if that is given; alone, `stable` is a
        screen that has not changed for so long. NoSuchTarget, InvalidArgument.
        """
        return self._loop.run(
            lambda _: self._twin.wait_for(
                _twins_of(targets),
                until=until,
                regex=regex,
                gone=gone,
                stable=stable,
                idle=idle,
                exit=exit,
                prompt=prompt,
                bell=bell,
                from_byte=from_byte,
                timeout=timeout,
            )
        )

    def watch_events(
        self,
        targets: Targets = (),
        *,
        kinds: Collection[str] = (),
        since: int | None = None,
        max_events: int = 100,
        timeout: float = 30.0,
    ) -> EventBatch:
        """What happened in `targets` (none: in every tab) after the cursor `since`, as soon as there is something.

        `since` is the `next` of an earlier answer, 0 for all that is remembered, None for what happens from now on.
        No `kinds` means all but `output`. NoSuchTarget, InvalidArgument (a kind, a cursor of another instance).
        """
        return self._loop.run(
            lambda _: self._twin.watch_events(
                _twins_of(targets), kinds=kinds, since=since, max_events=max_events, timeout=timeout
            )
        )

    def run_operations(
        self,
        operations: Sequence[Operation | Mapping[str, object]],
        *,
        on_error: OnError = "stop",
        dry_run: bool = False,
        dispatch_timeout: float | None = 10.0,
        timeout: float | None = None,
        rollback_on_error: bool = False,
        max_chars: int | None = None,
    ) -> OperationsResult:
        """Run tmux operations in order, with a result for each: `[NewWindow(ref="w"), SplitPane(target=Ref("w"))]`.

        Any may be the JSON of the MCP tool. The list is checked before anything is sent, and is for one machine. A step
        without an answer within `dispatch_timeout` seconds is `unknown`, and never sent again; `timeout` is for the
        whole. `execute` and `wait_for` have their own. InvalidArgument, NoSuchTarget, and as `server`.
        """
        return self._loop.run(
            lambda _: self._twin.run_operations(
                operations,
                on_error=on_error,
                dry_run=dry_run,
                dispatch_timeout=dispatch_timeout,
                timeout=timeout,
                rollback_on_error=rollback_on_error,
                max_chars=max_chars,
            )
        )

    def read_logs(
        self,
        target: Target = ".",
        *,
        lines: int = 500,
        strip_ansi: bool | None = None,
        grep: str = "",
        before: int = 0,
        after: int = 0,
        command_id: str = "",
        drawing: bool = True,
    ) -> LogTail:
        """The last `lines` lines of a tab, also of a closed one, or of a command. NoSuchTarget, InvalidArgument.

        `drawing` as for `Tab.execute`.
        """
        return self._loop.run(
            lambda _: self._twin.read_logs(
                _twin_of(target),
                lines=lines,
                strip_ansi=strip_ansi,
                grep=grep,
                before=before,
                after=after,
                command_id=command_id,
                drawing=drawing,
            )
        )

    def stream_logs(
        self,
        target: Target,
        *,
        from_byte: int = 0,
        max_bytes: int = 65536,
        strip_ansi: bool | None = None,
        wait: float = 0.0,
    ) -> LogChunk:
        """A piece of the log from an offset on; waits up to `wait` seconds if nothing is there yet. NoSuchTarget."""
        return self._loop.run(
            lambda _: self._twin.stream_logs(
                _twin_of(target), from_byte=from_byte, max_bytes=max_bytes, strip_ansi=strip_ansi, wait=wait
            )
        )

    def history(
        self,
        targets: Targets = (),
        *,
        limit: int = 100,
    ) -> tuple[CommandRecord, ...]:
        """The last `limit` commands that ended in `targets` (none: in every tab), the newest last. NoSuchTarget."""
        return self._loop.run(lambda _: self._twin.history(_twins_of(targets), limit=limit))

    def set_history_limit(
        self,
        limit: int,
    ) -> None:
        """Set how many rows of scrollback tmux keeps for tabs made from now on, and from tmux 3.7 on for all.

        InvalidArgument (out of range), TabUnavailable (rows of an open tab would go), NotPermitted (a person's server).
        """
        self._loop.run(lambda _: self._twin.set_history_limit(limit))


@final
class Tab:
    """A tab whose methods wait; get it from `Terminals.create_tab` or `Terminals.tab`.

    KeyboardInterrupt interrupts the command that is waited for. Functions that are given to a call (`on_output`) are
    called in the thread that made it.
    """

    def __init__(self, twin: AsyncTab, terminals: AsyncTerminals, loop: LoopThread) -> None:
        self._twin = twin
        self._terminals = terminals
        self._loop = loop

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tab) and self._twin is other._twin

    def __hash__(self) -> int:
        return hash(self._twin)

    def __repr__(self) -> str:
        return repr(self._twin).replace("muxwire.", "muxwire.sync.", 1)

    def __dir__(self) -> list[str]:
        return _public(type(self))

    async def _ready(self) -> None:
        """Return when the tab takes a command again, after one was interrupted."""
        await self._terminals.wait_for([self._twin.key], prompt=True, timeout=READY_SECONDS)

    @property
    def window_id(self) -> str:
        """The id of its window, `@N`."""
        return self._twin.window_id

    @property
    def pane_id(self) -> str:
        """The id of its pane, `%N`."""
        return self._twin.pane_id

    @property
    def name(self) -> str:
        """What it is called."""
        return self._twin.name

    @property
    def session(self) -> str:
        """The session that it is shown in."""
        return self._twin.session

    @property
    def log_path(self) -> Path:
        """The file of its log."""
        return self._twin.log_path

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self._twin.size

    @property
    def key(self) -> str:
        """What it is called: its window id, or the pane id if it was split off in a window."""
        return self._twin.key

    @property
    def attach_words(self) -> str:
        """The command line by which a person sees and uses it in a terminal of their own."""
        return self._twin.attach_words

    @property
    def state(self) -> State:
        """What the tab is doing now; the kernel is asked where the stream alone cannot tell."""
        return self._twin.state

    @property
    def columns(self) -> int:
        """How wide it is."""
        return self._twin.columns

    @property
    def tty(self) -> str:
        """The path of the pane's terminal."""
        return self._twin.tty

    @property
    def cwd(self) -> str:
        """The shell's directory as it said at its last prompt."""
        return self._twin.cwd

    @property
    def next_byte(self) -> int:
        """The offset of the next byte that the pane will write."""
        return self._twin.next_byte

    def execute(
        self,
        command: str | bytes,
        *,
        timeout: float = 10.0,
        strip_ansi: bool | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        on_timeout: OnTimeout = "interrupt",
        wait: bool = True,
        idle: float | None = None,
        max_chars: int | None = None,
        drawing: bool = True,
        on_progress: Callable[[int, str], object] | None = None,
        on_start: Callable[[str], object] | None = None,
        on_output: Callable[[bytes], object] | None = None,
        on_input: Callable[[str], object] | None = None,
    ) -> ExecutionResult:
        """Run `command` in the tab's shell and return exactly what it wrote, with its exit code.

        The shell's state persists (`cd`, `export`, functions), unless `env` or `cwd` is given: then the command runs
        apart. `timeout` is in seconds; at its end the command is interrupted, or left running (`on_timeout="leave"`).
        `wait=False` returns as soon as it is typed. What still runs is picked up by `Terminals.command_result`.
        With `idle` it returns, as running, when nothing new came for that many seconds. Without `drawing` the output is
        without what a program draws on the alternate screen.
        Cancelling this call interrupts the command; an error of `on_output` too, and is raised at its end.

        `on_start` gets the command_id when the command's turn has come. With `on_output` the exact bytes go there as
        they arrive, and not into the result. A command that waits for input ends the call, or with `on_input` is
        reported there, and waited for further. Where that cannot be seen (over ssh, in a container), a text that reads
        like a question and 3 s of silence end the call too, but not with `on_input`.

        Raises InvalidArgument (NUL, empty, bad cwd), TabUnavailable (busy, dead, waiting for input), ConnectionClosed.
        """
        return self._loop.run(
            lambda call: self._twin.execute(
                command,
                timeout=timeout,
                strip_ansi=strip_ansi,
                env=env,
                cwd=cwd,
                on_timeout=on_timeout,
                wait=wait,
                idle=idle,
                max_chars=max_chars,
                drawing=drawing,
                on_progress=call.awaited(on_progress),
                on_start=call.noted(on_start),
                on_output=call.awaited(on_output),
                on_input=call.awaited(on_input),
            ),
            self._ready,
        )

    def execute_script(
        self,
        language: Language,
        code: str,
        *,
        args: Sequence[str] = (),
        timeout: float = 10.0,
        strip_ansi: bool | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        on_timeout: OnTimeout = "interrupt",
        wait: bool = True,
        idle: float | None = None,
        max_chars: int | None = None,
        drawing: bool = True,
        on_progress: Callable[[int, str], object] | None = None,
    ) -> ExecutionResult:
        """Write `code` to a private file (`script_path`), kept as long as the log, and run it; else as `execute`."""
        return self._loop.run(
            lambda call: self._twin.execute_script(
                language,
                code,
                args=args,
                timeout=timeout,
                strip_ansi=strip_ansi,
                env=env,
                cwd=cwd,
                on_timeout=on_timeout,
                wait=wait,
                idle=idle,
                max_chars=max_chars,
                drawing=drawing,
                on_progress=call.awaited(on_progress),
            ),
            self._ready,
        )

    def command_result(
        self,
        command_id: str = "",
        *,
        wait: float = 0.0,
        idle: float | None = None,
        strip_ansi: bool | None = None,
        max_chars: int | None = None,
        drawing: bool = True,
    ) -> ExecutionResult:
        """What a command that ran here wrote since it was last asked about; "": the command that was typed last.

        Waits up to `wait` seconds for its end, with `idle` no longer than until nothing new came for so long;
        `drawing` as for `execute`. NoSuchTarget for a command that is not known, or of another tab.
        """
        return self._loop.run(
            lambda _: self._twin.command_result(
                command_id, wait=wait, idle=idle, strip_ansi=strip_ansi, max_chars=max_chars, drawing=drawing
            )
        )

    def start_process(
        self,
        command: str,
        *,
        append_newline: bool = True,
        ready: str = "",
        ready_regex: bool = False,
        ready_timeout: float = 30.0,
    ) -> ProcessStart:
        """Start `command` and leave it running; wait for the text (or regex) `ready` if one is given.

        With `append_newline=False` the text is only typed. Raises as `execute`, and InvalidArgument for a bad regex.
        """
        return self._loop.run(
            lambda _: self._twin.start_process(
                command,
                append_newline=append_newline,
                ready=ready,
                ready_regex=ready_regex,
                ready_timeout=ready_timeout,
            ),
            self._ready,
        )

    def stop_process(
        self,
        name: str = "SIGINT",
        *,
        grace: float = 2.0,
    ) -> ProcessStop:
        """Stop what runs in the foreground: `name` first, after `grace` seconds each stronger signal up to SIGKILL.

        InvalidArgument for a signal that is not one of SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGKILL; NotPermitted for
        a program that a person started at their own tmux server.
        """
        return self._loop.run(lambda _: self._twin.stop_process(name, grace=grace))

    def send_keys(
        self,
        *keys: str | Sequence[str],
        paste: bool = False,
        literal: bool = False,
        enter: bool = False,
        answers: Sequence[str] = (),
        wanted: Wanted | None = None,
        wait: float = 0.0,
    ) -> KeysSent:
        """Type into whatever runs: each of `keys` is tmux's name of a key (`Enter`, `C-c`, `F5`) or literal text.

        They may be given one by one, or as a list: `send_keys("ls", "Enter")`.
        With `paste`, all go as pasted blocks; with `literal`, all of them are texts; with `enter`, Enter is pressed
        after them. With `wait` the answer comes too, after that many seconds at the latest: as soon as what is
        `wanted` is there, or without it the program waits for input, and when the command has ended.
        `answers` are lines that are entered one by one, after the keys if there are any: each when the program waits
        for input again, as long as it does; `asked` of the result has the questions. Keys are names under `paste` too.
        InvalidArgument, TabUnavailable (dead), ConnectionClosed.
        """
        return self._loop.run(
            lambda _: self._twin.send_keys(
                *keys, paste=paste, literal=literal, enter=enter, answers=answers, wanted=wanted, wait=wait
            ),
            self._ready,
        )

    def wait_for(
        self,
        *,
        until: str = "",
        regex: str = "",
        gone: bool = False,
        stable: float | None = None,
        idle: float | None = None,
        exit: bool = False,  # noqa: A002
        prompt: bool = False,
        bell: bool = False,
        from_byte: int | None = None,
        timeout: float = 30.0,
    ) -> WaitOutcome:
        """Wait until it shows a text or a match, is silent for `idle` s, ends, prompts or rings.

        As `Terminals.wait_for` with this tab alone. InvalidArgument.
        """
        return self._loop.run(
            lambda _: self._twin.wait_for(
                until=until,
                regex=regex,
                gone=gone,
                stable=stable,
                idle=idle,
                exit=exit,
                prompt=prompt,
                bell=bell,
                from_byte=from_byte,
                timeout=timeout,
            )
        )

    def snapshot(
        self,
        scrollback: int | None = None,
        *,
        cells: bool = False,
        unwrap: bool = False,
        at_byte: int | None = None,
        ago: float | None = None,
    ) -> Snapshot:
        """What the pane shows now, or showed at an offset, `ago` seconds ago, or at its end.

        `scrollback`: also the last N rows above, 0: all. `cells` adds styles; `unwrap` joins rows that the terminal
        wrapped. InvalidArgument (also where it is not known when bytes came), TabUnavailable (no log).
        """
        return self._loop.run(
            lambda _: self._twin.snapshot(scrollback, cells=cells, unwrap=unwrap, at_byte=at_byte, ago=ago)
        )

    def read_logs(
        self,
        *,
        lines: int = 500,
        strip_ansi: bool | None = None,
        grep: str = "",
        before: int = 0,
        after: int = 0,
        command_id: str = "",
        drawing: bool = True,
    ) -> LogTail:
        """Its last `lines` lines, or those of a command that ran in it; as `Terminals.read_logs`."""
        return self._loop.run(
            lambda _: self._twin.read_logs(
                lines=lines,
                strip_ansi=strip_ansi,
                grep=grep,
                before=before,
                after=after,
                command_id=command_id,
                drawing=drawing,
            )
        )

    def stream_logs(
        self,
        *,
        from_byte: int = 0,
        max_bytes: int = 65536,
        strip_ansi: bool | None = None,
        wait: float = 0.0,
    ) -> LogChunk:
        """A piece of its log from an offset on; waits up to `wait` seconds if nothing is there yet."""
        return self._loop.run(
            lambda _: self._twin.stream_logs(from_byte=from_byte, max_bytes=max_bytes, strip_ansi=strip_ansi, wait=wait)
        )

    def close(
        self,
        *,
        force: bool = False,
        reason: str = "",
    ) -> None:
        """End the tab and every process of its session; TabUnavailable if something runs and `force` is not given.

        NotPermitted for a window of the person whose tmux server it is, and where their session would end with it.
        """
        self._loop.run(lambda _: self._twin.close(force=force, reason=reason))
