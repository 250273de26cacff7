"""A tab: one window that muxwire made or adopted, and what can be done in it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.to_thread

from muxwire.errors import (
    CommandError,
    ConnectionClosed,
    InvalidArgument,
    NoSuchTarget,
    NotPermitted,
    TabUnavailable,
)
from muxwire.host.environment import checked_environment, variables_of
from muxwire.logs.read import read_raw
from muxwire.logs.sizes import is_sure
from muxwire.logs.times import offset_ago
from muxwire.pane.key_sender import KeySender
from muxwire.pane.output import LiveOutput, progress_of, result_of
from muxwire.pane.snapshots import ScreenView
from muxwire.results import TabInfo
from muxwire.shell import SUPERVISOR, examine
from muxwire.shell.execution import HUNG_UP
from muxwire.shell.marks import without_join_marks
from muxwire.shell.quoting import typed_path
from muxwire.tabs.answers import answered, answered_each
from muxwire.tabs.attached import attached, attaching
from muxwire.tabs.closing import check_idle, end_pane, end_rest
from muxwire.tabs.hand_over import attach_words, secret_note, with_note
from muxwire.tabs.log_access import LogSource, read_chunk, read_tail
from muxwire.tabs.processes import note_left, started_process, stop_process
from muxwire.tabs.record import note_name, printed_name, shown_name
from muxwire.tabs.tab_events import COMMAND_SHOWN
from muxwire.tabs.takes import takes
from muxwire.tabs.waits import Wanted, wait_for
from muxwire.verbs.catalogue import Execute, Piece, ResultOf, Screenshot, Script, Start, Stop, Tail, Typing, Wait
from muxwire.verbs.types import DEFAULT_TIMEOUT, DEFAULT_WAIT
from muxwire.vt.drawn import rows_of

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.pane.runner import Progress, Runner
    from muxwire.pane.state import PaneState
    from muxwire.results import (
        ExecutionResult,
        KeysSent,
        LogChunk,
        LogTail,
        ProcessStart,
        ProcessStop,
        Snapshot,
        State,
        WaitOutcome,
    )
    from muxwire.shell.authors import Author
    from muxwire.shell.execution import Execution
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.record import CommandBook, TabRecord
    from muxwire.tabs.tab_events import TabEvents
    from muxwire.tmux.server import TmuxServer
    from muxwire.verbs.catalogue import Execution as ExecutionAsked
    from muxwire.verbs.types import Folder, OnInput, OnStart

# Why the wait for a command is over.
WaitEnd = Literal["ended", "timed_out", "interactive", "silent", "idle"]

# Characters of the screen that a result contains: most screens have far fewer, a full one of top is cut.
SCREEN_CHARACTERS = 4000
# Up to so many bytes are examined for whether they are marks only: the marks of a thousand verbs.
_MARKS_MAX = 32 << 10
# A caller that does not wait for its command does not wait for the one before it either: only for a prompt that is
# about to be shown.
TURN_SECONDS = 1.0
_LOOK_EVERY = 0.05

# What a terminal and a shell set for themselves.
_OF_A_TAB = (
    "TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES", "SHELL", "SHLVL", "PWD",
    "OLDPWD", "_",
)  # fmt: skip

# What a program that uses the library may use, in the order of `dir`; all else is for the instance.
PUBLIC = (
    "address", "attach_words", "close", "columns", "command_result", "cwd", "end_reason", "execute", "execute_script",
    "generation", "idle_timeout", "key", "log_path", "name", "next_byte", "pane_id", "read_logs", "send_keys",
    "session", "session_id", "size", "snapshot", "start_process", "state", "stop_process", "stream_logs", "strip_ansi",
    "tty", "wait_for", "window_id",
)  # fmt: skip


def said_idle(result: ExecutionResult, idle: float) -> ExecutionResult:
    """The result with a note that silence ended the call, if the command still runs and there is no other note."""
    if not result.running or result.note:
        return result
    why = f"nothing new came for {idle:g} s"
    return replace(result, note=f"{why}; it still runs: `command_result` has the rest", why_running=why)


class Tab:
    """One window that muxwire made; get it from `Terminals.create_tab` or `Terminals.tab`.

    Its attributes are also: `window_id`, `pane_id`, `session_id` (tmux's ids); `name` and `session`; `log_path` (the
    file of the tab's log); `size` (columns and rows); `strip_ansi` (whether what is read of it is plain text unless a
    call says otherwise); `idle_timeout` (after how many seconds without use it is closed, 0: never); `generation` (the
    number of the tmux server that has it, of those that its instance has started) and `end_reason` (why it was
    closed, "" while it is open).
    """

    def __init__(
        self,
        made: TabRecord,
        *,
        window_id: str,
        pane_id: str,
        session_id: str,
        log_path: Path,
        size: tuple[int, int],
        pane: PaneState,
        runner: Runner,
        server: TmuxServer,
        book: TabBook,
    ) -> None:
        self.window_id, self.pane_id, self.session_id = window_id, pane_id, session_id
        self.name, self.session, self.log_path = made.name or window_id, made.session, log_path
        self.size, self.sized, self.is_split = size, made.sized, made.is_split
        self.shell_path = made.shell  # "" if something else runs in its place
        self.created = made.created  # Unix seconds; 0 if it was not made by muxwire
        self.strip_ansi = made.strip_ansi  # the default of what is read of it
        self.idle_timeout = made.idle_timeout  # seconds without use after which it is closed; 0: never
        self.prefix = server.host.prefix
        self._record_folder = server.record(made.label)
        self.pane, self.runner = pane, runner
        self.generation = server.generation
        self.end_reason = ""
        self.is_adopted = False  # it is a window of a person's own tmux server, and muxwire did not make it
        self.shown_name: str | None = None  # at a person's server: what tmux showed when it was last asked
        self.events: TabEvents | None = None  # from its registration to its end
        self.record: CommandBook | None = None  # of an instance that outlives us: what was run, for a later process
        self.client, self.server = server.client, server
        self.book = book
        self._ending = anyio.Lock()
        self._persons = 0  # how many blocks of `person_types` last

        def on_input() -> None:
            pane.host.forget(pane.leader_pid)
            if self.events is not None:
                self.events.pressed(by_person=self._persons > 0)
            if self.record is not None and not self._persons:  # keys that are not noted are no agent's later
                self.record.note_input(pane.stream.end)

        self.view = ScreenView(pane, server.client, server.version)
        runner.port.on_input, runner.port.picture = on_input, self.view.picture
        self._keys = KeySender(runner)

    def __repr__(self) -> str:
        doing = f"closed: {self.end_reason}" if self.end_reason else f"{self.state}, in {self.cwd or '?'}"
        return f"<muxwire.Tab {self.key} {self.name!r}: {doing}>"

    def __dir__(self) -> list[str]:
        return list(PUBLIC)

    @property
    def key(self) -> str:
        """What it is called: its window id, or the pane id if it was split off in a window."""
        return self.prefix + (self.pane_id if self.is_split else self.window_id)

    @property
    def address(self) -> str:
        """`GENERATION/@N`, which unlike `@N` never names another tab of the instance."""
        return f"{self.prefix}{self.generation}/{self.key.removeprefix(self.prefix)}"

    @property
    def attach_words(self) -> str:
        """The command line by which a person sees and uses it in a terminal of their own."""
        return attach_words(self.server, self.key)

    @property
    def not_ours(self) -> str:
        """A clause that says what of it may be a person's; "" if it is all muxwire's, as far as that is known."""
        if self.events is not None and self.events.person_typed:
            return f"a person has typed into {self.key}"
        if not self.pane.supervised:
            return f"{self.key} was not made by muxwire"
        return ""

    @property
    def line_by(self) -> Author | None:
        """Who typed the line that runs in its shell, unless muxwire ran it as a command; None if none runs."""
        return self.events.line_by if self.events is not None else None

    @property
    def state(self) -> State:
        """What the tab is doing now; the kernel is asked where the stream alone cannot tell."""
        return self.pane.known_state()

    async def comes_free(self, seconds: float) -> bool:
        """Whether a command can be given to it: what runs there has ended within that time, or a call waits for that.

        The time counts from the start of what runs: a server that has run for longer will hardly end within it. After
        a command in a nested shell it counts from now: what runs is the command that began that shell, whose prompt is
        on its way. A command can also be given where a program waits for input, or seems to where that cannot be seen,
        as over ssh: that may be a shell, which the command finds out.
        """
        pane = self.pane

        def free() -> bool:
            return (
                self.state != "running"
                or pane.terminal.seems_to_prompt()
                or pane.on_its_way()
                or pane.use.last == math.inf
            )

        running = pane.session.running
        since = running.lasted(pane.now) if running is not None and running is pane.session.current else 0.0
        return await pane.stream.until(free, seconds - since, look=_LOOK_EVERY)

    async def like(self) -> dict[str, Any]:
        """What `create_tab` is given for a tab like this one: shell, directory, exported variables.

        At its prompt the shell itself is asked for the variables. Where a program runs they are those that the program
        was started with; where the shell itself is busy (a loop, a subshell, `read`), those that the shell was started
        with: the kernel tells no others.
        """
        host, pane = self.pane.host, self.pane
        folder, variables = host.surroundings(pane.session.shell_pid) or (self.cwd, {})
        if (front := host.surroundings(host.foreground_pgrp(pane.leader_pid) or 0)) is not None:
            variables = front[1]
        if host.is_local and self.state == "prompt":
            told = self.runner.folder / "environ"
            is_fish = pane.shell is not None and pane.shell.name == "fish"
            await self.execute(b"command env -0 >" + typed_path(told, fish=is_fish))
            with suppress(OSError):  # the shell has found no `env`
                variables = variables_of(told.read_bytes()) or variables
                told.unlink()
        usual = host.environ
        env = {
            name: value
            for name, value in variables.items()
            if usual.get(name) != value and name.isidentifier() and name not in _OF_A_TAB and "MUXWIRE_" not in name
        }
        return {"shell": self.shell_path, "cwd": folder if host.is_folder(folder) else "", "env": env}

    @property
    def columns(self) -> int:
        """How wide it is."""
        return self.size[0]

    @property
    def tty(self) -> str:
        """The path of the pane's terminal."""
        return self.pane.tty

    @property
    def cwd(self) -> str:
        """The shell's directory as it said at its last prompt."""
        return self.pane.session.cwd

    @property
    def next_byte(self) -> int:
        """The offset of the next byte that the pane will write."""
        return self.pane.stream.end

    def row(self, latest: str, command: str = "") -> TabInfo:
        """The tab as a list of tabs has it: `latest` is the key of the active one, `command` what runs in front."""
        pane, last, link = self.pane, self.pane.session.current, self.pane.host.link
        if command == SUPERVISOR and pane.supervised:
            command = _beneath(pane) or command
        return TabInfo(
            window_id=self.book.address(self),
            name=self.name,
            active=self.key == latest and not pane.session.dead,
            pane_id=self.prefix + self.pane_id,
            session=self.prefix + self.session,
            state=self.state,
            log_path=str(self.log_path),
            next_byte=self.next_byte,
            current_command=command,
            cwd=self.cwd,
            closed=pane.session.dead,
            reason=self.end_reason,
            last_command=last.command[:COMMAND_SHOWN].decode("utf-8", "replace") if last is not None else "",
            last_exit_code=last.exit_code if last is not None else None,
            created=round(max(0.0, time.time() - self.created)) if self.created else None,
            used=round(max(0.0, time.monotonic() - pane.use.last)),
            host=link.host if link is not None else "",
            link=link.state if link is not None else "",
            rtt_ms=round(link.rtt * 1000, 1) if link is not None else 0.0,
        )

    @takes(Execute)
    @attaching
    async def execute(self, asked: Execute) -> ExecutionResult:
        """Run `command` in the tab's shell and return exactly what it wrote, with its exit code.

        The shell's state persists (`cd`, `export`, functions), unless `env` or `cwd` is given: then the command runs
        apart. `timeout` is in seconds; at its end the command is interrupted, or left running (`on_timeout="leave"`).
        `async_` returns as soon as it is typed. What still runs is picked up by `Terminals.command_result`.
        With `idle` it returns, as running, when nothing new came for that many seconds. Without `drawing` the output is
        without what a program draws on the alternate screen.
        Cancelling this call interrupts the command; an error of a function given here too, and is raised at its end.

        `on_start` gets the command_id when the command's turn has come. With `on_output` the exact bytes go there as
        they arrive, and not into the result. A command that waits for input ends the call, or with `on_input` is
        reported there, and waited for further. Where that cannot be seen (over ssh, in a container), a text that reads
        like a question and 3 s of silence end the call too, but not with `on_input`.

        Raises InvalidArgument (NUL, empty, bad cwd), TabUnavailable (busy, dead, waiting for input), ConnectionClosed.
        """
        body = asked.command
        body = body if isinstance(body, bytes) else body.encode("utf-8", "surrogateescape")
        execution = await self._start(body, self._turn_timeout(asked), asked.env, asked.cwd)
        wait = partial(self._wait, execution, asked, on_start=asked.on_start, on_input=asked.on_input)
        if asked.on_output is not None:
            tell = partial(self._tell, execution, asked.on_output)
            wait = partial(LiveOutput(execution, self.pane.stream, tell, self.pane.shell).during, wait)
        return await self._result(execution, asked, await wait())

    @takes(Script)
    @attaching
    async def execute_script(self, asked: Script) -> ExecutionResult:
        """Write `code` to a private file (`script_path`), kept as long as the log, and run it; else as `execute`."""
        from muxwire.pane.scripts import keep_script, script_command, script_name  # late: few verbs write a script

        name = script_name(asked.language, os.urandom(4).hex())
        body = asked.code.encode("utf-8", "surrogateescape")
        path, kept, write = keep_script(self.pane.host, self.pane.stream.log, self.runner.folder, name, body)
        shell = self.pane.shell.name if self.pane.shell is not None else ""
        try:
            command, shown = script_command(asked.language, path, asked.args, shell=shell)
            turn_timeout = self._turn_timeout(asked)
            execution = await self._start(
                command, turn_timeout, asked.env, asked.cwd, shown, write, script_path=str(kept)
            )
        except BaseException:
            kept.unlink(missing_ok=True)
            raise
        return await self._result(execution, asked, await self._wait(execution, asked))

    async def _result(self, execution: Execution, asked: ExecutionAsked, outcome: WaitEnd | None) -> ExecutionResult:
        result = await self.result(
            execution, strip_ansi=asked.strip_ansi, max_chars=asked.max_chars, waited=not asked.async_,
            drawing=asked.drawing,
        )  # fmt: skip
        return said_idle(result, asked.idle) if outcome == "idle" else result

    def _turn_timeout(self, asked: ExecutionAsked) -> float:
        """How many seconds a call waits for its turn and a prompt: all of its time where it waits for the end too."""
        whole = not asked.async_ or self.pane.on_its_way()
        return asked.timeout if whole else min(asked.timeout, TURN_SECONDS)

    async def _start(
        self, command: bytes, timeout: float, env: Mapping[str, str], cwd: Folder,
        shown: bytes | None = None, write: Callable[[], None] | None = None, script_path: str = "",
    ) -> Execution:  # fmt: skip
        self.pane.check_width(self.size[0])
        variables = checked_environment(env) if env else {}
        try:
            execution = await self.runner.start(
                command, turn_timeout=timeout, env=variables, cwd=os.fspath(cwd) or None, shown=shown, write=write
            )
        except TabUnavailable as error:
            if error.state == "interactive":
                error.remedy = with_note(error.remedy, secret_note(self.pane, self.server, self.key))
            raise
        execution.script_path = script_path
        self.book.remember(self, execution)
        return execution

    async def result(
        self, execution: Execution, *, strip_ansi: bool | None = None, max_chars: int | None = None,
        waited: bool = True, drawing: bool = True,
    ) -> ExecutionResult:  # fmt: skip
        """What `execution` has to say since it was last asked, as `result_of`; TabUnavailable if it never ran."""
        if waited and not execution.ending:
            await examine.for_result(self.runner.port, execution)
        plain = self.strip_ansi if strip_ansi is None else strip_ansi
        result = await result_of(
            execution, self.pane, plain, max_chars=max_chars, size=self.size, waited=waited, drawing=drawing
        )
        if result.running or ((plain or not drawing) and self.left_drawn(execution)):
            result = replace(result, **await self.screen(left=not result.running))
        if result.running and waited:
            return replace(result, note=with_note(result.note, secret_note(self.pane, self.server, self.key)))
        return result

    async def until_idle(
        self, execution: Execution, timeout: float, idle: float, *, progress: Progress | None = None
    ) -> WaitEnd:
        """Wait for a command as `Runner.wait`, or until nothing new came for `idle` s."""
        begun = time.monotonic()
        while idle:
            left = begun + timeout - time.monotonic()
            quiet_in = max(begun, self.pane.stream.last_output) + idle - time.monotonic()
            if quiet_in >= left:
                break
            if quiet_in <= 0:
                return "idle"
            outcome = await self.runner.wait(execution, quiet_in, progress=progress)
            if outcome != "timed_out":
                return outcome
        return await self.runner.wait(execution, begun + timeout - time.monotonic(), progress=progress)

    async def _wait(
        self, execution: Execution, asked: ExecutionAsked, *,
        on_start: OnStart | None = None, on_input: OnInput | None = None,
    ) -> WaitEnd | None:  # fmt: skip
        on_progress, deadline = asked.on_progress, time.monotonic() + asked.timeout
        told = (
            None if on_progress is None
            else lambda _: self._tell(execution, on_progress, *progress_of(execution, self.pane.stream))
        )  # fmt: skip
        try:
            if on_start is not None:
                await self._tell(execution, on_start, execution.command_id)
            if asked.async_:
                return None
            outcome = await self.until_idle(execution, asked.timeout, asked.idle, progress=told)
            while outcome in ("interactive", "silent") and on_input is not None:
                if outcome == "interactive":
                    await self._tell(execution, on_input, execution.asked_for)
                outcome = await self.until_idle(execution, deadline - time.monotonic(), asked.idle, progress=told)
            if outcome == "timed_out":
                execution.overdue(asked.on_timeout)
                if asked.on_timeout == "interrupt":
                    await self.runner.interrupt_overdue(execution)
                    await note_left(self.pane, execution)
        except anyio.get_cancelled_exc_class():
            if not self.book.leaving:
                self.book.spawn(lambda: self.runner.interrupt(execution))
            raise
        return outcome

    async def _tell(self, execution: Execution, function: Callable[..., object], *arguments: object) -> None:
        """Call a function that the caller has given; where it is a coroutine function, wait for its end.

        If it fails, so does the call: nobody will ask for the command, which is ended before.
        """
        try:
            answer = function(*arguments)
            if isinstance(answer, Awaitable):
                await answer
        except Exception:
            with suppress(ConnectionClosed):
                await self.runner.interrupt(execution)
            raise

    @takes(Start)
    @attaching
    async def start_process(self, asked: Start) -> ProcessStart:
        """Start `command` and leave it running; wait for the text (or regex) `ready` if one is given.

        With `append_newline=False` the text is only typed. Raises as `execute`, and InvalidArgument for a bad regex.
        """
        until, regex = ("", asked.ready) if asked.ready_regex else (asked.ready, "")
        wanted = await Wanted.of(Wait(until=until, regex=regex)) if asked.ready else None
        from_byte, execution = self.next_byte, None
        if asked.append_newline:
            command = asked.command.encode("utf-8", "surrogateescape")
            execution = await self._start(command, DEFAULT_TIMEOUT, {}, "")
        else:
            from_byte = (await self._keys.send(asked.command, paste=False, literal=True)).next_byte
        return await started_process(self, execution, from_byte, wanted, asked.ready_timeout)

    @takes(Stop)
    async def stop_process(self, asked: Stop) -> ProcessStop:
        """Stop what runs in the foreground: by `signal`, after `grace` seconds each stronger one up to SIGKILL.

        InvalidArgument for a signal that is not one of SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGKILL; NotPermitted for
        a program that a person started at their own tmux server.
        """
        return await stop_process(self, asked.signal, asked.grace)

    @takes(Typing)
    @attaching
    async def send_keys(self, asked: Typing) -> KeysSent:
        """Type into whatever runs: each of `keys` is tmux's name of a key (`Enter`, `C-c`, `F5`) or literal text.

        With `paste`, all go as pasted blocks; with `literal`, all of them are texts; with `enter`, Enter is pressed
        after them. With `wait` the answer comes too, that many seconds after the last key at the latest: as soon as a
        condition is met (`until` and the others, as for `wait_for`) or, without one, the program waits for input, and
        when the command has ended. A condition without `wait` has 30 seconds.
        `answers` are lines that are entered one by one, after the keys if there are any: each when the program waits
        for input again, as long as it does; `asked` of the result has the questions. Keys are names under `paste` too.
        InvalidArgument, TabUnavailable (dead), ConnectionClosed.
        """
        named = asked.until or asked.regex or asked.gone or asked.stable or asked.idle
        wanted = await Wanted.of(asked) if named else None
        wait = asked.wait or (DEFAULT_WAIT if wanted or asked.answers else 0.0)
        command = self.pane.session.running
        keys = [asked.keys] if isinstance(asked.keys, str) else list(asked.keys)
        if asked.answers:
            if wanted is not None:
                raise InvalidArgument(
                    "answers cannot be combined with until, regex, gone, stable and idle",
                    remedy="leave out `answers`, or leave out the others",
                )
            keys = [*filter(None, keys)]
            return await answered_each(self, self._typing(asked, keys), keys, asked.answers, wait)
        looks = wanted is not None and wanted.pattern is not None and not wanted.gone
        before = await self.view.picture() if looks and not self.pane.session.dead else None
        sent = await self._typing(asked, keys)(keys, wait or math.inf)
        return sent if wait <= 0 else await answered(self, sent, command, wanted, wait, before=before)

    def _typing(self, asked: Typing, keys: Sequence[str]) -> Callable[[Sequence[str], float], Awaitable[KeysSent]]:
        """What types the keys as they are to be typed, and other lines than these as text."""

        async def send(some: Sequence[str], within: float) -> KeysSent:
            own = some is keys
            return await self._keys.send(
                some, paste=asked.paste and own, literal=asked.literal and own, enter=asked.enter and own, within=within
            )

        return send

    @contextmanager
    def person_types(self) -> Iterator[None]:
        """What `send_keys` types while the block lasts is a person's, who uses a page in place of a terminal."""
        self._persons += 1
        try:
            yield
        finally:
            self._persons -= 1

    @takes(Screenshot)
    @attaching
    async def snapshot(self, asked: Screenshot) -> Snapshot:
        """What the pane shows now, or showed at an offset, `ago` seconds ago, or at its end.

        `scrollback`: also the last N rows above, 0: all. `cells` adds styles; `unwrap` joins rows that the terminal
        wrapped. InvalidArgument (also where it is not known when bytes came), TabUnavailable (no log).
        """
        at_byte = asked.at_byte
        if asked.command_id:
            command = self._command(asked.command_id)
            at_byte = None if command.running else command.end
        if asked.ago is not None:
            log = self.pane.stream.log
            await log.dated()
            at_byte = await anyio.to_thread.run_sync(offset_ago, log.path, asked.ago, self._shows)
        return await self.view.snapshot(asked.scrollback, cells=asked.cells, unwrap=asked.unwrap, at_byte=at_byte)

    def _shows(self, begin: int, end: int) -> bool:
        """Whether these bytes of its log are more than the marks that processes write when they attach. Blocks."""
        if end - begin > _MARKS_MAX:
            return True
        return bool(without_join_marks(read_raw(self.log_path, begin, end), self.pane.stream.nonce))

    @takes(Wait)
    async def wait_for(self, asked: Wait) -> WaitOutcome:
        """Wait until it shows a text or a match, is silent for `idle` s, ends, prompts or rings.

        As `Terminals.wait_for` with this tab alone. InvalidArgument.
        """
        wanted = await Wanted.of(asked)
        return await wait_for([self], wanted, from_byte=asked.from_byte, timeout=asked.timeout, names=[self.key])

    @takes(ResultOf)
    async def command_result(self, asked: ResultOf) -> ExecutionResult:
        """What a command that ran here wrote since it was last asked about; "": the command that was typed last.

        Waits up to `wait` seconds for its end, with `idle` no longer than until nothing new came for so long;
        `drawing` as for `execute`; with `whole` all that it wrote. NoSuchTarget for a command that is not known, or of
        another tab.
        """
        return await self.result_within(self._command(asked.command_id), asked)

    async def result_within(self, execution: Execution, asked: ResultOf) -> ExecutionResult:
        """The result of a command that has ended, or at the end of that time or silence."""
        outcome = ""
        if asked.wait > 0 and execution.running:
            async with attached(self):
                outcome = await self.until_idle(execution, asked.wait, asked.idle)
        if asked.whole and execution.started:
            execution.read_up_to = execution.begin
        result = await self.result(
            execution, strip_ansi=asked.strip_ansi, max_chars=asked.max_chars, drawing=asked.drawing
        )
        return said_idle(result, asked.idle) if outcome == "idle" else result

    async def runs(self, command_id: str) -> bool:
        """Whether a command that ran here still runs; what it wrote is still to be given. NoSuchTarget."""
        execution = self._command(command_id)
        if execution.running:
            await examine.for_result(self.runner.port, execution)
        return execution.running

    def _command(self, command_id: str) -> Execution:
        if not command_id:
            if (newest := self.pane.session.current) is not None:
                return newest
            raise NoSuchTarget(f"no command was run in {self.key}", remedy="`execute_command` runs one")
        tab, execution = self.book.command(command_id)
        if tab is not self:
            raise NoSuchTarget(f"the command {command_id} ran in {tab.key}", remedy="call the method of that tab")
        return execution

    @takes(Tail)
    async def read_logs(self, asked: Tail) -> LogTail:
        """Its last `lines` lines, or those of a command that ran in it; as `Terminals.read_logs`."""
        command = self._command(asked.command_id) if asked.command_id else None
        return await read_tail(LogSource(self.log_path, self, command), asked)

    @takes(Piece)
    async def stream_logs(self, asked: Piece) -> LogChunk:
        """A piece of its log from an offset on; waits up to `wait` seconds if nothing is there yet."""
        return await read_chunk(LogSource(self.log_path, self), asked)

    def left_drawn(self, execution: Execution | None) -> bool:
        """Whether a command has ended on the alternate screen, without leaving it: its last words are there."""
        return execution is not None and bool(self.pane.stream.screens.at(execution.end, execution.begin))

    async def screen(self, *, left: bool = False) -> dict[str, Any]:
        """The fields of `OnScreen` if a program is on the alternate screen, else nothing; `left`: or has left it on."""
        if self.pane.session.dead or not (left or self.pane.terminal.on_alternate()):
            return {}
        try:
            seen = await self.view.snapshot(None, cells=False, unwrap=False)
        except (CommandError, TabUnavailable):  # it ends in this moment
            return {}
        cursor = seen.cursor if seen.cursor.visible else None
        return {"screen": rows_of(seen.lines, SCREEN_CHARACTERS), "cursor": cursor} if seen.alternate_screen else {}

    async def close(self, *, force: bool = False, reason: str = "") -> None:
        """End the tab and every process of its session; TabUnavailable if something runs and `force` is not given.

        NotPermitted for a window of the person whose tmux server it is, and where their session would end with it.
        """
        if self.is_adopted:
            raise NotPermitted(
                f"{self.key} ({self.name}) was made by the person who runs this tmux server, not by muxwire",
                remedy=f"leave it open; its owner closes it with `tmux kill-window -t {self.window_id}`",
            )
        async with attached(self):
            if not force:
                await check_idle(self.pane, self.runner, self.key)
            if not await self._end(reason):
                raise NotPermitted(
                    f"{self.key} is the only window left of the session {self.session}, which would end with it",
                    remedy="leave it open, or open another window there first",
                )

    async def reap(self) -> None:
        """The tab's program has ended and every byte of it is here: dismiss the supervisor."""
        with suppress(ConnectionClosed):  # a person's session is gone, or tmux is silent, as calls say
            async with attached(self):
                await self._end()

    def was_resized(self, columns: int, rows: int, *, reported: bool = True) -> None:
        """Its size has changed, and maybe what it shows, without a byte of output.

        Not `reported`: muxwire asked for the size, so the change may have happened some time ago.
        """
        self.view.forget()
        self.pane.session.resized()
        self.size = columns, rows
        stream = self.pane.stream
        sure = reported and not stream.rejoining
        sure = sure and is_sure(time.monotonic(), stream.last_output, self.client.patience.answered_at)
        stream.log.resized(columns, rows, sure=sure)

    def was_renamed(self, printed: str) -> None:
        """The window has a new name in tmux. One that muxwire gave is known: tmux may show only its beginning."""
        if (name := printed_name(printed)) != shown_name(self.name):
            self.name = name

    def keep_name(self, name: str) -> None:
        """It goes by that name now, and in a later process too."""
        self.name = name
        note_name(self._record_folder, name)

    def lost(self, reason: str) -> None:
        """Its window was closed, but not by muxwire: what waits for it ends at once, its processes soon."""
        if not self.end_reason:
            self.book.retire(self, reason)
            if not self.is_adopted:
                self.book.spawn(lambda: end_rest(self.pane, self.server))

    async def _end(self, reason: str = "") -> bool:
        """End it, once only and to the end: half a closed tab would keep its processes. False if it may not end."""
        status = self.pane.session.exit_status
        reason = reason or HUNG_UP if status is None else f"its program ended with status {status}"
        with anyio.CancelScope(shield=True):
            async with self._ending:
                if self.pane.session.closed:
                    return True
                before, self.end_reason = self.end_reason, self.end_reason or reason
                try:
                    if ended := await end_pane(self.pane, self.server, self.pane_id):
                        self.book.retire(self, reason)
                finally:
                    if not self.pane.session.closed:
                        self.end_reason = before
        return ended


def _beneath(pane: PaneState) -> str:
    """The command that the supervisor runs, if both are the foreground process group, which the supervisor leads."""
    supervisor, host = pane.leader_pid, pane.host
    return host.child_name(supervisor) if host.foreground_pgrp(supervisor) == supervisor else ""
