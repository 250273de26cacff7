"""What a tab is doing, in the word that a caller reads: the first of `RULES` that holds.

| state | meaning |
|---|---|
| `starting` | the shell has shown no prompt yet |
| `prompt` | the shell waits for a command |
| `incomplete` | the shell waits for the rest of a line |
| `running` | a command or a program runs |
| `interactive` | what runs waits for input |
| `busy` | something typed by hand is running, or the prompt is not there yet |
| `dead` | the shell or the pane has ended |

The rules read the session, and what the kernel answers where the session cannot know. What follows from the session
alone, and decides what is typed, waited for or stopped, is judged here as well: rules 11 to 14 of `session_table.py`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Protocol, final

from muxwire.shell.session_table import ShellState

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.errors import State
    from muxwire.shell.execution import Execution
    from muxwire.shell.look import Waiting
    from muxwire.shell.session import ShellSession, Typed
    from muxwire.shell.shell import Shell

# Seconds in which a typed line may still be on its way to the shell: it takes a few ms, more on a busy machine.
UNDER_WAY = 0.15
# These read every command with a line editor, busybox unless its tty is without echo. Without an editor reads `read`.
_EDITING = ("bash", "zsh", "fish", "ash")
# Seconds from a prompt's mark to the shell's read of a line, at most.
FRESH_PROMPT = 0.05


class Kernel(Protocol):
    """What can be asked about the processes and the terminal of a pane."""

    @property
    def sees_waits(self) -> bool:
        """Whether it says where a process sleeps."""

    def waits_for_input(self) -> Waiting:
        """What is waited for."""

    def shell_in_front(self) -> bool:
        """Whether the tab's own shell is in the foreground."""

    def front_shell(self) -> Shell | None:
        """The shell that is in the foreground, if it is one that we know."""

    def replaced_by(self) -> Shell | None:
        """The shell that has taken the place of the tab's own by a line that was typed, as `exec zsh`."""


def listens(session: ShellSession, kernel: Kernel, now: float) -> bool:
    """Whether the shell waits at its prompt; where it does not say that a line was accepted, the kernel does."""
    if session.has_preexec_mark or not session.at_prompt:
        return session.at_prompt
    if not kernel.shell_in_front():
        return False
    # It may be on its way from the prompt's mark to the read. If it does not read later, it runs a builtin.
    if now - session.prompt_time < FRESH_PROMPT or not kernel.sees_waits:
        return True
    return takes_line(session.shell, kernel.waits_for_input(), prompted=True)


def takes_line(shell: Shell | None, waiting: Waiting, *, prompted: bool = False) -> bool:
    """Whether a shell reads its next command, by what is waited for in its terminal; if not, a `read` in it may.

    `prompted`: its prompt was announced, and it has taken no line since, as far as it says so.
    """
    if shell is None or waiting == "password":
        return prompted
    if waiting == "line":
        return shell.name != "ash" if prompted else shell.name not in _EDITING
    return bool(waiting)


def prompt_due(session: ShellSession) -> bool:
    """Whether the prompt after a command of muxwire is still to come (rule 11); a nested shell prints no mark."""
    last, accepted = session.current, session.preexec_time
    if session.state is ShellState.FINISHED:
        return last is not None and not last.running
    if last is None or last.level == 1 or last.ending != "completed":
        return False
    return session.prompt_time < last.end_time and (accepted is None or accepted <= last.end_time)


def not_begun(session: ShellSession) -> Execution | None:
    """The command whose line is on its way to a shell, and has not begun to run."""
    running = session.running
    return running if running is not None and not running.started else None


def typed_behind(session: ShellSession, typed: Typed | None) -> Execution | None:
    """The command after whose line those keys were typed, if it has begun or may begin.

    Where it begins late, the keys came before: what stands between them and its beginning is its line, and their echo.
    """
    ran = session.current
    if typed is None or typed.at_prompt or ran is None or ran.typed_at > typed.offset:
        return None
    return ran if ran.started or ran.running else None


def line_lost(session: ShellSession, execution: Execution) -> bool:
    """Whether a prompt proves that the line of a command never ran (rule 12)."""
    return session.at_prompt and not execution.started and session.prompt_seq > execution.prompt_seq


def ran_last(session: ShellSession, execution: Execution) -> bool:
    """Whether nothing has run in the tab's shell since that command (rule 13)."""
    return session.prompt_seq == execution.prompt_seq + 1


def line_status(session: ShellSession, since: int) -> int | None:
    """What `$?` is after lines that were typed from that offset on; None where they ran nothing, as Enter alone does.

    A shell that says when it takes a line with a command in it has not said so since. What it is then is older.
    """
    typed = session.last_input
    taken = not session.has_preexec_mark or session.preexec_offset > since
    return session.status_at_prompt if taken or not typed.at_prompt or typed.offset < since else None


def unhooked(session: ShellSession) -> bool:
    """Whether a shell that we know has printed no prompt mark, and runs no command (rule 14)."""
    return not session.integrated and session.shell is not None and session.running is None


def starting(session: ShellSession) -> bool:
    """Whether such a shell has been given no command either, and did not take another one's place."""
    return unhooked(session) and session.current is None and not session.adopted


def idle_since(session: ShellSession) -> float:
    """When the newest command ended; 0.0 if there was none, and while it runs."""
    return session.current.end_time if session.current is not None else 0.0


def keys_ran_from(session: ShellSession, first_pressed_at: float) -> float:
    """Since when on the monotonic clock a line can run that is no command of ours; `first_pressed_at`: we typed first.

    A job of the command before may have begun in the tick (10 ms) in which that command ended. So what counts is when
    the line was typed, where the shell has taken one since.
    """
    ended = max(session.prompt_time, idle_since(session))
    taken = session.preexec_time
    return first_pressed_at if taken is not None and ended < first_pressed_at <= taken else ended


def last_ran_from(session: ShellSession, first_pressed_at: float) -> float:
    """As `keys_ran_from`, where the shell is back at its prompt: since when a job of its last line can run.

    The job began before the line ended, so what counts is when the line was typed: by a command of ours, or by keys.
    """
    newest = session.current
    if newest is not None and not newest.running and _took_none_since(session, newest):
        return newest.typed_time
    if idle_since(session) < first_pressed_at < session.prompt_time:
        return first_pressed_at
    return max(session.prompt_time, idle_since(session))


def _took_none_since(session: ShellSession, ended: Execution) -> bool:
    """Whether the tab's shell has run no line since that command; an empty one, and C-c, begin a new prompt as well."""
    if session.has_preexec_mark:
        return session.preexec_offset <= ended.end
    return session.prompt_seq <= ended.prompt_seq + 1


def _typed(session: ShellSession, kernel: Kernel) -> bool:
    """Whether the line of a command is typed, and has not begun to run, where a line is edited."""
    return not_begun(session) is not None and kernel.waits_for_input() == "editor"


def _adopted(session: ShellSession, kernel: Kernel) -> bool:
    """Whether a person's shell, which has no hooks, is in front."""
    return session.adopted and session.running is None and kernel.shell_in_front()


def _unannounced(session: ShellSession, kernel: Kernel) -> bool:
    """Whether a shell waits at a prompt after a line that took the hook of that prompt away, or the shell's place."""
    if session.state is not ShellState.ACCEPTED or session.running is not None:
        return False
    if session.lines_taken > 1 and kernel.waits_for_input() == "editor":
        return kernel.shell_in_front()
    return takes_line(kernel.replaced_by(), kernel.waits_for_input())


Rule = tuple["State", "Callable[[ShellSession, Kernel, float], bool]"]

RULES: Final[tuple[Rule, ...]] = (
    ("dead", lambda s, _, __: s.dead),
    ("incomplete", lambda s, k, now: s.continues and listens(s, k, now)),
    ("prompt", listens),
    ("starting", lambda s, _, __: starting(s)),
    # A shell that has no hooks, as a command has proved.
    ("prompt", lambda s, k, _: unhooked(s) and takes_line(k.front_shell(), k.waits_for_input())),
    ("running", lambda s, k, _: unhooked(s) and not k.waits_for_input()),
    ("running", lambda s, k, now: _typed(s, k) and s.running is not None and now - s.running.typed_time < UNDER_WAY),
    ("incomplete", lambda s, k, _: _typed(s, k)),
    ("prompt", lambda s, k, _: _adopted(s, k) and takes_line(k.front_shell(), k.waits_for_input())),
    ("running", lambda s, k, _: _adopted(s, k) and not k.waits_for_input()),
    ("prompt", lambda s, k, _: _unannounced(s, k)),
    ("interactive", lambda _, k, __: k.waits_for_input() in ("line", "password", "raw")),
    # `read` of fish and ksh, `read -n 1` of bash: the shell itself edits, or waits for a key, in mid-command.
    ("interactive", lambda s, k, _: s.running is not None and k.waits_for_input() == "editor"),
    ("running", lambda s, _, __: s.running is not None),
    ("busy", lambda s, _, __: s.preexec_time is not None or s.at_prompt),
    ("incomplete", lambda _, k, __: k.waits_for_input() == "editor"),
    ("running", lambda _, __, ___: True),
)


@final
class Answers:
    """The kernel's answers of one moment: each question is put once, and only if a rule needs it.

    `waits` is asked what is waited for, if it is given.
    """

    def __init__(self, kernel: Kernel, waits: Callable[[], Waiting] | None = None) -> None:
        self.sees_waits = kernel.sees_waits
        self.waits_for_input = cache(waits or kernel.waits_for_input)
        self.shell_in_front, self.front_shell = cache(kernel.shell_in_front), cache(kernel.front_shell)
        self.replaced_by = kernel.replaced_by


def tab_state(
    session: ShellSession, kernel: Kernel, now: float, *, waits: Callable[[], Waiting] | None = None
) -> State:
    """The state now; `waits` is asked what is waited for, in place of the kernel, if it is given."""
    answers = Answers(kernel, waits)
    return next(state for state, holds in RULES if holds(session, answers, now))
