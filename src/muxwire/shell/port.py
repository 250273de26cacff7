"""The port of a pane: all that may be done about it, and what is known of it. What decides about a shell is given one.

Each decision is a plain async function that tells its story from beginning to end; between two calls of the port it
decides by what is known of the pane (`Pane`), at `Pane.now`. `pane/port.py` carries out; tests drive a decision by
hand, with a port that never suspends.

1. No decision waits, writes or reads a clock but by its port.
2. Every wait has a time limit. So each decision ends, whatever the pane does, and after its end nothing is done.
3. What was decided before a call of the port may be true no more after it: a decision looks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from muxwire.shell.session_table import ShellState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.errors import State, TabUnavailable
    from muxwire.shell.execution import Execution
    from muxwire.shell.look import Foreground, Front, PaneLook, StopTarget, TtyModes, Waiting
    from muxwire.shell.session import ShellSession
    from muxwire.shell.shell import Shell
    from muxwire.vt.drawn import Picture
    from muxwire.vt.ring import RingBuffer

_Result = TypeVar("_Result")


class Asked(Protocol):
    """A command that tmux was sent."""

    async def wait_within(self, seconds: float) -> tuple[bytes, ...]:
        """Its answer; raises as `Port.answer`."""


class Port(Protocol):
    """What may be done about a pane. Times are seconds."""

    @property
    def pane(self) -> Pane:
        """What is known of it."""

    def wait(self, seconds: float) -> Awaitable[bool]:
        """Go on after that time, or as soon as something has changed; return whether something has."""

    def ended(self, execution: Execution, seconds: float) -> Awaitable[None]:
        """Go on after that time, or when the command has ended."""

    def pause(self, seconds: float) -> Awaitable[None]:
        """Go on after that time, whatever changes."""

    def poll(self, holds: Callable[[], bool]) -> Awaitable[object]:
        """Read what tmux sends, for a fraction of a millisecond, until `holds` is true."""

    def take_received(self) -> Awaitable[None]:
        """Deal with what tmux has sent already: this process may have been stopped."""

    def within(self, seconds: float, request: Awaitable[_Result]) -> Awaitable[_Result | None]:
        """Do that, for so long at most: its result, or None if it took longer."""

    def press(self, keys: bytes, *, bracketed: bool = False) -> Awaitable[Sequence[Asked]]:
        """Have tmux type these keys, `bracketed` as one paste; do not wait for it. ConnectionClosed."""

    def type(self, keys: bytes) -> Awaitable[None]:
        """Have tmux type these keys, and go on when it has. ConnectionClosed."""

    def type_again(self, execution: Execution) -> Awaitable[None]:
        """Type the line of this command once more; or, if it was typed again before, give it up: it never ran."""

    def submit(self, words: tuple[str, ...]) -> Awaitable[Sequence[Asked]]:
        """Send a tmux command that only looks; do not wait for its answer. ConnectionClosed."""

    def answer(self, asked: Sequence[Asked], seconds: float) -> Awaitable[tuple[bytes, ...]]:
        """Wait for tmux's answer, so long at most: its lines. Raises TmuxSilent, ConnectionClosed, CommandError."""

    def refresh(self) -> Awaitable[None]:
        """Bring what is known of the pane's processes and its terminal up to date."""

    def look(self) -> Awaitable[PaneLook | None]:
        """As `refresh`, and look at all processes, if the leaders do not show what is waited for.

        The look is returned if one was taken on this machine. It is good until something is typed or waited for: on a
        busy machine tmux's answers take a while, and one more look takes longer.
        """

    def picture(self) -> Awaitable[Picture]:
        """Ask tmux what is on the screen. Raises TmuxSilent, ConnectionClosed."""

    def settle(self) -> Awaitable[None]:
        """Wait until what was asked of the pane's machine, a write to its terminal for one, was carried out."""

    def signal(self, name: str, group: int, *, spare_leader: bool = False) -> Awaitable[bool]:
        """Send a signal to a process group; return whether anything got it.

        `spare_leader`: the group is that of the pane's first process, a supervisor, which gets none.
        """

    def signal_jobs(self, name: str, since: float) -> Awaitable[bool]:
        """Send a signal to each process that the tab's shell has started since then; return whether any got it."""

    def note_input(self) -> Awaitable[None]:
        """Keys that are no command are about to be typed: those who record the pane's input learn of it."""

    def resume(self) -> Awaitable[None]:
        """Let the tab's own shell continue, which is stopped (SIGCONT)."""

    def hide(self, hidden_id: str) -> Awaitable[bool]:
        """Hide what is typed from here on, until T with this id; return whether the terminal took that."""

    def unhide(self) -> Awaitable[None]:
        """What is hidden, if anything, was not taken by a shell."""


class Stream(Protocol):
    """What the pane has written."""

    ring: RingBuffer
    rejoining: bool
    last_output: float

    @property
    def end(self) -> int:
        """Its end, as an offset."""

    @property
    def shown_end(self) -> int:
        """The end of what a person sees: marks R are no output."""

    def holds(self, offset: int) -> bool:
        """Whether what came from that offset on is in memory."""

    def written(self, begin: int) -> bytes:
        """What was written from that offset on, as far as it is in memory."""


class Pane(Protocol):
    """What is known of a pane. Each question is answered at once; of another machine, by the newest answer."""

    pane_id: str
    session: ShellSession

    @property
    def stream(self) -> Stream:
        """What it has written."""

    @property
    def now(self) -> float:
        """The moment, on the clock of all other times here."""

    # The connection to its machine: seconds to there and back, and how long an answer of tmux may take.

    @property
    def round_trip(self) -> float:
        """Seconds to its machine and back."""

    @property
    def answer_seconds(self) -> float:
        """How long an answer of tmux may take."""

    @property
    def machine(self) -> str:
        """Its name, "" for this one."""

    @property
    def reachable(self) -> bool:
        """Whether its machine answers."""

    # Its shell.

    @property
    def shell(self) -> Shell | None:
        """The kind of its own shell, if we know it."""

    @property
    def takes_next(self) -> bool:
        """Whether the shell waits at its prompt, and no line of ours is on its way to it."""

    @property
    def is_back(self) -> bool:
        """Whether nothing that was typed into the shell runs."""

    def on_its_way(self) -> bool:
        """Whether the shell is sure to come to its prompt by itself."""

    def stop_target(self, spared: int = ...) -> StopTarget:
        """Which of its process groups is what, for ending one; `spared` is one that gets C-c as a key only."""

    @property
    def terminal(self) -> Terminal:
        """What runs in it, and what stands on it."""

    def awaited(self, execution: Execution, look: PaneLook | None = ...) -> Waiting:
        """What a command that runs waits for."""

    def tab_state(self, look: PaneLook | None = ...) -> State:
        """The state that a caller reads."""

    def prompt_again(self, execution: Execution) -> int:
        """Where the prompt of a foreign shell begins that gave the command up; -1 if none did."""

    def refusal(self) -> TabUnavailable:
        """Why it takes no command now."""

    # What was typed.

    started_at: float  # when its first process was started for us; -inf: it was there before
    interrupted_at: float  # when the newest C-c was typed after which nothing came in the same write; -inf: none is due

    def new_id(self) -> str:
        """A new id of a mark of this pane."""


class Terminal(Protocol):
    """A pane's terminal: what the kernel says of its processes, and what stands on it."""

    def shell_in_front(self) -> bool:
        """Whether the tab's own shell is in the foreground."""

    def shell_sleeps(self) -> str:
        """How the shell reads the tty while it sleeps for keys: `editor` or `line`; "" if it does not."""

    def shell_stopped(self) -> bool:
        """Whether a signal has stopped the tab's own shell."""

    def front_for(self, name: str, spared: int) -> Front:
        """Who is in front, and would get the signal of that name; `spared` is a nested shell's group, or 0."""

    def reads(self) -> bool:
        """Whether what is in front sleeps until something is typed."""

    def front(self) -> Foreground | None:
        """What is in the foreground."""

    def front_shell(self) -> Shell | None:
        """The shell that is in the foreground, if it is one that we know."""

    def replacing_shell(self) -> Shell | None:
        """The shell that a program in front is, whatever runs it; None if it runs a script."""

    def is_replaced(self) -> bool | None:
        """Whether `exec` has put another program in the place of the tab's own shell; None if that cannot be known."""

    def foreground_group(self) -> int | None:
        """The foreground process group."""

    def group_exists(self, group: int) -> bool:
        """Whether a process of that group lives."""

    def tty_modes(self) -> TtyModes | None:
        """The modes of its terminal; None if that is gone."""

    @property
    def sees_waits(self) -> bool:
        """Whether the kernel says where processes sleep."""

    def waits_for_input(self) -> Waiting:
        """What is waited for; "" for nothing."""

    def waits_near(self) -> Waiting:
        """The same, by the leaders of the session and of the foreground group alone."""

    def hidden_waiting(self, look: PaneLook | None = ...) -> Waiting:
        """What is waited for inside of what cannot be seen into, as far as its text proves it."""

    def falls_silent(self, look: PaneLook | None = ...) -> bool:
        """Whether what reads like a question has stood there for long, and it cannot be seen whether it is one."""

    def may_ask(self) -> bool:
        """Whether what is shown may be a question."""

    def asks_secret(self) -> bool:
        """Whether the cursor's line asks for a secret."""

    def quiet(self, seconds: float = ...) -> bool:
        """Whether nothing was written for so many seconds."""

    def last_line(self) -> bytes:
        """What stands on the cursor's line."""


# -- parts of decisions

# Answers of tmux after which it has sent on what a pane wrote before: it may answer once before it reads the pane.
CATCH_UP: Final = 2
# Seconds in which silence is waited for: something in the background may write for ever.
SILENCE_WITHIN: Final = 2.0
# Between two looks for what no event reports.
LOOK_SECONDS: Final = 0.001


async def ask(port: Port, *words: str) -> tuple[bytes, ...]:
    """Tmux's answer to a command that only looks, for a call whose time may be over.

    Raises: TmuxSilent, ConnectionClosed.
    """
    return await port.answer(await port.submit(words), port.pane.answer_seconds)


async def until(port: Port, holds: Callable[[], bool], seconds: float) -> bool:
    """Wait, for so long at most, until `holds` is true, which only a change may bring about; return whether it is."""
    end = port.pane.now + seconds
    while not holds():
        if (left := end - port.pane.now) <= 0:
            return False
        await port.wait(left)
    return True


async def silence(port: Port, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
    """Wait until nothing was written for that long from now on, or `enough` is true."""
    end = port.pane.now + SILENCE_WITHIN
    while not enough() and await port.wait(seconds) and port.pane.now < end:
        pass


async def caught_up(port: Port) -> bool:
    """Whether the stream has all that the pane wrote before: the kernel is ahead of it.

    Raises: TmuxSilent, ConnectionClosed.
    """
    pane, end = port.pane, port.pane.stream.shown_end
    for _ in range(CATCH_UP):
        await ask(port, "display-message", "-p", "")
        if pane.stream.shown_end != end:
            return False
    return pane.stream.shown_end == end and not pane.stream.rejoining


async def reads_on(port: Port) -> bool:
    """Whether the tab's own shell sleeps until more keys come: it has read what was typed, and all it wrote is here.

    One look at the shell is no proof: on a busy machine it may not have come to the keys, nor tmux to its output.

    Raises: TmuxSilent, ConnectionClosed.
    """
    await port.refresh()
    return bool(port.pane.terminal.shell_sleeps()) and await caught_up(port) and bool(port.pane.terminal.shell_sleeps())


async def line_taken(port: Port, seconds: float) -> None:
    """Wait, for so long at most, while a line that was entered at the prompt is on its way to the shell.

    A shell that does not say that it took it has done so when a program of it is in front.
    """
    pane = port.pane
    session, end = pane.session, pane.now + seconds
    while session.state is ShellState.SUBMITTED and (left := end - pane.now) > 0:
        if session.has_preexec_mark:
            await port.wait(left)
        elif pane.stop_target().is_program(pane.terminal.foreground_group()):
            return
        else:
            await port.wait(min(left, LOOK_SECONDS))
