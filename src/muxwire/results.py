"""What the library hands back: frozen values, which the MCP tools and the command line print as they are.

Models are not told what a field says if it has its default, or is None; other rules stand at the field (`values.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, final

from muxwire.errors import State as State  # noqa: PLC0414, TC001 - the fields of a dataclass
from muxwire.values import ALWAYS, NAMES_VERBS, NEVER, only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire.vt.cells import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class OnScreen:
    """What a result has where a program is on the alternate screen: its rows down to the last that is not blank.

    `cursor`: where the cursor is on it, unless that is hidden. `note`, of every result: a sentence on what is unusual,
    "" if nothing is.
    """

    screen: str = ""
    cursor: Cursor | None = None
    note: str = field(default="", metadata=NAMES_VERBS)


@final
@dataclass(frozen=True, slots=True)
class ExecutionResult(OnScreen):
    """One command that ran between marks.

    `output` is what the program wrote: UTF-8 decoded (errors replaced), the terminal's `\\r\\n` back to `\\n`.
    `exit_code` is None while the command still runs. `timed_out`: it was interrupted by its timeout, or still runs
    after it. `duration_ms` is by the clock of bash (from 5.0 on) and of zsh; elsewhere, and where an open line had to
    be cleared first, it counts from when the command was typed, which is more by what the shell takes to begin.
    `from_byte` and `next_byte` are offsets of the raw output in the pane's log.
    `script_path` is where `execute_script` put the code.
    `state` is the tab's state when this was made, and of a command that has ended the one that it has left. `note` says
    in a sentence what is unusual, "" if nothing is.
    `why_running`: why the call ended before the command, as far as that is known; "" elsewhere.
    `cwd` is the shell's directory now, `started_in` the one in which the command was typed.
    `screen`: where a program is on the alternate screen, its rows down to the last that is not blank; `cursor`: where
    the cursor is on it, unless that is hidden. They are there, too, if a program has ended without leaving that screen.
    `omission`: from which character to which `output` says that `omitted_bytes` were left out there; 0, 0 if none were.
    """

    output: str
    duration_ms: float
    command_id: str
    exit_code: int | None = None
    timed_out: bool = False
    state: State = "prompt"
    cwd: str = field(default="", metadata=only(lambda result: result.cwd != result.started_in))
    from_byte: int = field(default=0, metadata=only(lambda result: result.truncated))
    next_byte: int = field(default=0, metadata=only(lambda result: result.truncated or result.running))
    truncated: bool = False
    running: bool = False
    omitted_bytes: int = 0
    signal_sent: str = ""
    script_path: str = ""
    started_in: str = field(default="", metadata=NEVER)
    omission: tuple[int, int] = field(default=(0, 0), metadata=NEVER)
    why_running: str = field(default="", metadata=NEVER)


@final
@dataclass(frozen=True, slots=True)
class CommandInfo:
    """`command_info`: a command and its tab; `began` and `ended` in Unix seconds, `ended` None while it runs."""

    command_id: str
    command: str
    window_id: str
    began: float
    ended: float | None
    exit_code: int | None


@final
@dataclass(frozen=True, slots=True)
class ProcessStart(OnScreen):
    """`start_process`: `started` once its shell has begun it; `ready` is None if no readiness was asked for.

    A wait for `ready` also ends when the program asks something: then `state` is `interactive`.
    `exit_code` is None while it runs; `output` is what it has written so far, in its middle cut if that is much.
    `command_id` is "" if the text was only typed. `ended`: it does not run any more. `screen`, `cursor`: as of an
    `ExecutionResult`.
    """

    started: bool
    from_byte: int = field(metadata=NEVER)
    ready: bool | None
    state: State = field(metadata=only(lambda start: start.ended or start.state == "interactive"))
    command_id: str = ""
    output: str = ""
    exit_code: int | None = None
    ended: bool = field(default=False, metadata=NEVER)


@final
@dataclass(frozen=True, slots=True)
class ProcessLeft:
    """A process that outlived the stop of its job."""

    name: str
    pid: int


@final
@dataclass(frozen=True, slots=True)
class ProcessStop:
    """`stop_process`: `success`: what it was to stop is gone. `signal_sent` is the last one needed, "" if none was.

    `left`: what of the job still runs in the tab's session, such as a command in the background; on this machine only.
    `exit_code` is that of the command that ended; None if what was typed never ran, or if nothing did. `note`: why it
    still runs, if that is known, and what is left to do.
    """

    success: bool
    signal_sent: str
    exit_code: int | None = field(metadata=ALWAYS)
    state: State
    left: tuple[ProcessLeft, ...] = ()
    note: str = field(default="", metadata=NAMES_VERBS)


@final
@dataclass(frozen=True, slots=True)
class KeysSent(OnScreen):
    """`send_keys`: how many bytes went to the program of `pane`, and where in its output the answer begins.

    The echo of the keys belongs to that answer. `note` says in a sentence what is unusual, "" if nothing is.
    Where an answer was waited for, `output` is what was shown since the keys, `next_byte` follows it, and
    `outcome` says why it ended: `met`, `ended` (the command, or the last line; `exit_code`, None if none ran),
    `timed_out`, `closed`; `asks`: the program asks something, and what was wanted did not come; `silent`: a text that
    reads like a question stands there, and whether its program waits cannot be seen (over ssh, in a container).
    `screen`, `cursor`: as of an `ExecutionResult`.
    `asked`: of `answers`, all that was new before each that was typed, the echo of the one before left out, so the
    first is empty if the result of the command has told it; `output` is then what came after the last.
    `taken`: whether a program that reads keys showed the text, and at Enter took it from where it stood; None where
    that is not asked, or more was typed behind it.
    """

    sent: int = field(metadata=NEVER)
    pane: str = field(metadata=NEVER)
    next_byte: int
    output: str = ""
    outcome: Literal["met", "ended", "silent", "asks", "timed_out", "closed"] | None = None
    state: State | None = field(
        default=None, metadata=only(lambda sent: sent.state and (sent.outcome, sent.state) != ("ended", "prompt"))
    )
    exit_code: int | None = None
    asked: tuple[str, ...] = ()
    taken: bool | None = None


@final
@dataclass(frozen=True, slots=True)
class WaitOutcome(OnScreen):
    """`wait_for`: `outcome` says why the wait has ended, and `which` in which tab, as the caller named it.

    `state`: what the only tab, or `which`, does now, if what is wanted may still come.
    `match` is the text that matched, or what else was met: `idle`, `prompt`, `bell`, `exit STATUS`. `exit_code`: after
    `prompt` the shell's `$?`, after `exit` how the tab's program ended; None if that is not known. `matched_at_entry`:
    it was there before the call. `next_byte` follows the match. `tail` is the last text since where the wait began.
    `screen` and `cursor` are those of the only tab, or of `which`, as of an `ExecutionResult`.
    """

    outcome: Literal["met", "asks", "timed_out", "closed"]
    which: str
    next_byte: int
    tail: str
    match: str = ""
    matched_at_entry: bool = False
    exit_code: int | None = None
    state: State | None = None


@final
@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the next character goes, counted from 0."""

    x: int
    y: int
    visible: bool = True


@final
@dataclass(frozen=True, slots=True)
class Snapshot:
    """`snapshot`: `lines` are the rows of the screen without the blank ones at its end.

    `soft_wrap`: the numbers of the rows whose text continues in the next one. `scrollback`: the rows above, None if not
    asked for. `cells`: runs of columns that do not look like the default, None if not asked for. `scrollback_cells`:
    the same of `scrollback`; row 0 is its first. `next_byte`: the offset of the output that the picture was taken at.
    `source`: `tmux` for what the pane shows now, `replay` for a screen of the past. That is `exact`, unless bytes
    that came before those which were played may have changed it.
    """

    pane: str
    cols: int
    rows: int
    cursor: Cursor
    lines: tuple[str, ...]
    next_byte: int
    title: str = ""
    alternate_screen: bool = False
    soft_wrap: tuple[int, ...] = ()
    scrollback: tuple[str, ...] | None = None
    cells: tuple[Run, ...] | None = None
    scrollback_cells: tuple[Run, ...] | None = None
    schema_version: int = field(default=1, metadata=ALWAYS)
    source: Literal["tmux", "replay"] = field(default="tmux", metadata=ALWAYS)
    exact: bool = True

    def svg(self, *, light: bool = False) -> str:
        """The viewport as a picture for people, dark or `light`; in colour if it was taken with `cells`."""
        from muxwire.vt.svg import svg  # few ask for one

        cursor = (self.cursor.x, self.cursor.y) if self.cursor.visible else None
        return svg(
            self.lines,
            self.cells or (),
            columns=self.cols,
            rows=self.rows,
            cursor=cursor,
            title=self.title or self.pane,
            light=light,
        )


@final
@dataclass(frozen=True, slots=True)
class LogMatch:
    """A line that was looked for: the offset at which it begins in the log, and its number, counted from 1.

    It is counted in what was searched; None if counting took too long. `byte` is near a line that cursor moves drew.
    """

    byte: int
    line: int | None = None


@final
@dataclass(frozen=True, slots=True)
class LogTail:
    """`read_logs`: `content` has the last lines that the pane showed, or those of a command's output.

    `truncated`: there were more. `returned_lines` counts those of `content`. `first_byte` is the offset of the oldest
    byte that is kept of it. `note`: what `strip_ansi` left out, or "". `matches`: the lines of `content` that `grep`
    matched, in their order, each with `byte`, where it begins in the log, and `line`, its number in what was searched.
    """

    content: str
    returned_lines: int
    truncated: bool
    next_byte: int
    first_byte: int = 0
    note: str = field(default="", metadata=NAMES_VERBS)
    matches: tuple[LogMatch, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class LogChunk:
    """`stream_logs`: `next_byte` is the offset to ask from next. `eof`: nothing more is there now.

    At `eof`, what a pane has written beyond `next_byte` is half a character, line end, escape sequence or muxwire line.
    `closed`: the pane will never write again. `dropped`: so many bytes before `chunk` are lost: no store holds them any
    more. `first_byte` is the offset of the oldest byte that the log still has. `note`: what `strip_ansi` left out.
    """

    chunk: str
    next_byte: int
    eof: bool
    closed: bool = False
    dropped: int = 0
    first_byte: int = 0
    note: str = field(default="", metadata=NAMES_VERBS)


@final
@dataclass(frozen=True, slots=True)
class CommandRecord:
    """`history`: a command that has ended, or a line that was typed, with neither its output nor any keys.

    `time`: when it began, in Unix seconds. `window_id` and `generation` are those of its tab (`GENERATION/@N`).
    `by`: `execute`, `keys` (`send_keys`) or `person`, who may be a program that types by tmux; of all but the first
    `command` is not known, and if no process was there at its end, `duration_ms` neither.
    """

    time: float
    window_id: str
    generation: int
    name: str
    by: Literal["execute", "keys", "person"]
    cwd: str
    duration_ms: float | None
    exit_code: int | None
    from_byte: int
    next_byte: int
    command_id: str = ""
    command: str = ""


@final
@dataclass(frozen=True, slots=True)
class TabInfo:
    """One tab, as `create_tab` makes and `list_tabs` lists it.

    `window_id` is what it is called, which for a further pane of a window is its `pane_id`.
    `last_command` is the last one that muxwire ran, its code None if it has none (yet). `active`: what an omitted
    `window_id` means. `reason`: why it is closed. `created`, `used`: how many seconds ago muxwire made it, and this
    process, a person or what runs in it used it last; None if that is not known.
    """

    window_id: str
    name: str
    active: bool
    pane_id: str
    session: str
    state: State
    log_path: str
    next_byte: int
    current_command: str = ""
    cwd: str = ""
    closed: bool = False
    reason: str = ""
    last_command: str = ""
    last_exit_code: int | None = None
    created: int | None = None
    used: int | None = None
    # Of a tab on another machine: its host, `up`, `reconnecting` or `closed`, and the newest round trip (0 before the
    # first).
    host: str = ""
    link: str = ""
    rtt_ms: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session, `HOST/SESSION` on another machine, with the clients attached to it (muxwire's not counted)."""

    name: str
    window_count: int
    attached_client_count: int


@final
@dataclass(frozen=True, slots=True)
class TabList:
    """`list_tabs`; iterated over, it gives its `tabs`. `unreached`: the machines whose tabs are left out, and why."""

    tabs: tuple[TabInfo, ...]
    sessions: tuple[SessionInfo, ...]
    unreached: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[TabInfo]:
        return iter(self.tabs)
