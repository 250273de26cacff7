"""The tools in the order in which they are listed: the loop of every session first."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from muxwire.mcp.registry import (
    ACTIVE,
    DEFAULT_MAX_CHARS,
    ENVIRONMENT_SCHEMA,
    Arguments,
    Call,
    Count,
    Environment,
    ExecutionOptions,
    Hints,
    InTab,
    MaxChars,
    Milliseconds,
    StripAnsi,
    Target,
    seconds,
    tool,
)
from muxwire.operations import KINDS as OPERATIONS
from muxwire.operations.kinds import Scope
from muxwire.operations.lists import is_required, json_fields
from muxwire.operations.operation import DISPATCH_TIMEOUT, StepResult
from muxwire.results import (
    Cursor,
    KeysSent,
    LogChunk,
    LogTail,
    ProcessStop,
    Snapshot,
    State,
    TabList,
    WaitOutcome,
)
from muxwire.tabs.event_log import KINDS
from muxwire.tabs.waits import Wanted
from muxwire.values import to_dict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.mcp.registry import AnyTool
    from muxwire.results import ExecutionResult
    from muxwire.tabs.event_log import TabEvent
    from muxwire.vt.cells import Run


# Tools that open, show and close tabs.

# Columns and rows.
SIZE_LENGTH = 2


def _nothing(given: object) -> object:
    """Return no size for one of zeros: so strict clients say that there is none."""
    if not isinstance(given, list):
        return given
    if len(given) not in (0, SIZE_LENGTH):
        raise ValueError("must be columns and rows")
    return given if any(given) else []


Size = Annotated[
    list[Annotated[int, Field(ge=1)]],
    BeforeValidator(_nothing),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}, "description": "columns, rows"}),
]


@dataclass(frozen=True, slots=True)
class NewTab:
    window_id: str
    name: str
    pane_id: str
    session: str
    log_path: str


@dataclass(frozen=True, slots=True)
class Success:
    """It was done; else there is an error."""

    success: bool


class CreateTab(Arguments):
    name: str = ""
    cwd: str = ""
    env: Environment = Field(default={})
    login: bool = False
    shell: str = ""
    command: list[str] = Field(default=[], description="argv to run in place of a shell")
    session: str = ""
    size: Size = Field(default=[])
    strip_ansi: bool = Field(default=False, description="default of all reads of it")
    idle_timeout_ms: Milliseconds = Field(default=0, description="close when unused so long")
    host: str = Field(default="", description="as hosts.toml allows")


class CloseTab(InTab):
    force: bool = Field(default=False, description="even if something runs")
    session: str = Field(default="", description="all its tabs instead")


class ListTabs(Arguments):
    closed: bool = Field(default=False, description="closed tabs too")
    session: str = ""


@tool(
    CreateTab,
    returns=NewTab,
    hints=Hints(destructive=True, open_world=True),  # `command` may be anything
)
async def create_tab(call: Call, given: CreateTab) -> NewTab:
    """Open a tab with a shell; it lives until closed."""
    tab = await call.terminals.create_tab(
        name=given.name,
        cwd=given.cwd or None,
        env=given.env or None,
        login=given.login,
        shell=given.shell or None,
        command=given.command or None,
        session=given.session or None,
        size=(given.size[0], given.size[1]) if given.size else None,
        strip_ansi=given.strip_ansi,
        idle_timeout=seconds(given.idle_timeout_ms) or None,
        host=given.host,
    )
    return NewTab(tab.key, tab.name, tab.prefix + tab.pane_id, tab.session, str(tab.log_path))


@tool(ListTabs, returns=TabList, hints=Hints(read_only=True))
async def list_tabs(call: Call, given: ListTabs) -> TabList:
    """List tabs and sessions. state "prompt": ready."""
    return await call.terminals.list_tabs(closed=given.closed, session=given.session)


@tool(CloseTab, returns=Success, hints=Hints(destructive=True))
async def close_tab(call: Call, given: CloseTab) -> Success:
    """Close a tab and end what runs in it. Its log stays."""
    if given.session and not given.window_id:
        await call.terminals.close_session(given.session, force=given.force)
    else:
        await call.terminals.close_tab(given.target, force=given.force)
    return Success(success=True)


# Tools that run one command or script and return exactly what it wrote.

RUNS_ANYTHING = Hints(destructive=True, open_world=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """What a model is given of a command. `cwd` if it changed; offsets if `output` is not all there is."""

    output: str
    exit_code: int | None
    timed_out: bool
    duration_ms: float
    command_id: str
    window_id: str = ""
    state: State = "prompt"
    cwd: str = ""
    from_byte: int | None = None
    next_byte: int | None = None
    truncated: bool = False
    omitted_bytes: int = 0
    running: bool = False
    signal_sent: str = ""
    note: str = ""


# What is taken from the library's result, where it says something.
_OUTCOME_FIELDS = tuple(field.name for field in fields(CommandOutcome) if field.name != "window_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptOutcome(CommandOutcome):
    """What a model is given of a script."""

    script_path: str


class ExecuteCommand(ExecutionOptions):
    """What `execute_command` takes."""

    command: str


class ExecuteScript(ExecutionOptions):
    """What `execute_script` takes."""

    language: Literal["python", "typescript", "javascript", "shell"]
    code: str
    args: list[str] = Field(default=[])


class CommandResult(Arguments):
    """What `command_result` takes."""

    command_id: str
    wait_ms: Milliseconds = 0
    strip_ansi: StripAnsi = None
    max_chars: MaxChars = DEFAULT_MAX_CHARS


@tool(ExecuteCommand, returns=CommandOutcome, hints=RUNS_ANYTHING)
async def execute_command(call: Call, given: ExecuteCommand) -> CommandOutcome:
    """Run a shell command in a tab and wait for it: exact output, exit code. timed_out: it was interrupted, or
    still runs with on_timeout "leave". env and cwd hold for this command only; max_chars cuts output in its middle.
    """
    tab, is_new = await call.terminals.tab_or_new(given.target, within=seconds(given.timeout_ms))
    result = await call.progress.during(tab.execute(given.command, **_options(call, given)))
    return CommandOutcome(**_news(result, tab.window_id if is_new else ""))


@tool(CommandResult, returns=CommandOutcome, hints=Hints(read_only=True))
async def command_result(call: Call, given: CommandResult) -> CommandOutcome:
    """Get the further output, and at the end the exit code, of a command left running. Returns when it ends or
    waits for input, after wait_ms at the latest.
    """
    result = await call.progress.during(
        call.terminals.command_result(
            given.command_id, wait=seconds(given.wait_ms), strip_ansi=given.strip_ansi, max_chars=given.max_chars
        )
    )
    return CommandOutcome(**_news(result))


@tool(ExecuteScript, returns=ScriptOutcome, hints=RUNS_ANYTHING, toolset="scripts")
async def execute_script(call: Call, given: ExecuteScript) -> ScriptOutcome:
    """Write code to a file and run it as execute_command does: nothing to quote."""
    tab, is_new = await call.terminals.tab_or_new(given.target, within=seconds(given.timeout_ms))
    result = await call.progress.during(
        tab.execute_script(given.language, given.code, args=given.args, **_options(call, given))
    )
    return ScriptOutcome(script_path=result.script_path, **_news(result, tab.window_id if is_new else ""))


def _news(result: ExecutionResult, window: str = "") -> dict[str, Any]:
    """Return what there is to tell of an execution; `window`: the tab that was made for it."""
    news = {name: getattr(result, name) for name in _OUTCOME_FIELDS}
    if result.cwd == result.started_in:
        del news["cwd"]
    if not (result.running or result.truncated):
        del news["from_byte"], news["next_byte"]
    return {**news, "window_id": window}


def _options(call: Call, given: ExecutionOptions) -> dict[str, Any]:
    return {
        "timeout": seconds(given.timeout_ms),
        "strip_ansi": given.strip_ansi,
        "env": given.env or None,
        "cwd": given.cwd or None,
        "on_timeout": given.on_timeout,
        "wait": not given.in_background,
        "max_chars": given.max_chars,
        "on_progress": call.progress.note,
    }


# Tools for programs that stay: servers, watchers, REPLs.

# A development server that compiles first takes this long to say that it listens.
DEFAULT_READY_TIMEOUT_MS = 30_000

# What a program gets to end by itself before the next, stronger signal.
DEFAULT_GRACE_MS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOutcome:
    """What a model is given of a process; `ready` if that was asked for, `exit_code` and `state` if it has ended."""

    started: bool
    command_id: str = ""
    window_id: str = ""
    ready: bool | None = None
    output: str = ""
    exit_code: int | None = None
    state: State | None = None


class StartProcess(InTab):
    command: str
    append_newline: bool = True
    ready: str = Field(default="", description="text to wait for")
    ready_regex: bool = False
    ready_timeout_ms: Milliseconds = DEFAULT_READY_TIMEOUT_MS


class StopProcess(InTab):
    signal: str = "SIGINT"
    grace_ms: Milliseconds = DEFAULT_GRACE_MS


@tool(StartProcess, returns=StartOutcome, hints=Hints(destructive=True, open_world=True))
async def start_process(call: Call, given: StartProcess) -> StartOutcome:
    """Start a server, watcher or REPL at a tab's prompt and leave it running. Read on with command_result.
    append_newline false: only types the text, into a running program too.
    """
    tab, is_new = await call.terminals.tab_or_new(given.target, within=seconds(given.ready_timeout_ms))
    started = await call.progress.during(
        tab.start_process(
            given.command,
            append_newline=given.append_newline,
            ready=given.ready,
            ready_regex=given.ready_regex,
            ready_timeout=seconds(given.ready_timeout_ms),
        )
    )
    return StartOutcome(
        started=started.started,
        command_id=started.command_id,
        window_id=tab.window_id if is_new else "",
        ready=started.ready,
        output=started.output,
        exit_code=started.exit_code,
        state=started.state if started.ended else None,
    )


@tool(StopProcess, returns=ProcessStop, hints=Hints(destructive=True))
async def stop_process(call: Call, given: StopProcess) -> ProcessStop:
    """Stop what runs in a tab: the signal, and after each grace_ms a stronger one, up to SIGKILL."""
    tab = await call.terminals.tab(given.target)
    return await call.progress.during(tab.stop_process(given.signal, grace=seconds(given.grace_ms)))


# Tools that read what tabs have shown.

# As many lines as a model reads with profit.
DEFAULT_LINES = 500

# What a pipe holds: one read of a busy log.
DEFAULT_MAX_BYTES = 65_536


class ReadLogs(InTab):
    lines: Annotated[int, Field(ge=1)] = DEFAULT_LINES
    strip_ansi: StripAnsi = None
    grep: str = Field(default="", description="regex: only lines with a match, and before and after it")
    before: Count = 0
    after: Count = 0
    command_id: str = ""


class StreamLogs(InTab):
    from_byte: Count = 0
    max_bytes: Annotated[int, Field(ge=1)] = DEFAULT_MAX_BYTES
    strip_ansi: StripAnsi = None
    wait_ms: Milliseconds = Field(default=0, description="for more output")


class SetHistoryLimit(Arguments):
    limit: Count


@tool(ReadLogs, returns=LogTail, hints=Hints(read_only=True), large_result=True)
async def read_logs_from_tab(call: Call, given: ReadLogs) -> LogTail:
    """Read the last lines that a tab showed, also a closed one, or of command_id's output. Continue from next_byte with
    stream_logs_from_tab.
    """
    return await call.terminals.read_logs(
        given.target,
        lines=given.lines,
        strip_ansi=given.strip_ansi,
        grep=given.grep,
        before=given.before,
        after=given.after,
        command_id=given.command_id,
    )


@tool(StreamLogs, returns=LogChunk, hints=Hints(read_only=True), large_result=True)
async def stream_logs_from_tab(call: Call, given: StreamLogs) -> LogChunk:
    """Read a tab's output from a byte offset, then from next_byte. eof: no more yet; closed: never more;
    dropped: bytes before chunk that are lost.
    """
    return await call.progress.during(
        call.terminals.stream_logs(
            given.target,
            from_byte=given.from_byte,
            max_bytes=given.max_bytes,
            strip_ansi=given.strip_ansi,
            wait=seconds(given.wait_ms),
        )
    )


@tool(SetHistoryLimit, returns=Success, hints=Hints())
async def set_history_limit(call: Call, given: SetHistoryLimit) -> Success:
    """Set how many lines of scrollback new tabs keep; logs keep all."""
    await call.terminals.set_history_limit(given.limit)
    return Success(success=True)


# Tools that show a screen, type into programs, and wait for them and for events in tabs.

# What a build's step or a server's start takes; a longer wait is better said in so many words.
DEFAULT_WAIT_MS = 30_000
# Milliseconds: nobody needs to order events by their time, they have a sequence.
TIME_DIGITS = 3
# About 3 kB: an answer that a model reads at once, and asks for the next one if it wants more.
DEFAULT_EVENTS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    schema_version: int
    pane: str
    cols: int
    rows: int
    cursor: Cursor
    lines: tuple[str, ...]
    next_byte: int
    source: str
    title: str = ""
    alternate_screen: bool = False
    soft_wrap: tuple[int, ...] = ()
    scrollback: tuple[str, ...] | None = None
    cells: list[dict[str, Any]] | None = None
    scrollback_cells: list[dict[str, Any]] | None = None
    exact: bool = True


# All but the cells, which a model gets as flat objects.
_SCREEN_FIELDS = tuple(field.name for field in fields(Screen) if field.name not in ("cells", "scrollback_cells"))


class TakeSnapshot(InTab):
    at_byte: Annotated[int, Field(ge=-1)] = -1
    command_id: str = ""
    scrollback: Annotated[int, Field(ge=-1)] = Field(default=-1, description="also N rows above; 0: all")
    cells: bool = Field(default=False, description="styles")
    unwrap: bool = Field(default=False, description="join wrapped rows")


class SendKeys(InTab):
    keys: str | list[str] = Field(min_length=1, description="key names (Enter, C-c, M-x, Up, F5) or text, one or many")
    literal: bool = Field(default=False, description="no key names")
    paste: bool = Field(default=False, description="as pasted blocks")
    until: str = Field(default="", description="text to wait for")
    regex: str = ""
    idle_ms: Milliseconds = 0
    wait_ms: Milliseconds = Field(default=0, description="at most; alone: for the answer")


class WaitFor(Arguments):
    window_ids: list[Target] = Field(default=[], description="[]: the active tab")
    until: str = Field(default="", description="text")
    regex: str = ""
    idle_ms: Milliseconds = Field(default=0, description="no output for so long")
    exit: bool = Field(default=False, description="the tab's program ends")
    prompt: bool = Field(default=False, description="the shell is ready")
    bell: bool = False
    from_byte: Annotated[int, Field(ge=-1)] = -1
    timeout_ms: Milliseconds = DEFAULT_WAIT_MS


@tool(TakeSnapshot, returns=Screen, hints=Hints(read_only=True), toolset="screen", large_result=True)
async def snapshot(call: Call, given: TakeSnapshot) -> Screen:
    """See a tab's screen: now, at_byte of its output, or at command_id's end. For plain output read the log."""
    taken = await call.terminals.snapshot(
        given.target,
        given.scrollback if given.scrollback >= 0 else None,
        cells=given.cells,
        unwrap=given.unwrap,
        at_byte=given.at_byte if given.at_byte >= 0 else None,
        command_id=given.command_id,
    )
    return _screen(taken)


@tool(SendKeys, returns=KeysSent, hints=Hints(destructive=True, open_world=True), toolset="screen")
async def send_keys(call: Call, given: SendKeys) -> KeysSent:
    """Type into what runs in a tab: REPL, editor, prompt. With until, regex, idle_ms or wait_ms the new output, state
    and exit_code come in the same call; a command's own output is in command_result.
    """
    wanted = None
    if given.until or given.regex or given.idle_ms:
        idle = seconds(given.idle_ms) if given.idle_ms else None
        wanted = await Wanted.read(until=given.until, regex=given.regex, idle=idle).checked()
    wait = seconds(given.wait_ms or (DEFAULT_WAIT_MS if wanted else 0))
    tab, _ = await call.terminals.tab_or_new(given.target, within=wait or inf)
    typed = tab.send_keys(given.keys, paste=given.paste, literal=given.literal, wanted=wanted, wait=wait)
    return await call.progress.during(typed)


@tool(WaitFor, returns=WaitOutcome, hints=Hints(read_only=True), toolset="screen")
async def wait_for(call: Call, given: WaitFor) -> WaitOutcome:
    """Wait until one of these tabs meets a condition. Text is matched without escape sequences, from the last
    command on, or from_byte: next_byte of send_keys leaves the echo out.
    """
    return await call.progress.during(
        call.terminals.wait_for(
            given.window_ids or [ACTIVE],
            until=given.until,
            regex=given.regex,
            idle=seconds(given.idle_ms) if given.idle_ms else None,
            exit=given.exit,
            prompt=given.prompt,
            bell=given.bell,
            from_byte=given.from_byte if given.from_byte >= 0 else None,
            timeout=seconds(given.timeout_ms),
        )
    )


def _screen(taken: Snapshot) -> Screen:
    same = {name: getattr(taken, name) for name in _SCREEN_FIELDS}
    return Screen(**same, cells=_runs(taken.cells), scrollback_cells=_runs(taken.scrollback_cells))


def _runs(cells: Sequence[Run] | None) -> list[dict[str, Any]] | None:
    return None if cells is None else [run.flat() for run in cells]


@dataclass(frozen=True, slots=True)
class Events:
    """What happened after a cursor; `next` is the one to ask with again."""

    events: list[dict[str, Any]]
    next: int
    dropped: int = 0


class WatchEvents(Arguments):
    window_ids: list[Target] = Field(default=[], description="[]: all")
    kinds: list[str] = Field(default=[], description=" ".join(KINDS))
    since: Annotated[int, Field(ge=-1)] = Field(default=-1, description="next of the last answer; 0: all kept")
    max_events: Annotated[int, Field(ge=1)] = DEFAULT_EVENTS
    timeout_ms: Milliseconds = DEFAULT_WAIT_MS


@tool(WatchEvents, returns=Events, hints=Hints(read_only=True), toolset="screen")
async def watch_events(call: Call, given: WatchEvents) -> Events:
    """Wait for events in tabs, by programs and people, after since. Output only if in kinds."""
    batch = await call.progress.during(
        call.terminals.watch_events(
            given.window_ids,
            kinds=given.kinds,
            since=given.since if given.since >= 0 else None,
            max_events=given.max_events,
            timeout=seconds(given.timeout_ms),
        )
    )
    return Events([_event(event) for event in batch.events], batch.next, batch.dropped)


def _event(event: TabEvent) -> dict[str, str | int | float]:
    """Return an event with its details among its fields; which there are depends on its kind."""
    details = {name: value for name, value in event.details.items() if value is not None}
    time = round(event.time, TIME_DIGITS)
    return {"sequence": event.sequence, "time": time, "kind": event.kind, "window_id": event.window_id, **details}


# The tool that runs several tmux operations in one call.

_STRING = {"type": "string"}
_STRINGS = {"type": "array", "items": _STRING}
# Of the fields of operations, as they are declared.
_TYPES: dict[str, dict[str, Any]] = {
    "str": _STRING,
    "bool": {"type": "boolean"},
    "bool | None": {"type": "boolean"},
    **{name: {"type": "integer"} for name in ("int", "int | None", "float | None")},
    "str | tuple[str, ...]": {"anyOf": [_STRING, _STRINGS]},
    "tuple[str, ...]": _STRINGS,
    "Mapping[str, str]": ENVIRONMENT_SCHEMA,
    "Target": _STRING,
    "Target | None": _STRING,
    "Scope": {"enum": list(get_args(Scope)), "type": "string"},
}
_DESCRIPTION = (
    'target: a tab, a pane, or ref:NAME of an earlier step. Example: [{"kind":"new_window","ref":"w"},'
    '{"kind":"send_keys","target":"ref:w","keys":"htop"}]'
)


# Kinds that share a schema, which is what one of them takes: all must be short, and the library checks each exactly.
_LIKE = {"show_option": "set_option", "break_pane": "rename_window", "kill_pane": "select_pane"}


def _operations() -> list[dict[str, Any]]:
    """Return a schema for each kind, or for a few that take nearly the same."""
    return [
        _operation([kind, *(name for name in OPERATIONS if _LIKE.get(name) == kind)])
        for kind in OPERATIONS
        if kind not in _LIKE
    ]


def _operation(kinds: list[str]) -> dict[str, Any]:
    known = [json_fields(OPERATIONS[kind]) for kind in kinds]
    properties = {name: _TYPES[str(field.type)] for name, field in known[0].items()}
    needed = [name for name in properties if all(name in one and is_required(one[name]) for one in known)]
    return {
        "type": "object",
        "properties": {"kind": {"enum": kinds, "type": "string"}, **properties},
        "required": ["kind", *needed],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOutcome:
    succeeded: bool
    steps: tuple[StepResult, ...]
    created_panes: dict[str, str]
    rolled_back_panes: tuple[str, ...] = ()
    rollback_errors: tuple[str, ...] = ()
    dispatches: tuple[dict[str, Any], ...] = ()


class RunTmuxOperations(Arguments):
    operations: Annotated[
        list[dict[str, Any]],
        WithJsonSchema({"description": _DESCRIPTION, "items": {"anyOf": _operations()}, "type": "array"}),
    ]
    on_error: Literal["stop", "continue"] = "stop"
    dry_run: bool = False
    rollback_on_error: bool = False
    dispatch_timeout_ms: int = Field(default=round(DISPATCH_TIMEOUT * 1000), ge=1)
    timeout_ms: Milliseconds = Field(default=0)


@tool(RunTmuxOperations, returns=ListOutcome, hints=Hints(destructive=True, open_world=True), toolset="ops")
async def run_tmux_operations(call: Call, given: RunTmuxOperations) -> ListOutcome:
    """Steps in one call: make panes (ids work as window_id), arrange, type, run, wait."""
    result = await call.progress.during(
        call.terminals.run_operations(
            given.operations,
            on_error=given.on_error,
            dry_run=given.dry_run,
            dispatch_timeout=seconds(given.dispatch_timeout_ms),
            timeout=seconds(given.timeout_ms) if given.timeout_ms else None,
            rollback_on_error=given.rollback_on_error,
            max_chars=DEFAULT_MAX_CHARS,
        )
    )
    return ListOutcome(
        succeeded=result.succeeded,
        steps=result.steps,
        created_panes=result.created_panes,
        rolled_back_panes=result.rolled_back_panes,
        rollback_errors=result.rollback_errors,
        dispatches=tuple(map(to_dict, result.dispatches)) if given.dry_run else (),
    )


TOOLS: tuple[AnyTool, ...] = (
    create_tab,
    list_tabs,
    close_tab,
    execute_command,
    command_result,
    execute_script,
    start_process,
    stop_process,
    read_logs_from_tab,
    stream_logs_from_tab,
    set_history_limit,
    snapshot,
    send_keys,
    wait_for,
    watch_events,
    run_tmux_operations,
)
