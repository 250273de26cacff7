"""What a pane is doing, learned from the marks in its stream: prompts, commands, their ends, the shell's death.

Rules (each from a measured failure):
1. A prompt mark counts only with this pane's nonce, the pid of the shell that gave the first one, and a sequence
   number above the last: so a replayed log, or a nested shell that inherited the prompt, moves nothing.
2. A start or end mark counts only with the id of a command that is open.
3. A prompt ends every open command that had started: the shell is back, so nothing of ours runs.
4. A prompt never ends a command that had not started: its body has provably not run, and it may be typed again.
"""

from __future__ import annotations

import re
import signal
import time
from typing import TYPE_CHECKING, final

from muxwire.pane.execution import SHELL_NOTES, SIGNAL_STATUS, Execution, shell_status
from muxwire.pane.hidden import HiddenLines
from muxwire.pane.output import FISH_END_REACH, without_fish_end, without_prompt_sp
from muxwire.shell.marks import (
    CommandFinished,
    EchoEnd,
    EchoStart,
    LineAccepted,
    OutputStart,
    PostExec,
    ProbeReply,
    PromptStart,
    ShellExited,
    ShellNote,
)
from muxwire.shell.own_echo import NOTHING
from muxwire.shell.redraw import PromptColumns
from muxwire.vt.text import strip_ansi

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.host.host import Foreground, Host
    from muxwire.pane.stream import PaneStream
    from muxwire.results import State
    from muxwire.shell import Shell
    from muxwire.shell.marks import Mark

# Seconds in which a typed line may still be on its way to the shell: it takes a few ms, more on a busy machine.
UNDER_WAY = 0.15
# What bash, ksh and the plain shells (`> `) and zsh (`dquote> `) show when a line goes on.
_SECONDARY = re.compile(r"\r*(?:[a-z]+ )*[a-z]*> ?")
# Seconds from a prompt's mark to the shell's read of a line, at most.
FRESH_PROMPT = 0.05
# How far back zsh's PROMPT_SP may reach: a terminal's width of blanks and a few escape sequences.
_PROMPT_SP_REACH = 4096
# What a program that waits is waiting for; anything else reads single keys.
_WAITED_FOR = {"password": "a password (echo is off)", "line": "a line of input", "editor": "input (its shell reads)"}
# How the terminal shows a C-c, and the new line that bash then begins.
_ECHOED = b"^C\r\n"


@final
class PaneState:
    """The state of one pane; `on_mark` moves it, everything else only looks."""

    def __init__(self, *, host: Host, nonce: str, shell: Shell | None, leader_pid: int, tty: str, cwd: str) -> None:
        self.host = host
        self.nonce = nonce
        self.shell = shell
        self.leader_pid = leader_pid
        self.tty = tty
        self.cwd = cwd
        self.stream: PaneStream  # set by the tab as soon as both exist
        self.shell_pid = 0
        self.supervised = True  # its first process is our supervisor
        self.adopted_shell: Shell | None = None
        self.prompt_seq = 0
        self.prompt_status = 0  # what `$?` is at the newest prompt
        self.prompt_end = -1
        self.prompt_time = 0.0
        self.at_prompt = False
        self.sleeps_since: float | None = None  # from when on its shell was seen to sleep at this prompt
        self.preexec_time: float | None = None
        self.preexec_offset = -1  # the offset behind the newest C mark: there the answer to a typed line begins
        self.typed = NOTHING
        # Whether its shell prints C at all. The plain ones do not, and of bash those from 4.4 on, which say so at once.
        self.has_preexec_mark = shell is not None and shell.has_accept_mark and shell.name != "bash"
        self.reply: ProbeReply | None = None  # the newest
        self.hidden = HiddenLines(host, tty)
        self.ended_at = -1  # the end of the newest mark that ended a command or a probe: a prompt follows it
        self.exit_status: int | None = None
        self.closed = False
        self.repair_tty = False
        self.current: Execution | None = None
        self.prompts = PromptColumns()
        self.on_exit: Callable[[], None] | None = None
        self._open: dict[str, Execution] = {}

    @property
    def integrated(self) -> bool:
        """Whether this pane's own shell has proved by a prompt that our integration runs in it."""
        return self.prompt_seq > 0

    @property
    def dead(self) -> bool:
        """Whether the pane's program has ended or the pane is gone."""
        return self.closed or self.exit_status is not None

    @property
    def runs_program(self) -> bool:
        """Whether it was made for a program of its own, in place of a shell that we know."""
        return self.shell is None and self.supervised

    @property
    def running(self) -> Execution | None:
        """The innermost command of ours that has not ended."""
        newest = self.current
        if newest is None or not newest.ending:
            return newest
        return next((execution for execution in reversed(self._open.values()) if not execution.ending), None)

    @property
    def listens(self) -> bool:
        """Whether the shell waits at its prompt; where it does not say that a line was accepted, the kernel does."""
        if self.has_preexec_mark or not self.at_prompt:
            return self.at_prompt
        if self.host.foreground_pgrp(self.leader_pid) != self.shell_pid:
            return False
        # It may be on its way from the prompt's mark to the read; later it is in a builtin, if not in that.
        fresh = time.monotonic() - self.prompt_time < FRESH_PROMPT
        if fresh or not self.host.sees_waits:
            return True
        kind = self.waits_for_input()
        # busybox edits at its prompt, unless the tty is without echo; a line is read by `read` only.
        return bool(kind) and not (kind == "line" and self._is_ash(self.shell_pid))

    def open(self, execution: Execution) -> None:
        """A command is about to be typed."""
        self._open = {key: other for key, other in self._open.items() if other.running}
        self._open[execution.command_id] = execution
        self.current = execution
        self.at_prompt = False

    def on_mark(self, mark: Mark) -> None:
        """Take a mark of the stream, in order."""
        match mark:
            case OutputStart():
                self._on_start(mark)
            case CommandFinished():
                self._on_end(mark)
            case PromptStart():
                self._on_prompt(mark)
            case LineAccepted():
                self._on_accepted(mark)
            case PostExec():
                self._on_postexec(mark)
            case ShellExited():
                self._on_shell_gone(mark)
            case ShellNote():
                self._on_note(mark)
            case ProbeReply():
                self.reply, self.ended_at = mark, mark.end
            case EchoStart() | EchoEnd():
                self._on_hidden(mark)
            case _:
                pass

    def came_back(self, note: str, before: int) -> None:
        """The shell waits at its prompt, and the marks that said so were lost: what ran has ended, nobody knows how.

        `before` is the offset behind what was lost: later commands and prompts were heard of.
        """
        if self.prompt_end < before and (self.running is None or self.running.typed_at < before):
            self.at_prompt, self.preexec_time = True, None
        self._give_up(note, before)

    def close(self, reason: str) -> None:
        """The pane is gone: whatever was open will never end by itself."""
        if self.closed:
            return
        self.closed, self.at_prompt = True, False
        self._give_up(reason, self.stream.end + 1)

    def _give_up(self, note: str, before: int) -> None:
        for execution in self._open.values():
            if execution.running and execution.typed_at < before:
                execution.note = note
                execution.finish("lost", end=self.stream.end, exit_code=None)
        self.stream.wake()

    def _on_start(self, mark: OutputStart) -> None:
        execution = self._open.get(mark.command_id)
        if execution is not None and not execution.started:
            execution.start(mark.end)
            self._is_ours(execution, mark)

    def _on_end(self, mark: CommandFinished) -> None:
        execution = self._open.get(mark.command_id)
        if execution is None or not execution.running:
            return
        if execution is self.running:
            self.cwd = mark.cwd
        end = mark.begin if execution.cut < 0 else execution.cut
        self.ended_at = mark.end
        self._is_ours(execution, mark)
        status = shell_status(mark.status)
        if status and execution.level == 1:  # perhaps not the command's own, but that of what should have told it
            execution.explain(self.short_of_files())
        execution.finish("completed", end=end, exit_code=status, cwd=mark.cwd)
        for inner in self._open.values():
            # It was typed into a shell inside of this one, which has ended without a word: `exit`, a closed line.
            if inner.running and inner.typed_at > execution.typed_at:
                inner.finish("aborted", end=mark.begin, exit_code=execution.exit_code, cwd=mark.cwd)

    def _is_ours(self, execution: Execution, mark: Mark) -> None:
        """A mark of `execution` is no output of those that it runs in."""
        if execution.level > 1:
            for outer in self._open.values():
                if outer is not execution and outer.running and outer.started:
                    outer.ours.append((mark.begin, mark.end))

    def _on_hidden(self, mark: EchoStart | EchoEnd) -> None:
        found = self.hidden.on_mark(mark)
        for outer in self._open.values():
            if outer.running and outer.started:
                outer.held = self.hidden.begin
                outer.ours += [found] if found else []

    def _on_prompt(self, mark: PromptStart) -> None:
        own = mark.nonce == self.nonce and self.shell_pid in (0, mark.pid)
        if not own or mark.seq <= self.prompt_seq:
            return
        self.shell_pid, self.prompt_seq, self.prompt_end = mark.pid, mark.seq, mark.end
        self.prompt_time, self.prompt_status = time.monotonic(), mark.status
        self.at_prompt, self.preexec_time, self.sleeps_since = True, None, None
        self.cwd = mark.cwd
        for execution in self._open.values():
            if execution.running and execution.started:
                self._abort(execution, mark, shell_status(mark.status))

    def _abort(self, execution: Execution, mark: PromptStart, status: int) -> None:
        end = mark.begin
        if execution.post_exec is not None:
            end, status = execution.post_exec
        elif self.shell is not None and self.shell.name == "zsh":
            end -= without_prompt_sp(self.stream.ring.read(max(execution.begin, end - _PROMPT_SP_REACH), end))
        # A shell gives a command up by an error, which has a status, or by C-c: of that zsh may say 0, and ksh 256.
        if status in (0, 2 * SIGNAL_STATUS) or (status == 1 and self._says_one(end)):
            status = SIGNAL_STATUS + signal.SIGINT
        execution.explain(self.short_of_files())
        execution.finish("aborted", end=end, exit_code=status, cwd=self.cwd)

    def _says_one(self, end: int) -> bool:
        """Whether this is a bash before 4.4, whose status of a loop that C-c ended is 1."""
        old = self.shell is not None and self.shell.name == "bash" and not self.has_preexec_mark
        return old and (
            self.repair_tty or self.stream.ring.read(max(end - len(_ECHOED), self.stream.ring.start), end) == _ECHOED
        )

    def _on_accepted(self, mark: LineAccepted) -> None:
        if mark.nonce == self.nonce and mark.seq == self.prompt_seq:
            self.at_prompt, self.has_preexec_mark = False, True
            self.preexec_time, self.preexec_offset = time.monotonic(), mark.end

    def _on_postexec(self, mark: PostExec) -> None:
        running = self.running
        if running is not None and mark.nonce == self.nonce and mark.seq == self.prompt_seq:
            tail = self.stream.ring.read(max(running.begin, mark.begin - FISH_END_REACH), mark.begin)
            running.post_exec = (mark.begin - without_fish_end(tail), mark.status)

    def _on_note(self, mark: ShellNote) -> None:
        ours = [execution for execution in self._open.values() if execution.running and execution.level == 1]
        if mark.nonce == self.nonce and ours:
            ours[-1].explain(SHELL_NOTES.get(mark.reason, ""))
            if ours[-1].started and ours[-1].cut < 0:
                ours[-1].cut = mark.begin

    def _on_shell_gone(self, mark: ShellExited) -> None:
        if mark.nonce != self.nonce or self.exit_status is not None:
            return
        self.exit_status, self.at_prompt = mark.status, False
        for execution in self._open.values():
            if execution.running:
                execution.note = "the command ended its shell; the tab is closed"
                # fish says where the output ended before it cleans up its terminal modes.
                end = execution.post_exec[0] if execution.post_exec else mark.begin
                execution.finish("shell_exited", end=end, exit_code=self.exit_status)
        if self.on_exit is not None:
            self.on_exit()

    def adopt(self, shell: Shell | None) -> None:
        """The pane was not started by us; its first process is this shell, or a program that is none."""
        self.adopted_shell, self.supervised = shell, False
        self.shell_pid = self.leader_pid if shell is not None else 0

    def look(self) -> State:
        """The state now; asks the kernel where the marks alone cannot tell."""
        if self.dead:
            return "dead"
        if self.listens:
            return "incomplete" if self._continues() else "prompt"
        waiting = self.waits_for_input()
        running = self.running
        if not self.integrated and self.shell is not None and running is None:
            # A shell whose first prompt is not here yet; or one that has no hooks, as a command has proved.
            return "starting" if self.current is None else ("prompt" if waiting else "running")
        if running is not None and not running.started and waiting == "editor":
            return "incomplete" if running.age >= UNDER_WAY else "running"
        adopted = self.adopted_shell is not None and running is None
        if adopted and self.host.foreground_pgrp(self.leader_pid) == self.shell_pid:
            return "prompt" if waiting else "running"
        if waiting in ("line", "password") or (waiting == "raw" and self._awaits_keys()):
            return "interactive"
        if running is not None:
            # `read` of fish and ksh, `read -n 1` of bash: the shell itself edits, or waits for a key, in mid-command.
            return "interactive" if waiting == "editor" and running.started and self.reads() else "running"
        if self.preexec_time is not None or self.at_prompt:
            return "busy"
        return "incomplete" if waiting == "editor" else "running"

    def state_after(self, execution: Execution) -> State:
        """The state for a result of `execution`. After its end the prompt may be some microseconds away."""
        if execution.running:
            # A relay's tty looks the same whatever runs behind it.
            return self.look() if execution.level < 3 or self.dead else "running"
        running = self.running
        if self.dead or running is None:
            return "dead" if self.dead else "prompt"
        return "interactive" if running.typed_at < execution.typed_at else "running"

    def short_of_files(self) -> str:
        """Say so if the shell may not open the files that our marks take; "" if it may, or nobody knows."""
        needed = self.shell.files_needed if self.shell is not None and self.shell_pid else 0
        limit = self.host.files_limit(self.shell_pid) if needed else needed
        if limit >= needed:
            return ""
        why = f"to take a command and say how it ended takes {needed}"
        return f"its shell may open only {limit} files (ulimit -n): {why}"

    def _continues(self) -> bool:
        """Whether the line editor shows a secondary prompt, as far as its usual texts tell."""
        if self.stream.end == self.prompt_end or self.prompt_end < self.stream.ring.start:
            return False
        drawn = self.stream.ring.read(max(self.prompt_end, self.stream.end - _PROMPT_SP_REACH), self.stream.end)
        if drawn in self.prompts:
            return False
        before, newline, last = drawn.rpartition(b"\n")
        return (
            bool(newline and before.strip())
            and _SECONDARY.fullmatch(strip_ansi(last.decode("utf-8", "replace"))) is not None
        )

    async def refresh(self) -> None:
        """Bring what is known of its processes and its terminal up to date, before something is decided by it."""
        await self.host.refresh(self.leader_pid, self.tty)

    def front(self) -> Foreground | None:
        """What runs in the foreground; None if the pane is gone."""
        return self.host.foreground(self.leader_pid, supervised=self.supervised)

    def waits_for_input(self) -> str:
        """What is waited for: `line`, `password`, `raw`, `editor` (raw, by the shell itself), or "" for nothing.

        Measured: ICANON and ECHO of the tty, who is in the foreground, where it sleeps.
        """
        front, modes = self.host.foreground(self.leader_pid), self.host.tty_modes(self.tty)
        # Modes of one moment with the foreground of the next would make a nested shell of a child about to exec.
        if modes is None or front is None or self.host.foreground_pgrp(self.leader_pid) != front.pgrp:
            return ""
        if front.pgrp == self.shell_pid and not modes.icanon:
            return "editor"
        if not modes.icanon:
            return "raw" if front.pgrp != self.leader_pid else ""
        if self.host.reads_tty(front.pgrp) or (self._is_ash(front.pgrp) and self.host.polls(front.pgrp)):
            return "line" if modes.echo else "password"
        return ""

    def waited_for(self) -> str:
        """What the program in the foreground, which waits, is waiting for, in words."""
        return _WAITED_FOR.get(self.waits_for_input(), "keys")

    def reads(self) -> bool:
        """Whether the foreground sleeps until something is typed; a tty left raw makes it look so when it computes."""
        host = self.host
        front = host.foreground(self.leader_pid)
        return not host.sees_waits or (front is not None and (host.polls(front.pgrp) or host.reads_tty(front.pgrp)))

    def _awaits_keys(self) -> bool:
        """Whether what is in front, on a raw tty, sleeps until a key comes; it may compute, or be ending."""
        front = self.host.foreground(self.leader_pid)
        return front is not None and self.host.awaits_keys(front.pgrp)

    def _is_ash(self, pgrp: int) -> bool:
        """Whether that process group is a busybox shell, whose `read` polls the tty before it reads a byte."""
        if pgrp == self.shell_pid:
            return self.shell is not None and self.shell.name == "ash"
        running = self.running
        return running is not None and running.shell_pgrp == pgrp and running.shell_name == "ash"
