"""Who would read a line that is typed into a pane now: the tab's shell, one nested in it, or one over a relay.

All here is judged from values: the session, what the kernel says of the terminal, what the pane shows. `pane/` looks.

Levels of execution: 1 our shell at a prompt that our hooks announced; 2 a foreign one, which our hooks do not reach: on
this tty or over a program that relays a terminal (ssh, docker). A probe makes it known.

1. Nothing is typed for a listener that does not wait, as far as the kernel proves it, nor while it may be in between:
   what is in front has to be the same before and after it was judged.
2. What waits for a password, or is a script's `read`, is no shell at its prompt.
3. The tab's own shell without a prompt mark is foreign only after a command of muxwire was over for a while: the mark
   of its prompt may be on its way. Not while a line that a person entered may read by itself.
4. A foreign shell gets all of a command typed, after a probe; over a relay only when that has been silent. A relay is
   a program of that name (`RELAYS`), or any in whose inner terminal a shell is seen to wait for a line. While a command
   runs over a relay, that is done only for another shell than its own: one which descends from that, and is seen to
   wait for a line in the inner terminal; or where that cannot be seen, what reads like a prompt, which the answer to
   the probe proves. Of another user's program (`sudo -i`, if we are not root) nothing but such a prompt is seen, not
   even whether it relays, and what else it runs (`sudo apt`) has the same modes: so the prompt is needed in any case.
5. A start-up file that became another shell (`exec zsh`) is known by an editor that is up and silent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, final

from muxwire.errors import TabUnavailable
from muxwire.shell.execution import HUNG_UP, SIGNAL_STATUS
from muxwire.shell.look import RELAYS, Foreground, Judgement, asks_secret, reads_as_prompt
from muxwire.shell.session_table import ShellState
from muxwire.shell.tab_state import idle_since, prompt_due, starting, takes_line, unhooked
from muxwire.vt.text import strip_ansi

if TYPE_CHECKING:
    from muxwire.errors import State
    from muxwire.shell.execution import Execution
    from muxwire.shell.look import Waiting
    from muxwire.shell.session import ShellSession
    from muxwire.shell.shell import Shell

# A program that has printed nothing for this long may wait for input. It is no proof: a compiler pauses as long.
QUIET = 0.15
# Seconds that a shell's first prompt may take: a heavy rc file with network mounts takes 5.
START_TIMEOUT = 15.0
# A line editor that is up and silent for so long without our first mark: the rc file started another shell.
UNHOOKED_QUIET = 0.5
# After the end mark the prompt comes within a ms; a shell without our hook shows by then that it edits a line.
PROMPT_GRACE = 0.3
# Seconds of silence after what reads like a prompt of a shell that a command over a relay has begun.
PROMPT_SILENT: Final = 1.0
# Seconds of silence after what reads like a question, where it cannot be seen whether it waits: a program that works
# for so long seldom leaves a line open that ends like one.
SILENT_SECONDS = 3.0
# A command that ran for so long may have left a program in another session that reads the terminal (pinentry does, of
# gpg). To look for one takes some ms, so it is not done after each `true`.
LEAVES_READERS: Final = 1.0
# A shell over a relay has logged in by then, and shows a prompt; if that is empty, it is waited for in vain, once.
FIRST_PROMPT: Final = 3.0
# Seconds of silence after which a prompt without an editor is drawn, on this machine and on another one.
DRAWN: Final = 0.005
DRAWN_REMOTE: Final = 0.05
# How far back a prompt without a mark is looked for, colours and all: as far as the newest output is in memory anyway.
PROMPT_REACH: Final = 64 << 10
# How much of a command a refusal shows.
_SHOWN_BYTES: Final = 80

# Their line editors are up before their prompts are drawn.
_EDITING: Final = ("bash", "zsh", "fish")
# The kernel distinguishes their `read` from their prompt. It does not for dash, ash and ksh, nor for a shell over a
# relay, which has no name here, or is fish.
_TELL_APART: Final = ("bash", "zsh")
# What zsh and fish print before a prompt: a sign for an unfinished line, and blanks up to the right edge. After a
# finished line the prompt takes their place.
_BEFORE_PROMPT: Final = re.compile(r"[%#⏎] {2,}|⏎ ?\x0f? *")


# Not frozen: some fifteen such values are made for each command, and to make a frozen one takes three times as long.
@final
@dataclass(slots=True)
class ForegroundShell:
    """The shell that reads the pane's input now.

    `shell` is None where a probe has to show whether it is `fish`, `pgrp` 0 where it is not needed. `edits`: its line
    editor is on, as nearly always (`set +o emacs` and `unsetopt zle` switch it off). `status`: what its `$?`
    is; `token`: what tells it from every other shell since it answered a probe. `inner`: its process, where it is seen
    over a relay; 0 if it is not. `reads`: the kernel says that it finds the tab's directory where we do.
    """

    shell: Shell | None
    level: Literal[1, 2]
    pgrp: int = 0
    edits: bool = True
    fish: bool = False
    status: int = 0
    token: str = ""
    inner: int = 0
    reads: bool = False

    @property
    def name(self) -> str:
        """The kind of shell, "" for an unknown one."""
        return self.shell.name if self.shell is not None else "fish" if self.fish else ""


@final
@dataclass(frozen=True, slots=True)
class InFront:
    """What is in front of a pane whose own shell is at no prompt that a mark announced, at one moment.

    `found`: what is waited for there. `shell`: the kind of shell that it is, None if it is none that we know; `raw`:
    the terminal is known not to be in line mode; `script`: the shell was started with a script or with `-c`; `reads`:
    it finds the tab's directory where we do. `secret`: the line that stands open asks for a secret. `inner`: the shell
    that is seen to wait for a line over a relay, 0 for none; `begun`: the command that runs has started that shell.
    `prompted`: the line that stands open reads like a prompt; `editor`: a line editor has said that it is on.
    Seconds: `silent` since anything was written, `waited` since the caller has waited for a listener.
    """

    front: Foreground
    found: Judgement
    shell: Shell | None
    raw: bool = False
    script: bool = False
    reads: bool = True
    secret: bool = False
    inner: int = 0
    begun: bool = False
    prompted: bool = False
    editor: bool = False
    silent: float = 0.0
    waited: float = 0.0


def find_listener(session: ShellSession, seen: InFront, now: float) -> ForegroundShell | None:
    """Who reads a line that is typed now, where no prompt mark says so; None if it is not known."""
    group, program, running = seen.front.pgrp, seen.front.program, session.running
    kind, shell = seen.found.waiting, seen.shell
    own = session.shell is not None and group == session.shell_pid
    busy = running is not None and running.shell_pgrp == group  # with a command of muxwire
    if not (kind or seen.found.hidden) or (running is not None and seen.silent < DRAWN):
        return None
    if shell is None:
        closed = seen.found.hidden and not program  # another user's
        relay = (program in RELAYS or seen.inner or closed) and seen.raw and seen.silent >= QUIET and not seen.secret
        prompts = seen.prompted and seen.silent >= (QUIET if seen.editor else PROMPT_SILENT)
        free = seen.begun or prompts or not (busy or closed)
        return ForegroundShell(None, 2, group, inner=seen.inner) if relay and free else None
    unaccepted = session.has_preexec_mark and session.preexec_time is None
    if own and kind == "line" and running is None and unaccepted:
        return ForegroundShell(shell, 1, edits=False)  # `unsetopt zle`: a line that was not accepted continues below
    if not takes_line(shell, kind) or busy or seen.script:  # what a script reads is for its `read`
        return None
    foreign = ForegroundShell(shell, 2, group, reads=seen.reads)
    if own:
        return _own_shell(session, foreign, shell, now)
    if unhooked(session):
        before = session.current
        ran = before is not None and before.shell_pgrp == group and before.ending == "completed"
        editing = shell.name in _EDITING and (ran or seen.silent >= UNHOOKED_QUIET)
        late = seen.silent >= QUIET and seen.waited >= START_TIMEOUT
        return foreign if editing or late else None
    return foreign


def _own_shell(session: ShellSession, foreign: ForegroundShell, shell: Shell, now: float) -> ForegroundShell | None:
    running = session.running
    if shell.replaces_all and session.state is ShellState.SUBMITTED and running is None:
        return ForegroundShell(shell, 1)  # it asks for more of a line: its key replaces that line too
    persons = session.state is ShellState.ACCEPTED  # a person's line, which reads itself
    if persons and session.lines_taken > 1 and running is None:
        return ForegroundShell(shell, 1)  # a line took the hook of its prompt away; muxwire's puts it back
    late = now - idle_since(session) >= PROMPT_GRACE
    return foreign if late and running is None and not persons else None


def may_be_read(session: ShellSession) -> bool:
    """Whether a program of another session may read the terminal of a shell that is at its prompt.

    After a command that was interrupted, asked for input, or ran for long, and after keys that were sent.
    """
    last = session.current
    if last is None:
        return False
    # Of a command that an earlier process ran it is not noted whether it was; one that gave 0 was not interrupted.
    asked = last.asked_at >= 0 or bool(last.signal_sent) or (last.recalled and last.exit_code != 0)
    keys_sent = session.last_input.offset >= last.typed_at  # the shell may have them, or get them yet
    return keys_sent or asked or last.end_time - last.begin_time >= LEAVES_READERS


def ready_deadline(session: ShellSession, begun: float, deadline: float) -> float:
    """Until when a listener is waited for: a call's own timeout is not for a shell that is still starting."""
    return max(deadline, begun + START_TIMEOUT) if starting(session) else deadline


def opens_shell(session: ShellSession, program: str, waiting: Waiting) -> bool:
    """Whether the program that a tab was opened with, now in front, may still bring a shell: `docker exec -it C bash`.

    It relays a terminal, nothing was run in it yet, and it does not ask for a password or a host key.
    """
    given = session.shell is None and session.current is None and not (session.adopted or session.dead)
    return given and program in RELAYS and waiting not in ("line", "password")


def on_its_way(session: ShellSession, drawn: bytes) -> bool:
    """Whether the tab's shell is sure to come to its prompt by itself: what runs in front runs for that prompt.

    After the end of a command of muxwire the mark is still to come. After the mark nothing can have been started
    unless the shell says so (C), or, where it never does, a line was ended. `drawn` is what was written since the
    prompt was drawn, or since its mark.
    """
    if not session.integrated or session.running is not None or session.dead:
        return False
    if session.at_prompt:
        return session.has_preexec_mark or b"\n" not in drawn
    return prompt_due(session)


# -- what is waited for, where it cannot be seen


def hidden_waiting(found: Judgement, line: str, *, editor: bool) -> Waiting:
    """What is waited for inside of what cannot be seen into, as far as its text proves it.

    A question for a secret on the open `line` does, and a line `editor` that says that it is on: a shell's at a prompt.
    """
    if not found.hidden:
        return ""
    if asks_secret(line):
        return "password"
    return ("editor" if reads_as_prompt(line) else "raw") if editor and line.strip() else ""


# -- the prompts of shells without our hooks


def shows_prompt(last_line: bytes) -> bool:
    """Whether something stands on the cursor's line that is not what zsh and fish print before a prompt."""
    parts = strip_ansi(last_line.decode("utf-8", "replace")).split("\r")
    return any(part.strip() and not _BEFORE_PROMPT.fullmatch(part) for part in parts)


def prompt_expected(session: ShellSession, listener: ForegroundShell) -> float | None:
    """How many seconds the prompt of a nested shell is waited for; None if none is to come, or it is not known.

    A prompt that may be empty has `PROMPT_GRACE`, one that was there before longer: a program in it may take its time.
    """
    own = listener.pgrp == session.shell_pid  # a person's, which had drawn its first prompt before we came
    before = session.current
    if before is None or before.shell_pgrp != listener.pgrp:
        return None if own else PROMPT_GRACE
    if looks(before.shell_prompt):  # it comes again
        return FIRST_PROMPT
    # The last one showed nothing, so none is waited for. Of the tab's own shell it may only not have been heard.
    return PROMPT_GRACE if own and not before.shell_prompt else None


def prompt_at_end(execution: Execution, tail: bytes, *, silent: bool) -> bytes | None:
    """The prompt that ends an output, None for none; `tail` is the newest of the output.

    It is known by the prompt at which `execution` was typed, byte for byte or as it looks: a program may also wait on a
    line that it began. After a C-c anything will do that stands where a prompt would, if only a shell can have drawn
    it. If the prompt showed nothing, it is there once the line of the C-c is ended.
    """
    prompt = execution.shell_prompt
    if prompt and tail.endswith(prompt):
        return prompt
    lines = prompt.count(b"\n") + 1
    drawn = b"\n".join(tail.split(b"\n")[-lines:])
    seen = looks(prompt)
    if seen and looks(drawn) == seen:
        return drawn
    last = tail.rpartition(b"^C")[2]
    if last == tail:
        return None
    if not seen and b"\n" in last and silent:
        return last.rpartition(b"\n")[2]
    last = last.rpartition(b"\n")[2]  # fish goes to a new line without a line feed
    # A question of a `read`, and over a relay any program that goes on after a C-c (mysql): a shell's prompt ends in a
    # shell's sign, or begins as the one before. Where that is b"", it was drawn before we came, and is not known.
    if (
        prompt
        and execution.shell_name not in _TELL_APART
        and not (
            reads_as_prompt(strip_ansi(last.decode("utf-8", "replace")))
            or looks(last)[:2] == seen.rpartition("\n")[2][:2]
        )
    ):
        return None
    # The editor is up before its prompt is drawn: without a line feed it is still to come, unless all is silent.
    return last if last and (b"\n" in tail or silent) else None


def looks(drawn: bytes) -> str:
    """What a person sees of a prompt in the end: each row may have been drawn more than once, after a CR."""
    rows = strip_ansi(drawn.decode("utf-8", "replace")).split("\n")
    return "\n".join(next((part for part in reversed(row.split("\r")) if part.strip()), "") for row in rows).rstrip()


# -- what a command is refused with


def unanswered(machine: str, state: State) -> TabUnavailable:
    """The error of a call whose machine did not answer in time."""
    what = f"{machine} does not answer"
    return TabUnavailable(what, state=state, remedy="nothing was typed; try again when its link is up")


def refusal(
    session: ShellSession, state: State, now: float, *,
    program: str = "", heard: bool = True, machine: str = "", asks: bool = False,
    edits: bool = False,
) -> TabUnavailable:  # fmt: skip
    """The error of a command for which no shell listens, in a pane of that state.

    `program` is in front. `heard`: the line that runs was accepted while we listened, so the time of that is known.
    `machine`: the name of the one that does not answer, "" if it does. `asks`: what runs waits for input. `edits`: the
    shell itself waits for keys, after a line that was typed.
    """
    program = program or "a program"
    if state == "dead":
        status = f" with status {session.exit_status}" if session.exit_status is not None else ""
        began = (
            session.hung_up or session.shell is None or session.prompt_end >= 0 or session.current is not None
            or (session.exit_status or 0) > SIGNAL_STATUS  # a signal is not what start-up files end a shell by
        )  # fmt: skip
        what = "the tab's program has ended" if began else "the shell was ended by its start-up files"
        return TabUnavailable(
            HUNG_UP if session.hung_up else what + status,
            state=state,
            remedy="its log stays readable; create a new tab with `create_tab`"
            if began
            else "`read_logs_from_tab` has what they printed; mend them, or name another shell (`shell`, --shell)",
        )
    if machine:
        return unanswered(machine, state)
    if state == "starting":
        return TabUnavailable(
            "the shell has not shown its first prompt yet" + (": its start-up files wait for input" if asks else ""),
            state=state,
            remedy="answer with `send_keys`" if asks else "read the tab's log; then try again",
        )
    if state == "prompt":
        return TabUnavailable(
            f"the shell does not wait at its prompt: {program} runs, started by its prompt or its line editor",
            state="busy",
            remedy="give it more time, or end it with `send_keys`: by C-c, or as that program is left",
        )
    running = session.running
    remedy = "wait for it, stop it with `stop_process`, or use another tab"
    if running is not None:
        what = f"{running.command[:_SHOWN_BYTES].decode('utf-8', 'replace')!r} (command_id {running.command_id})"
        what += f" has been running for {now - running.typed_time:.1f} s"
        remedy = "wait with `command_result.wait`, stop it with `stop_process`, or use another tab"
    elif session.preexec_time is not None:
        since = f" {now - session.preexec_time:.1f} s ago" if heard else ""  # the log has no times
        what = f"{program} runs in the foreground, from a line that was typed{since}"
        if edits:  # a second line without a mark proves a prompt
            what = f"{program} waits for keys, after a line that was typed{since}: a `read`, or a prompt without a hook"
            remedy = "if it is a prompt, type `:` and Enter there with `send_keys`, and try again; else answer it"
    else:
        what = f"{program} runs in the foreground, not started by execute_command"
    if state == "interactive":
        what += f", and {program} waits for input"
        remedy = "answer it with `send_keys` and watch it with `wait_for`, or stop it with `stop_process`"
        if running is not None and running.level > 1 and program in RELAYS:  # a shell that it has started may be hidden
            remedy += "; if a shell runs there, end it and start it again with `send_keys`: then it takes commands"
    return TabUnavailable(what, state=state, remedy=remedy)
