"""What the shell of one pane is doing, learned from the marks in its stream and from what we did ourselves.

`ShellSession` is pure: bytes, offsets and times come in, facts go out. `session_table.py` says what moves it; here is
what goes with each move. All other code reads its attributes and consumes its facts, and does not write into it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, final

from muxwire.shell.execution import HUNG_UP, INTERRUPTED, SHELL_NOTES, SIGNAL_STATUS, Execution, shell_status
from muxwire.shell.left_shell import (
    STARTED_SHELL,
    UNKNOWN_SHELL,
    LeftShell,
    exit_status,
    gone_note,
    leaves_shell,
    starts_shell,
)
from muxwire.shell.marks import (
    CommandFinished,
    EchoEnd,
    EchoStart,
    LineAccepted,
    LineRead,
    Mark,
    OutputStart,
    PostExec,
    ProbeReply,
    PromptStart,
    Rejoined,
    ShellExited,
    ShellNote,
    is_own_id,
)
from muxwire.shell.session_table import (
    GONE,
    SHELL_TABLE,
    CommandEnded,
    Fact,
    Input,
    LineTaken,
    OutputBegan,
    PromptBegan,
    ShellGone,
    ShellState,
    ending_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.shell.shell import Shell


# What reads, by the step of A; and the steps that say something else.
_READS: Final[dict[int, Literal["editor", "line"]]] = {0: "line", 1: "editor", 4: "editor"}
_MORE, _UNSAID, _UNSAVED = 2, 3, 4

# What a shell itself prints after a command's output, before the mark that ends it: it is no output.

# How far back it may reach, by shell: a terminal's width of blanks and a few escape sequences; an OSC 133;D.
REACH = {"zsh": 4096, "fish": 32}

# zsh prints a reversed % or # and blanks before a prompt where the output did not end its line (PROMPT_SP).
_PROMPT_SP = re.compile(rb"(?:\x1b\[[0-9;]*m)*[%#](?:\x1b\[[0-9;]*m)* +\r \r\Z")
# fish 4 reports a command's end to its terminal just before it does to us (OSC 133;D), unless the command has come to
# E.
_FISH_END = re.compile(rb"\x1b\]133;D(?:;[0-9]+)?\x07\Z")
_WHOLE = {"zsh": _PROMPT_SP, "fish": _FISH_END}

# The beginning of zsh's PROMPT_SP: a bold and reversed % or #, blanks. Colours that come a little later are no loss.
_SGR, _SGR_BEGUN = rb"(?:\x1b\[[0-9;]*m)", rb"(?:\x1b(?:\[[0-9;]*)?)"
_PROMPT_SP_BEGUN = re.compile(
    rb"(?:SGR{2,}[%#]SGR*(?:BEGUN| +(?:\r ?)?)?|SGR+BEGUN?|BEGUN)\Z".replace(b"SGR", _SGR).replace(b"BEGUN", _SGR_BEGUN)
)
# The same of what fish 4 prints.
_FISH_END_BEGUN = re.compile(rb"\x1b(?:\](?:1(?:3(?:3(?:;(?:D(?:;[0-9]*)?\x07?)?)?)?)?)?)?\Z")
_BEGUN = {"zsh": _PROMPT_SP_BEGUN, "fish": _FISH_END_BEGUN}


def trailing(name: str, tail: bytes) -> int:
    """How many bytes at the end of `tail` the shell of that name has printed after an output."""
    found = _WHOLE[name].search(tail) if name in _WHOLE else None
    return len(found[0]) if found else 0


def trailing_begun(name: str, tail: bytes) -> int:
    """The same, where more of it may be to come."""
    begun = _BEGUN[name].search(tail) if name in _BEGUN else None
    return trailing(name, tail) or (len(begun[0]) if begun else 0)


# How the terminal shows a C-c, and the new line that bash then begins.
_ECHOED = b"^C\r\n"


def trailing_before(execution: Execution, end: int, name: str, read: Callable[[int, int], bytes]) -> int:
    """As `trailing`, for what stands before the offset `end` of the stream."""
    return trailing(name, read(max(execution.begin, end - REACH[name]), end)) if name in REACH else 0


def cut_short(
    execution: Execution,
    end: int,
    status: int,
    name: str,
    read: Callable[[int, int], bytes],
    *,
    signalled: bool | None,
) -> tuple[int, int]:
    """The end and the status of a command whose shell shows a prompt at `end`: it gave the command up.

    `signalled`, of a shell that says 1 for C-c: whether we sent a signal; None for the others.
    """
    if execution.post_exec is not None:
        end, status = execution.post_exec
    else:
        end -= trailing_before(execution, end, name, read)
    by_key = signalled is not None and (signalled or read(end - len(_ECHOED), end) == _ECHOED)
    # A shell gives a command up by an error, which has a status, or by C-c: of that zsh may say 0, and ksh 256. After a
    # command in a nested shell the prompt says that this has ended, by `exit` for one.
    silent = execution.level == 1 and status in (0, 2 * SIGNAL_STATUS)
    return end, INTERRUPTED if silent or (status == 1 and by_key) else status


# How the echo of what was typed is distinguished from the answer to it: a wait for a text must not find the text that
# the caller has just typed.
#
# Where the tab's own shell says that it took the line (its C mark), the answer begins there. Elsewhere the echo is what
# a terminal driver or a line editor shows of it: the typed lines, in order, each at the beginning of a line; an editor
# may draw the first one more than once. Where nothing is echoed (a password), nothing is taken for an echo.

# How often an editor draws a line at most (it redraws it once or twice): what is longer is not only the echo.
_REDRAWN = 3
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@final
@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed last: where the pane's output ended then, the text with LF for Enter, whether at the prompt.

    `lines`: how many line ends were among it.
    """

    offset: int
    text: str
    at_prompt: bool
    lines: int = 0

    @classmethod
    def of(cls, offset: int, data: bytes, *, at_prompt: bool) -> Typed:
        """Return what is known of typed bytes; after a key that is not text it is not known what is shown."""
        text = data.decode("utf-8", "replace").replace("\r", "\n")
        return cls(offset, _CONTROL.split(text, maxsplit=1)[0], at_prompt, text.count("\n"))

    @property
    def ahead(self) -> bool:
        """Whether a line of it was typed before the prompt at which the tab's shell may read it."""
        return self.lines > int(self.at_prompt)


NOTHING = Typed(-1, "", at_prompt=False)


def echo_end(typed: str, seen: str) -> int | None:
    """How much of `seen`, the text shown since `typed` was typed, is its echo; None while more may come."""
    end = 0
    for index, line in enumerate(typed.splitlines(keepends=True)):
        newline = seen.find("\n", end)
        shown = seen[end:] if newline < 0 else seen[end : newline + 1]
        if not line.endswith("\n"):
            if shown.startswith(line):
                return end + len(line)
            return None if newline < 0 and line.startswith(shown) else end
        echoed = shown.startswith(line) or (index == 0 and line != "\n" and _is_redrawn(line[:-1], shown))
        if newline < 0:
            return None if line.startswith(shown) or echoed else end
        if not echoed:
            return end
        end = newline + 1
    return end


def _is_redrawn(line: str, shown: str) -> bool:
    """Whether a line editor has drawn `line`, and drawn it again, and nothing else."""
    if not shown.startswith(line) or len(shown) > _REDRAWN * len(line) + len("\r\r\n"):
        return False
    rest = shown.rstrip("\r\n")
    while rest.startswith(line):
        rest = rest[len(line) :].lstrip("\r")
    return not rest or (line.startswith(rest) and not shown.endswith("\n"))


@final
class ShellSession:
    """The state of one pane's shell, and of the commands that were typed into it. Times are seconds of one clock."""

    def __init__(
        self,
        *,
        nonce: str,
        shell: Shell | None,
        cwd: str,
        read: Callable[[int, int], bytes],
        tell: Callable[[Fact], None],
    ) -> None:
        """`read` gives the bytes between two offsets, as far as they are kept; `tell` gets every fact, in order."""
        self.nonce = nonce
        self.shell = shell
        self.cwd = cwd
        self.state = ShellState.STARTING
        self.shell_pid = 0
        self.adopted = False  # whether it is a person's, without our hooks
        self.prompt_seq = 0
        self.prompt_status = 0  # what `$?` is at the newest prompt, as the shell prints it
        self.status_at_prompt: int | None = None  # the same, signals counted from 128; None if its mark was lost
        self.prompt_end = -1
        self.prompt_time = 0.0
        self.preexec_time: float | None = None  # when it took a line, until its next prompt
        self.lines_taken = 0  # since its newest prompt that a mark announced (rule 9)
        self.preexec_offset = -1  # the offset after the newest C mark: there the answer to a typed line begins
        # Whether its shell prints C at all. The plain ones do not, and of bash those from 4.4 on, which say so at once.
        self.has_preexec_mark = shell is not None and shell.has_accept_mark and shell.name != "bash"
        self.reply: ProbeReply | None = None  # the newest
        self.ended_at = -1  # the end of the newest mark that ended a command or a probe: a prompt follows it
        self.exit_status: int | None = None
        self.repair_tty = False  # whether a signal may have left the terminal raw
        self.current: Execution | None = None  # the newest that was typed
        self.running: Execution | None = None  # the innermost command of muxwire that has not ended
        self.last_input = NOTHING  # the newest that is no command
        self.left: LeftShell | None = None  # a nested shell that is gone, of which no caller was told yet
        self._left_after: Execution | None = None  # the newest command when that was found out
        self.sleeps_since: float | None = None  # from when on the shell was seen to sleep at this prompt
        self.reads: Literal["", "editor", "line"] = ""  # what the shell says that reads after its newest prompt
        self.says_reads = False  # whether it has said that at the prompt before, so that it is to do so again
        self.drawn_at = -1  # the offset after the newest prompt, where its shell has said so
        self.end_saved = False  # whether the terminal has saved where that ends, or will by the private key
        self.continues = False  # whether the shell asks for more of a line
        self.hidden_id = ""  # of what is typed out of sight now
        self.hidden_since = -1  # the stream's end when a line was about to be typed out of sight; -1 if none is
        self.hidden_begin = -1  # where its B mark is, as soon as that has come
        self._hidden_anew = False  # whether the marks T that come before that B are of what was hidden before
        self._open: dict[str, Execution] = {}
        self.hung_up = False  # whether we are ending it
        self._replaced: set[str] = set()  # commands in whose shell's place another answered: their end may come
        self._recalled: dict[str, Execution] = {}  # in shells nested in the tab's, while older marks are read again
        self._name = shell.name if shell is not None else ""
        self._input_recalled = self._recalling = False
        self._read = read
        self._tell = tell

    @property
    def at_prompt(self) -> bool:
        """Whether nothing newer than a prompt is known of the shell."""
        return self.state is ShellState.PROMPT

    @property
    def integrated(self) -> bool:
        """Whether the pane's own shell has proved by a prompt that our integration runs in it."""
        return self.prompt_seq > 0

    @property
    def closed(self) -> bool:
        return self.state is ShellState.CLOSED

    @property
    def dead(self) -> bool:
        return self.state in GONE

    @property
    def is_nested(self) -> bool:
        """Whether what is in front was started from a shell nested in the tab's own, as far as is known: the newest
        command ran in one which has not ended since, or something was typed into a program that starts shells.
        """
        newest = self.current
        return newest is not None and (
            newest.running
            and not newest.script_path
            and starts_shell(newest.command)
            and 0 <= newest.begin <= self.last_input.offset
            if self._is_own(newest)
            else newest.prompt_seq == self.prompt_seq and (self.running is not None or self.preexec_time is not None)
        )

    def _find_running(self) -> None:
        """See which command runs, the innermost of those that were typed: one has ended."""
        self.running = next((one for one in reversed(self._open.values()) if not one.ending), None)

    def on_mark(self, mark: Mark, now: float, whole_from: int = 0) -> None:
        """Take a mark of the stream, in order; bytes before the offset `whole_from` may be missing."""
        if self.state in GONE and not isinstance(mark, (EchoStart, EchoEnd, Rejoined)):  # rule 7
            return
        match mark:  # those of every command first
            case OutputStart():
                self._on_start(mark, now)
            case CommandFinished():
                self._on_end(mark, now)
                if mark.seq:
                    self._on_prompt(mark, self.shell_pid, now, whole_from)
            case PromptStart():
                self._on_prompt(mark, mark.pid, now, whole_from)
            case LineRead():
                self._on_read(mark)
            case LineAccepted():
                self._on_accepted(mark, now)
            case EchoStart() | EchoEnd():
                if mark.command_id in self._open or self._may_be_ours(mark.command_id):
                    self._on_echo(mark)
            case Rejoined():
                if is_own_id(mark.nonce, self.nonce):
                    self._is_ours(mark)
            case PostExec():
                self._on_postexec(mark)
            case ShellExited():
                self._on_exited(mark, now)
            case ShellNote():
                self._on_note(mark)
            case ProbeReply():
                if self._may_be_ours(mark.probe_id):
                    self._on_reply(mark, now)

    def owns(self, mark_id: str) -> bool:
        """Whether a mark that begins with that id may be of this tab: its nonce, or an id made from it."""
        return mark_id == self.nonce or self._may_be_ours(mark_id)

    def _may_be_ours(self, mark_id: str) -> bool:
        """Whether that is the id of a command that was typed into this tab: nothing but muxwire can have written it."""
        return mark_id in self._open or is_own_id(mark_id, self.nonce)

    def _on_start(self, mark: OutputStart, now: float) -> None:
        execution = self._open.get(mark.command_id)
        if execution is None or execution.ending or execution.begin >= 0:
            self._is_recalled(mark.command_id, mark)
            if execution is None and self._recalling and self._may_be_ours(mark.command_id):
                self._move(Input.OUTPUT_START)  # of a command whose record is lost
            return
        if self._is_own(execution):
            self._move(Input.OUTPUT_START)
        execution.start(mark.end, now)
        self._is_ours(mark, execution)
        self._tell(OutputBegan(execution))

    def _on_end(self, mark: CommandFinished, now: float) -> None:
        execution = self._open.get(mark.command_id)
        if execution is None or execution.ending:
            self._is_recalled(mark.command_id, mark)
            if mark.command_id in self._replaced:
                self._replaced.remove(mark.command_id)
                self._is_ours(mark)
            return
        own = self._is_own(execution)
        if own:
            self._move(Input.COMMAND_FINISHED)
        if execution is self.running and mark.cwd != self.cwd:
            self.cwd = mark.cwd
        self.ended_at = mark.end
        self._is_ours(mark, execution)
        status = shell_status(mark.status)
        end = mark.begin if execution.cut < 0 else execution.cut
        self._end(execution, Input.COMMAND_FINISHED, now, end=end, exit_code=status, cwd=mark.cwd, took=mark.took)
        where = f"{'its own shell' if own else 'the shell before it'}, in {mark.cwd}"
        for inner in self._open.values():
            if not inner.ending and inner.typed_at > execution.typed_at:
                self._nested_gone(inner, execution, where, status, mark.cwd, now, end=mark.begin)
        if self.current is not execution and not (execution.signal_sent or execution.timed_out):
            # Else there was no such shell, or the caller has ended it.
            self._left_idle(execution.typed_at, execution, where, status)

    def _on_prompt(self, mark: PromptStart | CommandFinished, pid: int, now: float, whole_from: int) -> None:
        if mark.nonce != self.nonce or self.shell_pid not in (0, pid) or mark.seq <= self.prompt_seq:
            return
        status = shell_status(mark.status)
        self._move(Input.PROMPT_START)
        self.prompt_seq, self.prompt_end = mark.seq, mark.end
        self.prompt_time, self.prompt_status, self.status_at_prompt = now, mark.status, status
        self.preexec_time, self.sleeps_since, self.lines_taken = None, None, 0
        self.reads, self.drawn_at, self.end_saved, self.continues = "", -1, False, False
        self.shell_pid = pid
        if mark.cwd != self.cwd:  # one string for all prompts in a directory: paths are long, and many are remembered
            self.cwd = mark.cwd
        # What a bash before 4.4 says of a loop that C-c ended is 1: the C-c distinguishes it from an error.
        signalled = self.repair_tty if self._name == "bash" and not self.has_preexec_mark else None
        where = f"its own shell, in {mark.cwd}"
        for execution in self._open.values():
            if execution.ending:
                continue
            nested = not self._is_own(execution)
            if not execution.started:
                if nested:
                    self._nested_gone(execution, None, where, status, mark.cwd, now, end=mark.begin)
                continue
            end, code = cut_short(execution, mark.begin, status, self._name, self._read, signalled=signalled)
            if execution.typed_at < whole_from:
                note = "output was lost while the command ran, and with it the mark of its end"
                self._end(execution, Input.PROMPT_FOUND, now, end=end, exit_code=None, cwd=mark.cwd, note=note)
            elif nested:
                self._nested_gone(execution, None, where, status, mark.cwd, now, end=end)
            else:
                self._end(execution, Input.PROMPT_START, now, end=end, exit_code=code, cwd=mark.cwd)
        self._left_idle(-1, None, where, status)
        self._tell(PromptBegan(mark.end, status))

    def _on_read(self, mark: LineRead) -> None:
        """It reads a line, at its prompt; while a command runs, its editor may read one too (`vared`)."""
        if mark.nonce == self.nonce and self.state in (ShellState.PROMPT, ShellState.SUBMITTED):
            self.continues = self.continues or mark.step == _MORE
            self.says_reads = mark.step != _UNSAID
            if mark.step != _MORE:
                self.reads, self.drawn_at, self.end_saved = _READS.get(mark.step, ""), mark.end, mark.step != _UNSAVED

    def _on_accepted(self, mark: LineAccepted, now: float) -> None:
        if mark.nonce != self.nonce or mark.seq != self.prompt_seq:
            return
        self.continues = False
        self.has_preexec_mark = True
        self.lines_taken += 1
        self.preexec_time, self.preexec_offset = now, mark.end
        typed_at = self.current.typed_at if self.current is not None else 0
        # What stands before it is the echo of the input, unless a command was typed after that: the line is its.
        if self._input_recalled and typed_at <= self.last_input.offset < mark.end:
            self.last_input, self._input_recalled = replace(self.last_input, offset=mark.end), False
        if mark.seq:
            self._move(Input.LINE_ACCEPTED)
            typed = self.running
            self._tell(LineTaken(ours=typed is not None and typed.begin < 0))

    def _on_postexec(self, mark: PostExec) -> None:
        running = self.running
        if running is not None and mark.nonce == self.nonce and mark.seq == self.prompt_seq:
            running.post_exec = (mark.begin - trailing_before(running, mark.begin, self._name, self._read), mark.status)

    def _on_exited(self, mark: ShellExited, now: float) -> None:
        if mark.nonce != self.nonce:
            return
        self._move(Input.SHELL_EXITED)
        self.exit_status = mark.status
        for execution in self._open.values():
            if not execution.ending:
                note: str = "the command ended its shell; the tab is closed"
                status: int | None = mark.status
                if self.hung_up:
                    note, status = HUNG_UP, None
                elif not self._is_own(execution):
                    note, status = "the shell it ran in has ended, and the tab with it", None
                    if leaves_shell(execution.command):
                        status = exit_status(execution.command, mark.status)
                # fish says where the output ended before it cleans up its terminal modes.
                end = execution.post_exec[0] if execution.post_exec else mark.begin
                self._end(execution, Input.SHELL_EXITED, now, end=end, exit_code=status, note=note)
        self._tell(ShellGone(mark.status))

    def _on_reply(self, mark: ProbeReply, now: float) -> None:
        self.reply, self.ended_at = mark, mark.end
        asked = self._open.get(mark.probe_id)
        if asked is None or not asked.running or mark.token == asked.shell_token:
            return
        # Asked how that command ended, another shell answered.
        end = asked.cut if asked.cut >= 0 else mark.begin
        # The one from which its own was reached, and not the one that its own has become.
        if mark.token.strip("0") or (leaves_shell(asked.command) and not starts_shell(asked.command)):
            self._nested_gone(asked, None, "the shell before it", mark.status, "", now, end=end)
            return
        # A shell that muxwire never typed into: the command has started it (`bash`, with the same prompt), or it is the
        # one before, in which muxwire typed nothing.
        started = starts_shell(asked.command)
        note = STARTED_SHELL if started else UNKNOWN_SHELL
        self._end(asked, Input.NESTED_GONE, now, end=end, exit_code=None, note=note)
        self._replaced.add(asked.command_id)
        self._left_after = self.current
        if not started:
            self.left = LeftShell(note, None, midway=True)

    def tells_end(self, group: int | None) -> bool:
        """Whether a mark will say that the shell of that process group is back: a prompt's, or a command's end."""
        outer = (one for one in self._open.values() if one.running and (one.shell_pgrp or self.shell_pid) == group)
        return any(outer) or (self.integrated and not self.adopted and group == self.shell_pid)

    def nested_gone(self, execution: Execution, now: float, *, end: int) -> None:
        """The nested shell in which a command runs is no more, by the kernel's word; no mark says what came of it."""
        self._nested_gone(execution, None, "the shell before it", None, "", now, end=end)

    def _nested_gone(
        self,
        inner: Execution,
        outer: Execution | None,
        where: str,
        status: int | None,
        cwd: str,
        now: float,
        *,
        end: int,
    ) -> None:
        """A nested shell is gone, and a command that was typed into it had not said that it ended."""
        code = exit_status(inner.command, status) if status is not None and inner.started else None
        if code is not None:
            note = f"it ended the shell it ran in; the tab is back in {where}"
            self._end(inner, Input.OUTER_FINISHED, now, end=end, exit_code=code, cwd=cwd, note=note)
        else:
            note = gone_note("it ran in", outer.command if outer is not None else b"", status, where)
            self._end(inner, Input.NESTED_GONE, now, end=end, exit_code=None, cwd=cwd, note=note)
        self._left_after = self.current
        if not leaves_shell(inner.command):
            self.left = LeftShell(note, outer, midway=True)

    def _left_idle(self, since: int, outer: Execution | None, where: str, status: int) -> None:
        """The shell is back in which `outer` ran: a nested one that ran our newest command, typed later, is gone.

        That is no news to a caller who has typed something else since, or whose command was to end it.
        """
        newest = self.current
        if newest is None or not newest.ending or newest is self._left_after or self._is_own(newest):
            return
        # A prompt that is older than the newest command says nothing of its shell.
        if newest.typed_at <= since or (outer is None and newest.prompt_seq >= self.prompt_seq):
            return
        self._left_after = newest
        if self.last_input.offset < newest.end and not leaves_shell(newest.command):
            reached_by = outer.command if outer is not None else b""
            note = gone_note("that ran the command before", reached_by, status, where)
            self.left = LeftShell(note, outer, midway=False)

    def told_of(self, execution: Execution | None = None) -> None:
        """A caller knows that the nested shell is gone: they have seen what reached it end, or have ended that."""
        if self.left is not None and not self.left.midway and (execution is None or self.left.outer is execution):
            self.left = None

    def refused(self) -> None:
        """A command was refused because the nested shell is gone: the caller of the next one knows where the tab is."""
        self.left = None

    def _on_note(self, mark: ShellNote) -> None:
        ours = [execution for execution in self._open.values() if not execution.ending and execution.level == 1]
        if mark.nonce == self.nonce and ours:
            ours[-1].explain(SHELL_NOTES.get(mark.reason, ""))
            if ours[-1].started and ours[-1].cut < 0:
                ours[-1].cut = mark.begin

    def _on_echo(self, mark: EchoStart | EchoEnd) -> None:
        """Lines that muxwire types out of sight begin or end: they are no output of what runs around them."""
        ended = isinstance(mark, EchoEnd)
        begin = mark.begin if self.hidden_begin < 0 and self._hidden_anew else self.hidden_begin
        found = [(begin, mark.end)] if ended and begin >= 0 else []
        over = isinstance(mark, EchoEnd) or mark.step == 0
        if over:
            self.hidden_begin = -1
            if not self._hidden_anew and (mark.command_id == self.hidden_id or not self.hidden_id):
                self.hidden_id, self.hidden_since = "", -1
        elif self.hidden_begin < 0:
            # An earlier process typed it out of sight; of a probe over a relay the id was not kept.
            recalled = mark.command_id in self._recalled or any(one.level > 1 for one in self._recalled.values())
            self.hidden_begin = mark.begin if self.hidden_since >= 0 or recalled else -1
        self._hidden_anew = self._hidden_anew and over
        for outer in self._open.values():
            if outer.begin >= 0 and not outer.ending:
                outer.held = self.hidden_begin
                outer.ours += found

    def typed(self, execution: Execution) -> None:
        self._open = {key: other for key, other in self._open.items() if not other.ending}
        self._open[execution.command_id] = self.current = self.running = execution
        if execution.level == 1:  # its wrapper repairs the terminal's modes
            self.repair_tty = False
        self._move(Input.LINE_TYPED)

    def typed_again(self, execution: Execution) -> None:
        execution.prompt_seq = self.prompt_seq
        self._move(Input.LINE_TYPED)

    def line_entered(self) -> None:
        """A line end is typed that is not of a command: at its prompt the shell takes the line now."""
        self._move(Input.LINE_TYPED)

    def input_typed(self, data: bytes, end: int, *, echoed: bool = True) -> None:
        """Keys are about to be typed that are no command, with the stream's end at that offset.

        Not `echoed`: the terminal is in line mode and shows nothing of them, so nothing that comes is their echo.
        """
        typed = Typed.of(end, data, at_prompt=self.at_prompt)
        self.last_input = typed if echoed else replace(typed, text="")
        if self.running is not None:
            self.running.was_answered()

    def seen_asleep(self, asleep: bool, now: float) -> float:
        """After its prompt the shell sleeps until keys come, or does not; return since when it does."""
        self.sleeps_since = (self.sleeps_since or now) if asleep else None
        return self.sleeps_since or now

    def resized(self) -> None:
        """The saved end may be elsewhere now, in a shell that does not draw its prompt anew."""
        self.end_saved = self.end_saved and self.shell is not None and self.shell.private_key != b""

    def signalled(self) -> None:
        self.repair_tty = True

    def line_discarded(self, execution: Execution, now: float, *, end: int) -> None:
        """The line of a command was typed, and provably never ran."""
        self._end(execution, Input.LINE_DISCARDED, now, end=end, exit_code=None)

    def line_withdrawn(self, execution: Execution, now: float, *, end: int) -> None:
        """The line of a command was never sent: the shell is where it was."""
        if self.state is ShellState.SUBMITTED:
            self._move(Input.PROMPT_FOUND)
        self.line_discarded(execution, now, end=end)

    def line_interrupted(self, execution: Execution, now: float, *, end: int) -> None:
        """C-c threw away the line of a command in a nested shell: what the shell does later is not part of it."""
        self._end(
            execution, Input.LINE_INTERRUPTED, now, end=end, exit_code=INTERRUPTED,
            note="it had not begun when it was interrupted",
        )  # fmt: skip

    def shell_replaced(self, execution: Execution, shell: Shell, now: float, *, end: int) -> None:
        """The command was `exec` of another shell, which has shown its prompt: it has none of our hooks (rule 10)."""
        self.became(shell)
        self._end(execution, Input.SHELL_REPLACED, now, end=end, exit_code=0)

    def became(self, shell: Shell) -> None:
        """The tab's own process runs another shell, which waits for a line: it has none of our hooks (rule 10)."""
        self.status_at_prompt = None
        self._move(Input.SHELL_REPLACED)
        self.adopt(self.shell_pid)
        self.shell, self._name = shell, shell.name
        self.prompt_seq, self.has_preexec_mark, self.preexec_time = 0, False, None

    def prompt_found(self, note: str, before: int, now: float, *, end: int) -> None:
        """The shell waits at its prompt, and the marks that said so were lost: what ran has ended, how is not known.

        `before` is the offset after what was lost: later commands and prompts were heard of.
        """
        if self.prompt_end < before and (self.running is None or self.running.typed_at < before):
            self._move(Input.PROMPT_FOUND)
            self.preexec_time, self.status_at_prompt = None, None
            self.reads, self.says_reads, self.end_saved, self.continues = "", False, False, False
        self._give_up(Input.PROMPT_FOUND, note, before, now, end)

    def hang_up(self) -> None:
        """The pane is about to be ended: that is why its shell exits, and not what runs in it."""
        self.hung_up = self.hung_up or not self.dead

    def close(self, reason: str, now: float, *, end: int) -> None:
        """The pane is gone: whatever was open will never end by itself."""
        if not self.closed:
            self._move(Input.PANE_CLOSED)
            self._give_up(Input.PANE_CLOSED, reason, end + 1, now, end)

    def hide(self, hidden_id: str, end: int) -> None:
        """From here on, `end` in the stream, typed lines are muxwire's, until T with this id.

        A shell is asked with one id until it answers: if C-c throws the question away, the T of the first one comes
        before the B of the second.
        """
        self.hidden_id, self._hidden_anew = hidden_id, self.hidden_since >= 0
        self.hidden_since = end if self.hidden_since < 0 else self.hidden_since

    def unhide(self, *, reported: bool) -> None:
        """What is hidden, if anything, was not taken by a shell; `reported`: the stream will say so."""
        self.hidden_id, self._hidden_anew = "", False
        if not reported:
            self.hidden_since = -1

    def adopt(self, pid: int) -> None:
        """The pane was not started by us, and its first process is a shell."""
        self.shell_pid, self.adopted = pid, True

    def recall(self, executions: Sequence[Execution], shell_pid: int, input_at: int) -> int:
        """Take the commands that earlier processes typed, oldest first; return from where on marks are to be read.

        Of their newest other input, at that offset, the text is not known: it may be secret, and is not kept.

        The marks since the last command was typed say all, and those since an older one whose end was not seen; before
        the first command, those since the pane was made.
        """
        self.shell_pid = shell_pid
        self.last_input, self._input_recalled = Typed(input_at, "", at_prompt=False), True
        self._recalling = True
        if not executions:
            return 0
        first = next((execution for execution in executions if not execution.ending), executions[-1])
        self._open = {execution.command_id: execution for execution in executions if not execution.ending}
        self._recalled = {execution.command_id: execution for execution in executions if execution.level > 1}
        self.current = next(reversed(self._open.values()), executions[-1])
        self._find_running()
        self.cwd, self.prompt_seq = executions[-1].cwd, first.prompt_seq
        self.state = ShellState.SUBMITTED if self.prompt_seq else ShellState.STARTING
        return first.typed_at

    def recalled(self, now: float, *, end: int) -> None:
        """All marks that `recall` asked for were read. A line typed before one that has begun was thrown away.

        Of a nested shell that had ended by then, the process knows whose command ran in it.
        """
        self._recalled, self._input_recalled, self._recalling, self.left = {}, False, False, None
        begun = max((one.typed_at for one in self._open.values() if one.started), default=0)
        for execution in self._open.values():
            if execution.typed_at < begun:
                self.line_discarded(execution, now, end=end)

    def _move(self, what: Input) -> None:
        self.state = SHELL_TABLE[what][self.state]

    def _end(
        self, execution: Execution, what: Input, now: float, *,
        end: int, exit_code: int | None, cwd: str = "", note: str = "", took: float | None = None,
    ) -> None:  # fmt: skip
        if ending := ending_of(execution.phase, what):
            if what is Input.LINE_INTERRUPTED:  # what came since it was typed is its line's echo, and no output
                execution.start(end, execution.typed_time)
            note = note or (HUNG_UP if self.hung_up else "")
            execution.finish(ending, now, end=end, exit_code=exit_code, cwd=cwd, note=note, took=took)
            self._find_running()
            self._tell(CommandEnded(execution))

    def _give_up(self, what: Input, note: str, before: int, now: float, end: int) -> None:
        for execution in self._open.values():
            if not execution.ending and execution.typed_at < before:
                self._end(execution, what, now, end=end, exit_code=None, note=note)

    def _is_own(self, execution: Execution) -> bool:
        """Whether it was typed into the tab's own shell."""
        return execution.level == 1 or execution.shell_pgrp == self.shell_pid

    def _is_ours(self, mark: Mark, execution: Execution | None = None) -> None:
        """A mark, of `execution` in a nested shell or of none, is no output of those that it stands in."""
        if execution is None or execution.level > 1:
            for outer in self._open.values():
                if outer is not execution and outer.phase == "running":
                    outer.ours.append((mark.begin, mark.end))

    def _is_recalled(self, command_id: str, mark: Mark) -> None:
        """As `_is_ours`, for a mark of a command that an earlier process typed."""
        if command_id in self._recalled:
            self._is_ours(mark, self._recalled[command_id])
