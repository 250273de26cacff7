"""Who would read a line that is typed into a pane now: the tab's shell, one nested in it, or one over a relay.

Levels of execution: 1 our shell at a prompt that our hooks announced; 2 a shell on this tty without
our hooks, known by its executable; 3 a shell over a program that relays a terminal (ssh, docker), known by a probe.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Literal, final

import anyio

from muxwire.errors import MORE_FILES, TabUnavailable, TmuxSilent
from muxwire.host.descriptors import OURS
from muxwire.host.environment import COLUMNS_MIN
from muxwire.host.host import answer_seconds
from muxwire.pane.state import PROMPT_REACH
from muxwire.shell.look import RELAYS, asks as is_question, asks_secret as is_secret_asked, descends, strangers
from muxwire.shell.session_table import ShellState
from muxwire.shell.tab_state import idle_since, starting, takes_line, unhooked
from muxwire.values import dataclass
from muxwire.vt.text import strip_ansi

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from muxwire.client.client import ControlClient
    from muxwire.pane.state import PaneState
    from muxwire.shell import Shell
    from muxwire.shell.execution import Execution
    from muxwire.shell.look import Process, Waiting

# A program that has printed nothing for this long may be waiting for us; a compiler's pause is not shorter.
QUIET = 0.15
# Seconds that a shell's first prompt may take: a heavy rc file with network mounts takes 5.
START_TIMEOUT = 15.0
# A line editor that is up and silent for so long without our first mark: the rc file started another shell.
UNHOOKED_QUIET = 0.5
# After the end mark the prompt comes within a ms; a shell without our hook shows by then that it edits a line.
PROMPT_GRACE = 0.3
# Seconds of silence after what reads like a question, where it cannot be seen whether it waits: a program that works
# for so long seldom leaves a line open that ends like one.
SILENT_SECONDS = 3.0
# A command that ran for so long may have left a program in another session that reads the terminal (pinentry does, of
# gpg). To look for one takes some ms, so it is not done after each `true`.
LEAVES_READERS = 1.0
# Seconds in which such a program may notice that what it asked for is gone.
STRANGER_GRACE = 1.0
# A shell over a relay has logged in by then, and shows a prompt; if that is empty, it is waited for in vain, once.
FIRST_PROMPT = 3.0
# Seconds of silence after which a prompt without an editor is drawn, on this machine and on another one.
DRAWN = 0.005
DRAWN_REMOTE = 0.05
# Answers of tmux after which it has sent on what a pane wrote before: it may answer once before it reads the pane.
CATCH_UP = 2

# Their line editors are up before their prompts are drawn.
_EDITING = ("bash", "zsh", "fish")
# The kernel does not distinguish their `read` from their prompt.
_READ_ALIKE = ("dash", "ash", "ksh")
# A mark for a line that was not ended, and blanks up to the right edge: if it was, all of that is erased.
_BEFORE_PROMPT = re.compile(r"[%#⏎] {2,}|⏎ ?\x0f? *")


@final
@dataclass(frozen=True, slots=True)
class ForegroundShell:
    """The shell that reads the pane's input now.

    `shell` is None where all must be typed (a probe shows whether it is `fish`), `pgrp` 0 where it is not needed.
    `edits`: its line editor is on, as it nearly always is (`set +o emacs`, `unsetopt zle`). `fresh`: nobody can have
    typed anything at its prompt yet. `status`: what its `$?` was when it answered a probe; `token`: what tells it from
    every other shell then.
    """

    shell: Shell | None
    level: Literal[1, 2, 3]
    pgrp: int = 0
    edits: bool = True
    fresh: bool = False
    fish: bool = False
    status: int = 0
    token: str = ""

    @property
    def name(self) -> str:
        """The kind of shell, "" for an unknown one."""
        return self.shell.name if self.shell is not None else "fish" if self.fish else ""


def quiet(pane: PaneState, seconds: float = QUIET) -> bool:
    """Whether nothing was written for that long; nor typed, if it is for what runs."""
    since, running = pane.stream.last_output, pane.session.running
    if running is not None and running.answered:
        since = max(since, pane.pressed_at)
    return time.monotonic() - since >= seconds


async def ask_soon(pane: PaneState, client: ControlClient, *words: str) -> tuple[bytes, ...]:
    """Tmux's answer to a command that only looks, for a call whose time may be over; TmuxSilent, ConnectionClosed."""
    (answer,) = client.submit(words)
    return await answer.wait_within(answer_seconds(pane.host))


async def caught_up(pane: PaneState, client: ControlClient) -> bool:
    """Whether the stream has all that the pane wrote before: the kernel is ahead of it. ConnectionClosed.

    Another machine's answer came after one of tmux's, but may have come before what a pane that writes much wrote.
    """
    end = pane.stream.end
    for _ in range(CATCH_UP - pane.answered_whole):
        await ask_soon(pane, client, "display-message", "-p", "")
    return pane.stream.end == end and not pane.stream.rejoining


async def fall_silent(pane: PaneState, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
    """Wait until the pane has written nothing for that long from now on, or it is enough."""
    changed = True
    while changed and not enough():
        with anyio.move_on_after(seconds) as still:
            await pane.stream.changed()
        changed = not still.cancelled_caught


def find_shell(pane: PaneState, waited: float, folder: Path) -> ForegroundShell | None:
    """The listener of a pane that is not at a prompt of ours; None if nobody is known to listen.

    `folder` is the tab's own: a shell that cannot read in it gets its commands typed.
    """
    session, front, found = pane.session, pane.front(), pane.judgement()
    kind = found.waiting
    # What is judged must be what is in front: between the two a command may begin or end.
    if front is None or not (kind or found.hidden) or pane.front() != front:
        return None
    if session.running is not None and not quiet(pane, DRAWN):
        return None
    own = pane.shell if front.pgrp == session.shell_pid else None
    shell = own or pane.host.shell_for(front.program)
    running = session.running
    if shell is None:
        modes = pane.host.tty_modes(pane.tty)
        raw = modes is not None and not modes.icanon
        relay = front.program in RELAYS and raw and quiet(pane) and not asks_secret(pane)
        return ForegroundShell(None, 3, front.pgrp) if relay and not _busy_with_ours(running, front.pgrp) else None
    unaccepted = session.has_preexec_mark and session.preexec_time is None
    if own is not None and kind == "line" and running is None and unaccepted:
        return ForegroundShell(own, 1, edits=False)  # `unsetopt zle`: a line that was not accepted continues below
    if not takes_line(shell, kind) or _busy_with_ours(running, front.pgrp):
        return None
    if own is None and pane.host.runs_script(front.pgrp):  # what it reads is for its `read`
        return None
    if own is not None:
        if own.replaces_all and session.state is ShellState.SUBMITTED and running is None:
            return ForegroundShell(own, 1)  # it asks for more of a line: its key replaces that line too
        theirs = session.state is ShellState.ACCEPTED  # a person's line, which reads itself
        late = time.monotonic() - idle_since(session) >= PROMPT_GRACE
        return ForegroundShell(own, 2, front.pgrp) if late and running is None and not theirs else None
    if unhooked(session):
        before = session.current  # the start-up file may have become another shell (`exec zsh`)
        ran = before is not None and before.shell_pgrp == front.pgrp and before.ending == "completed"
        editing = shell.name in _EDITING and (ran or quiet(pane, UNHOOKED_QUIET))
        return ForegroundShell(shell, 2, front.pgrp) if editing or (quiet(pane) and waited >= START_TIMEOUT) else None
    if pane.host.shares_folder(front.pgrp, folder):
        return ForegroundShell(shell, 2, front.pgrp)
    return ForegroundShell(None, 3, front.pgrp) if quiet(pane) else None


def may_be_read(pane: PaneState) -> bool:
    """Whether a program of another session may read the terminal of a shell that is at its prompt.

    After a command that was interrupted, asked for input, or ran for long, and after keys that were sent.
    """
    last = pane.session.current
    if last is None:
        return False
    keys = pane.session.last_input.offset >= last.typed_at
    return keys or last.asked_at >= 0 or bool(last.signal_sent) or last.end_time - last.begin_time >= LEAVES_READERS


async def stranger(pane: PaneState, listener: ForegroundShell) -> Process | None:
    """A process of another session that reads the terminal, and would get what is typed for that shell."""
    await pane.look(wide=True)
    look = pane.seen()
    found = (one for one in strangers(look) if listener.level < 3 or not descends(look, one, listener.pgrp))
    return next(found, None)


def read_by_another(reader: Process) -> TabUnavailable:
    program = reader.program or "a program"
    return TabUnavailable(
        f"{program} (process {reader.pid}), of another session, reads the terminal: it would get what is typed",
        state="interactive",
        remedy=f"answer it with `send_keys`, or end it: kill {reader.pid}, from another tab",
    )


def mend_line_modes(pane: PaneState, shell: Shell) -> None:
    """Where a program left the tty raw, give it its line modes back for a shell that has no editor to do so.

    dash never has one; ksh has none on such a tty, and reads it plainly. Its editor polls, and clears ISIG only.
    """
    if shell.name not in ("dash", "ksh"):
        return
    modes = pane.host.tty_modes(pane.tty)
    raw = modes is not None and not modes.icanon
    if shell.name == "dash":
        raw = raw or pane.session.repair_tty
    elif raw and modes is not None and modes.opost and not modes.isig:
        reader = pane.host.foreground_pgrp(pane.leader_pid)  # the shell itself: to look for others takes a ms
        raw = pane.host.sees_waits and reader is not None and pane.host.sleeps_for_keys(reader, polls=False)
    if raw:
        pane.host.restore_line_modes(pane.tty)


def ready_deadline(pane: PaneState, begun: float, deadline: float) -> float:
    """Until when a listener is waited for: a call's own timeout is not for a shell that is still starting."""
    return max(deadline, begun + START_TIMEOUT) if starting(pane.session) else deadline


async def reached(pane: PaneState, deadline: float, ready: Callable[[], Awaitable[ForegroundShell]]) -> ForegroundShell:
    """What `ready` returns; a tmux that does not answer, or a lost connection, is waited for until the deadline."""
    while True:
        try:
            if pane.host.is_local:  # all that it does has limits of its own, and one more is felt at every command
                return await ready()
            left = ready_deadline(pane, time.monotonic(), deadline) - time.monotonic()
            with anyio.move_on_after(left + PROMPT_GRACE):
                while pane.stream.rejoining:
                    await pane.stream.changed()
                return await ready()
        except TmuxSilent:  # it may answer the next time
            if pane.host.is_local and time.monotonic() >= deadline:
                raise
        if time.monotonic() >= deadline:
            raise _unanswered(pane)


def _unanswered(pane: PaneState) -> TabUnavailable:
    what = f"{pane.host.prefix[:-1]} does not answer"
    return TabUnavailable(what, state=pane.tab_state(), remedy="nothing was typed; try again when its link is up")


def _busy_with_ours(running: Execution | None, pgrp: int) -> bool:
    return running is not None and running.shell_pgrp == pgrp


async def reads_on(pane: PaneState, client: ControlClient) -> bool:
    """Whether the tab's own shell sleeps until more keys come: it has all of ours, we all it wrote. ConnectionClosed.

    On a machine that has no time for it, or with a tmux that has none, it looks nearly the same for long.
    """
    await pane.refresh()
    return bool(shell_sleeps(pane)) and await caught_up(pane, client) and bool(shell_sleeps(pane))


def shell_sleeps(pane: PaneState) -> str:
    """How the tty is read for which the tab's own shell sleeps: `editor` or `line`; "" if it does not, or nobody knows.

    Only that process is examined: to look for its group takes some ms, and this is asked again and again.
    """
    modes = pane.host.tty_modes(pane.tty)
    if modes is None or pane.shell is None:
        return ""
    no_editor = not (pane.shell.private_key or pane.shell.draws_early)
    if modes.icanon and not (pane.host.sees_waits or (no_editor and pane.session.at_prompt)):
        return ""
    if not pane.host.sleeps_for_keys(pane.session.shell_pid, polls=not modes.icanon or pane.shell.name == "ash"):
        return ""
    if pane.host.foreground_pgrp(pane.leader_pid) != pane.session.shell_pid:
        return ""
    return "line" if modes.icanon else "editor"


def awaited(pane: PaneState, execution: Execution) -> Waiting:
    """What a command that runs waits for, as far as that is visible; "" for nothing."""
    if found := hidden_waiting(pane):
        return found
    if execution.level == 3:  # the tab's own rules know nothing of a shell over a relay
        return pane.waits_for_input()
    # `editor`: a `read` of the tab's own shell, or the shell itself at a prompt whose mark is not here yet.
    return (pane.waits_for_input() or "raw") if pane.tab_state() == "interactive" else ""


def hidden_waiting(pane: PaneState) -> Waiting:
    """What is waited for inside of what cannot be seen into, as far as its text proves it.

    A question for a secret does, and a line editor that says that it is on.
    """
    if not pane.judgement().hidden:
        return ""
    if asks_secret(pane):
        return "password"
    return "raw" if pane.announces_editor() and pane.open_line().strip() else ""


def falls_silent(pane: PaneState) -> bool:
    """Whether a text that reads like a question, or a program's screen, has stood there for long unchanged, where it
    cannot be seen what waits.
    """
    return quiet(pane, SILENT_SECONDS) and may_ask(pane) and pane.judgement().hidden


def may_ask(pane: PaneState) -> bool:
    """Whether a text that reads like a question stands on the cursor's line, or a program has drawn a screen."""
    return is_question(pane.open_line()) or pane.has_screen()


def asks_secret(pane: PaneState) -> bool:
    return is_secret_asked(pane.open_line())


async def prompt_begun(pane: PaneState, listener: ForegroundShell, at_most: float = PROMPT_GRACE) -> bool:
    """Wait until something stands where a nested shell shows its prompt; False if it did, or none is expected.

    `at_most`, in seconds, is for one that may be empty; a prompt that was there before is waited for longer.
    """
    own = listener.pgrp == pane.session.shell_pid  # a person's, which had drawn its first prompt before we came
    before = pane.session.current
    if before is None or before.shell_pgrp != listener.pgrp:
        due = not own
    elif _looks(before.shell_prompt):  # it comes again; a program in it may take its time
        due, at_most = True, FIRST_PROMPT
    else:  # not where the last one was empty, unless that was not heard
        due = own and not before.shell_prompt
    if not due or _shows_prompt(pane):
        return False
    await pane.stream.until(lambda: _shows_prompt(pane), at_most)
    return True


def _shows_prompt(pane: PaneState) -> bool:
    """Whether something stands on the cursor's line that is not what zsh and fish print before a prompt."""
    parts = strip_ansi(pane.last_line().decode("utf-8", "replace")).split("\r")
    return any(part.strip() and not _BEFORE_PROMPT.fullmatch(part) for part in parts)


async def prompt_drawn(pane: PaneState, listener: ForegroundShell) -> bytes:
    """The prompt of a nested shell, whole; only its last line where nothing of ours has ended just before it."""
    await prompt_begun(pane, listener)
    await fall_silent(pane, DRAWN if listener.level < 3 else DRAWN_REMOTE)
    before = pane.session.current
    ours = before is not None and not before.running and before.level > 1 and before.shell_pgrp == listener.pgrp
    if not ours and listener.level < 3:  # over a relay it was a probe
        return pane.last_line()
    return pane.stream.written(max(pane.session.ended_at, pane.stream.end - PROMPT_REACH))


def prompt_again(pane: PaneState, execution: Execution) -> int:
    """Where the next prompt of a nested shell begins that gave `execution` up without saying so; -1 if it did not."""
    if execution.level == 1 or not execution.started or not quiet(pane, DRAWN):
        return -1
    front = pane.host.foreground(pane.leader_pid)
    if front is None or front.pgrp != execution.shell_pgrp or not pane.may_wait():
        return -1
    return prompt_after(pane, execution, execution.begin)


def prompt_after(pane: PaneState, execution: Execution, begin: int) -> int:
    """Where the prompt begins at which the output from `begin` on ends; -1 if it ends with none.

    It is known by the prompt at which `execution` was typed, byte for byte or as it looks: a program may also wait on a
    line that it began. After a C-c anything will do that stands where a prompt would; and where that showed nothing,
    nothing, once the line of the C-c is ended.
    """
    end, prompt = pane.stream.written_end, execution.shell_prompt
    tail = pane.stream.ring.read(max(begin, end - PROMPT_REACH), end)
    if prompt and tail.endswith(prompt):
        return end - len(prompt)
    lines = prompt.count(b"\n") + 1
    drawn = b"\n".join(tail.split(b"\n")[-lines:])
    seen = _looks(prompt)
    if seen and _looks(drawn) == seen:
        return end - len(drawn)
    last = tail.rpartition(b"^C")[2]
    if last == tail:
        return -1
    if not seen and b"\n" in last and quiet(pane):
        return end - len(last.rpartition(b"\n")[2])
    last = last.rpartition(b"\n")[2]  # fish goes to a new line without a line feed
    # Their prompt ends with the same sign wherever they are, a question of their `read` hardly; b"" was drawn earlier.
    if prompt and execution.shell_name in _READ_ALIKE and _looks(last)[-1:] != seen[-1:]:
        return -1
    # The editor is up before its prompt is drawn: no line feed yet means so, unless it stays that way.
    return end - len(last) if last and (b"\n" in tail or quiet(pane)) else -1


def _looks(drawn: bytes) -> str:
    """What a person sees of a prompt in the end: a line may be begun more than once."""
    rows = strip_ansi(drawn.decode("utf-8", "replace")).split("\n")
    return "\n".join(next((part for part in reversed(row.split("\r")) if part.strip()), "") for row in rows).rstrip()


def check_width(pane: PaneState, columns: int) -> None:
    """Refuse to type into a pane that is so narrow that its shell could die of it: TabUnavailable."""
    if columns < COLUMNS_MIN:
        raise TabUnavailable(
            f"the pane is {columns} columns wide, and shells crash when a line is typed into fewer than {COLUMNS_MIN}",
            state=pane.tab_state(),
            remedy="make it wider: close a pane next to it, or resize_pane",
        )


def refusal(pane: PaneState) -> TabUnavailable:
    session, state = pane.session, pane.tab_state()
    running = session.running
    if state == "dead":
        return TabUnavailable(
            "the tab's program has ended"
            + (f" with status {session.exit_status}" if session.exit_status is not None else ""),
            state=state,
            remedy="its log stays readable; create a new tab with `create_tab`",
        )
    if not pane.reachable:
        return _unanswered(pane)
    if state == "starting":
        asks = pane.waits_for_input() in ("line", "password")
        return TabUnavailable(
            "the shell has not shown its first prompt yet" + (": its start-up files wait for input" if asks else ""),
            state=state,
            remedy="answer with `send_keys`" if asks else "read the tab's log; then try again",
        )
    front = pane.front()
    program = (front.program if front is not None else "") or "a program"
    if state == "prompt":
        return TabUnavailable(
            f"the shell has not drawn its prompt yet: {program} runs for it",
            state="busy",
            remedy="give it more time, or stop it with `send_keys` C-c",
        )
    remedy = "wait for it, stop it with `stop_process`, or use another tab"
    if running is not None:
        what = f"{running.command[:80].decode('utf-8', 'replace')!r} (command_id {running.command_id})"
        what += f" has been running for {time.monotonic() - running.typed_time:.1f} s"
        remedy = "wait with `command_result`, stop it with `stop_process`, or use another tab"
    elif session.preexec_time is not None:
        heard = pane.stream.holds(session.preexec_offset)  # else it was read from the log, which has no times
        since = f" {time.monotonic() - session.preexec_time:.1f} s ago" if heard else ""
        what = f"{program} runs in the foreground, started by a person{since}"
    else:
        what = f"{program} runs in the foreground, not started by execute_command"
    few = pane.short_of_files()
    if lacking := OURS.lacking():
        what, remedy = f"it cannot be known what runs there: {lacking}", MORE_FILES
    elif few:
        what, remedy = f"{what}; {few}", "create a new tab"
    elif state == "interactive":
        what += f", and {program} waits for input"
        remedy = "answer it with `send_keys` and watch it with `wait_for`, or stop it with `stop_process`"
    return TabUnavailable(what, state=state, remedy=remedy)
