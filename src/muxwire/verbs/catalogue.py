"""The verbs, in the order in which models see them: what each takes.

Docstrings are what a model is told of a verb; the package says what the rules of the fields are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, final

from muxwire.verbs.describe import Says, Verb
from muxwire.verbs.types import (
    ACTIVE,
    CHUNK_MAX,
    DEFAULT_EVENTS,
    DEFAULT_GRACE,
    DEFAULT_LINES,
    DEFAULT_MAX_BYTES,
    DEFAULT_MAX_CHARS,
    DEFAULT_TIMEOUT,
    DEFAULT_WAIT,
    DISPATCH_TIMEOUT,
    EVENTS_AT_ONCE,
    HISTORY_LIMIT_MAX,
    LINES_MAX,
    CommandId,
    CommandLine,
    Count,
    Cwd,
    Drawing,
    Environment,
    Idle,
    Language,
    Machine,
    MaxChars,
    Objects,
    Offset,
    OnError,
    OnInput,
    OnOutput,
    OnProgress,
    OnStart,
    OnTimeout,
    Positive,
    Seconds,
    Session,
    Shell,
    Size,
    Strings,
    StripAnsi,
    Target,
    Targets,
    Texts,
    Until,
)

# Two classes that other verbs have as a second base have no slots: a class can take over those of one base only.


@dataclass(frozen=True, kw_only=True)
class InTab(Verb):
    """A verb that acts on one tab."""

    window_id: Target = ""

    @property
    def target(self) -> str:
        """The tab, which is the active one if none is named."""
        return self.window_id or ACTIVE


@dataclass(frozen=True, kw_only=True)
class InTabs(Verb):
    """A verb that acts on some tabs."""

    window_ids: Annotated[Targets, Says("the tabs; none: the one used last", "[]: the active tab")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(Verb):
    """What running a command and running a script share."""

    timeout: Annotated[Seconds, Says("interrupt it after that time", "a build: 600000", metavar="SECONDS", least=1)] = (
        DEFAULT_TIMEOUT
    )
    strip_ansi: StripAnsi | None = None
    env: Annotated[Environment, Says("run it in a subshell, with that variable")] = field(default_factory=dict)
    cwd: Annotated[Cwd, Says("run it in a subshell, in that directory")] = ""
    async_: Annotated[bool, Says("return at once; command_result has the result later", "do not wait")] = False
    on_timeout: Annotated[OnTimeout, Says("what to do at the timeout: end it, or leave it running")] = "interrupt"
    idle: Idle = 0.0
    max_chars: MaxChars | None = None
    drawing: Drawing = True
    on_progress: Annotated[OnProgress | None, Says(is_here=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute(Execution):
    """A command, and how it is run."""

    command: Annotated[
        CommandLine,
        Says("a command line for the tab's shell, which knows its aliases and functions", metavar="COMMAND"),
    ] = field(kw_only=False)
    on_start: Annotated[OnStart | None, Says(is_here=True)] = None
    on_output: Annotated[OnOutput | None, Says(is_here=True)] = None
    on_input: Annotated[OnInput | None, Says(is_here=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Execution):
    """A script, and how it is run."""

    language: Annotated[Language, Says("what runs it: the tab's own interpreter; shell: its kind of shell")] = field(
        kw_only=False
    )
    code: Annotated[str, Says("the script")] = field(kw_only=False)
    args: Annotated[Strings, Says("its arguments")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneRequest(Verb):
    """What runs in a new pane, and where."""

    cwd: Cwd = ""
    env: Environment = field(default_factory=dict)
    login: Annotated[bool, Says("a login shell")] = False
    shell: Shell | None = None
    command: Annotated[
        Strings, Says("what to run in place of a shell", "argv in place of a shell", metavar="COMMAND")
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TabRequest(PaneRequest):
    """What a new tab is."""

    name: Annotated[str, Says("what the tab is called", metavar="NAME")] = ""
    session: Session = ""
    size: Annotated[
        Size | None,
        Says(
            "a fixed size, which attached terminals do not change; without it 120 columns and 30 rows until a person "
            "attaches",
            "columns, rows",
        ),
    ] = None
    strip_ansi: Annotated[
        bool, Says("all that is read of it is plain text: no colours, progress bars reduced to their last state")
    ] = False
    idle_timeout: Annotated[
        Seconds, Says("close it when it was not used for that long", "close when unused so long", metavar="TIME")
    ] = 0.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTab(TabRequest):
    """Open a tab with a shell; it lives until closed."""

    verb: ClassVar[str] = "create_tab"
    host: Annotated[
        Machine,
        Says(
            "open it on that machine, which hosts.toml has to allow; if the connection is lost, it lives on for the "
            "time that `keep` says there",
            "as hosts.toml allows",
            metavar="HOST",
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Verb):
    """Which tabs are listed."""

    closed: Annotated[bool, Says("closed tabs too, whose logs can still be read", "closed tabs too")] = True
    session: Annotated[str, Says("only the tabs of that tmux session", metavar="NAME")] = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ListTabs(Listing):
    """List tabs and sessions. state "prompt": ready."""

    verb: ClassVar[str] = "list_tabs"
    closed: Annotated[bool, Says("closed tabs too, whose logs can still be read", "closed tabs too")] = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CloseTab(InTab):
    """Close a tab and end what runs in it. Its log stays."""

    verb: ClassVar[str] = "close_tab"
    force: Annotated[bool, Says("also if something runs in it", "even if something runs")] = False
    session: Annotated[
        str, Says("all tabs of that tmux session in place of one tab", "all its tabs instead", metavar="NAME")
    ] = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteCommand(Execute, InTab):
    """Run a shell command in a tab and wait for it: exact output, exit code. timed_out: it was interrupted, or
    still runs with on_timeout "leave". env and cwd hold for this command only; max_chars cuts output in its middle.
    """

    verb: ClassVar[str] = "execute_command"
    max_chars: MaxChars | None = DEFAULT_MAX_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOf(Verb):
    """What is asked of a command that was left running."""

    command_id: CommandId = field(default="", kw_only=False)
    wait: Annotated[Seconds, Says("wait that long for its end; 0, the default: answer at once")] = 0.0
    idle: Idle = 0.0
    strip_ansi: StripAnsi | None = None
    max_chars: MaxChars | None = None
    drawing: Drawing = True
    whole: Annotated[bool, Says(is_here=True)] = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult(ResultOf):
    """Get the further output, and at the end the exit code, of a command left running. Returns when it ends or
    waits for input, or after wait_ms (default 0: at once).
    """

    verb: ClassVar[str] = "command_result"
    command_id: CommandId = field(kw_only=False)
    max_chars: MaxChars | None = DEFAULT_MAX_CHARS


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteScript(Script, InTab):
    """Write code to a file and run it as execute_command does."""

    verb: ClassVar[str] = "execute_script"
    max_chars: MaxChars | None = DEFAULT_MAX_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Verb):
    """What is started, and what says that it is ready."""

    command: Annotated[str, Says("a line for the tab's shell", metavar="COMMAND")] = field(kw_only=False)
    append_newline: Annotated[bool, Says("run it; else the text is only typed")] = True
    ready: Annotated[str, Says("wait until its output holds this text", "text to wait for", metavar="TEXT")] = ""
    ready_regex: Annotated[bool, Says("`ready` is a regular expression")] = False
    ready_timeout: Annotated[Seconds, Says("wait for `ready` that long")] = DEFAULT_WAIT


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StartProcess(Start, InTab):
    """Start a server, watcher or REPL at a tab's prompt and leave it running. Read on with command_result.
    append_newline false: only types the text, into a running program too.
    """

    verb: ClassVar[str] = "start_process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Verb):
    """How what runs is stopped."""

    signal: Annotated[str, Says("the first signal: SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGKILL")] = field(
        default="SIGINT", kw_only=False
    )
    grace: Annotated[Seconds, Says("how long each signal has to end it")] = DEFAULT_GRACE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StopProcess(Stop, InTab):
    """Stop what runs in a tab: the signal, and after each grace_ms a stronger one, up to SIGKILL. left:
    what of it still runs.
    """

    verb: ClassVar[str] = "stop_process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail(Verb):
    """Which of the last lines are read."""

    lines: Annotated[Positive, Says("the last N lines", most=LINES_MAX, metavar="N")] = DEFAULT_LINES
    strip_ansi: StripAnsi | None = None
    grep: Annotated[
        str, Says("only lines with a match", "regex: only lines with a match, and before and after it", metavar="REGEX")
    ] = ""
    before: Annotated[Count, Says("lines before each match", metavar="N")] = 0
    after: Annotated[Count, Says("lines after each match", metavar="N")] = 0
    command_id: Annotated[CommandId, Says("only what that command wrote")] = ""
    drawing: Drawing = True


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLogs(Tail, InTab):
    """Read the last lines that a tab showed, also a closed one, or of command_id's output. Continue from next_byte with
    stream_logs_from_tab.
    """

    verb: ClassVar[str] = "read_logs_from_tab"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece(Verb):
    """Which piece of the output is read."""

    from_byte: Annotated[Offset, Says("begin at that offset of its output")] = 0
    max_bytes: Annotated[Positive, Says("at most so many at once", unit="bytes", most=CHUNK_MAX)] = DEFAULT_MAX_BYTES
    strip_ansi: StripAnsi | None = None
    wait: Annotated[Seconds, Says("wait that long for more output, if there is none")] = 0.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLogs(Piece, InTab):
    """Read a tab's output from a byte offset, then from next_byte. eof: no more yet; closed: never more;
    dropped: bytes before chunk that are lost.
    """

    verb: ClassVar[str] = "stream_logs_from_tab"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SetHistoryLimit(Verb):
    """Set how many lines of scrollback new tabs keep; logs keep all."""

    verb: ClassVar[str] = "set_history_limit"
    limit: Annotated[
        Count,
        Says("rows of scrollback, for each tab; 10,000 until it is set", most=HISTORY_LIMIT_MAX),
    ] = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot(Verb):
    """Which screen is shown, and how much of it."""

    at_byte: Annotated[Offset | None, Says("as it was at that offset of its output")] = None
    command_id: Annotated[CommandId, Says("as it was when that command had ended")] = ""
    ago: Annotated[Seconds | None, Says("as it was that long ago")] = None
    scrollback: Annotated[
        Count | None, Says("also N rows above it; 0: all", "also N rows above; 0: all", metavar="N")
    ] = None
    cells: Annotated[bool, Says("colours and other styles too", "styles")] = False
    unwrap: Annotated[bool, Says("join rows that the terminal wrapped")] = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TakeSnapshot(Screenshot, InTab):
    """See a tab's screen: now, ago_ms ago, at_byte or command_id's end. For text read the log."""

    verb: ClassVar[str] = "snapshot"
    image: Annotated[bool, Says("a picture too, as PNG")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions(Verb):
    """What is waited for: what a tab writes or shows."""

    until: Until = ""
    regex: Annotated[str, Says("a match in its output", metavar="REGEX")] = ""
    gone: Annotated[bool, Says("wait until the text or match has left the screen", "until it is off the screen")] = (
        False
    )
    stable: Annotated[
        Seconds,
        Says(
            "its screen has not changed for that long; with gone: the text stays away that long",
            "screen unchanged so long",
            metavar="SECONDS",
        ),
    ] = 0.0
    idle: Annotated[
        Seconds, Says("it has written nothing for that long", "no output for so long", metavar="SECONDS")
    ] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Typing(Conditions):
    """What is typed, and what is waited for then."""

    keys: Annotated[
        Texts,
        Says(
            "tmux's name of a key (Enter, C-c, M-x, Up, F5), literal text, or the mouse at a column and a row, counted "
            "from 0: Click@COL,ROW, RightClick@, MiddleClick@, WheelUp@, WheelDown@",
            "key names (Enter, C-c, M-x, Up, F5, Click@COL,ROW) or text",
            least=1,
            metavar="KEY",
        ),
    ] = field(default=(), kw_only=False)
    answers: Annotated[
        Strings,
        Says(
            "lines to enter, one each time the program waits for input again",
            "lines, each when it asks",
            metavar="LINE",
        ),
    ] = ()
    literal: Annotated[bool, Says("type all as text, also the name of a key", "no key names")] = False
    paste: Annotated[bool, Says("as pasted blocks, bracketed where the program asks", "as pasted blocks")] = False
    enter: Annotated[bool, Says(is_here=True)] = False
    wait: Annotated[
        Seconds,
        Says("wait at most that long; given alone, for the program's answer", "at most; alone: for the answer"),
    ] = 0.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SendKeys(Typing, InTab):
    """Type into what runs in a tab: REPL, editor, agent. With until, regex, idle_ms, wait_ms: new output, state,
    exit_code too; for a command's own exit code use command_result. taken: the program showed the text, and changed
    its screen after Enter.
    """

    verb: ClassVar[str] = "send_keys"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait(Conditions):
    """What is waited for in a tab: any one of these is enough."""

    exit: Annotated[bool, Says("its program ends")] = False
    prompt: Annotated[bool, Says("its shell is ready for a command", "the shell is ready")] = False
    bell: Annotated[bool, Says("it rings the bell")] = False
    from_byte: Annotated[Offset | None, Says("count output from that offset on")] = None
    timeout: Annotated[Seconds, Says("give up after that time", metavar="SECONDS")] = DEFAULT_WAIT


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(Wait, InTabs):
    """Wait until one of these tabs meets a condition; without one, for 500 ms without output. Text is matched without
    escape sequences, from the last command on, or from_byte: next_byte of send_keys leaves the echo out.
    """

    verb: ClassVar[str] = "wait_for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching(Verb):
    """Which events are waited for."""

    kinds: Annotated[
        Strings,
        Says(
            "only events of that kind; none: all but output",
            "as command_finished, bell, exited, output; a wrong one's error lists all",
            metavar="KIND",
        ),
    ] = ()
    since: Annotated[
        Count | None,
        Says(
            "what happened after the `next` of an earlier answer; 0: all that is kept; absent: from now on",
            "next of the last answer; 0: all kept",
        ),
    ] = None
    max_events: Annotated[Positive, Says("at most so many at once")] = EVENTS_AT_ONCE
    timeout: Annotated[Seconds, Says("end after that time", metavar="SECONDS")] = DEFAULT_WAIT


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvents(Watching, InTabs):
    """Wait for events in tabs, by programs and people. Output only if in kinds."""

    verb: ClassVar[str] = "watch_events"
    window_ids: Annotated[Targets, Says("only of these tabs; none: of all", "[]: all")] = ()
    max_events: Annotated[Positive, Says("at most so many at once")] = DEFAULT_EVENTS


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTerminal(InTab):
    """Let the person see and use a tab, as for a secret. attach: what to pass on where no terminal is shown."""

    verb: ClassVar[str] = "show_terminal"
    why: Annotated[str, Says("what the person is to do there", "what to do there", metavar="TEXT")] = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunTmuxOperations(Verb):
    """Steps in one call: make panes (ids work as window_id), arrange, type, run, wait."""

    verb: ClassVar[str] = "run_tmux_operations"
    operations: Annotated[Objects, Says("the steps: docs/operations.md has their kinds")] = field(kw_only=False)
    on_error: Annotated[OnError, Says("what to do after a step that fails")] = "stop"
    dry_run: Annotated[bool, Says("send nothing; show what would be sent")] = False
    rollback_on_error: Annotated[bool, Says("if a step fails, close what others made")] = False
    dispatch_timeout: Annotated[
        Seconds, Says("how long tmux may take to answer a step", metavar="SECONDS", least=1)
    ] = DISPATCH_TIMEOUT
    timeout: Annotated[Seconds, Says("how long the whole list may take; 0: no limit", metavar="SECONDS")] = 0.0
    max_chars: Annotated[int | None, Says(least=1, is_here=True)] = None
    # The tabs by their addresses that a person agreed to end; no other one in which something of theirs may run is
    # ended then. None: nobody is to be asked.
    agreed: Annotated[Strings | None, Says(is_here=True)] = None


VERBS: Final[tuple[type[Verb], ...]] = (
    CreateTab, ListTabs, CloseTab, ExecuteCommand, CommandResult, ExecuteScript, StartProcess, StopProcess, ReadLogs,
    StreamLogs, SetHistoryLimit, TakeSnapshot, SendKeys, WaitFor, WatchEvents, ShowTerminal,
    RunTmuxOperations,
)  # fmt: skip
