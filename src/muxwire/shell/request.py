"""What a request about a pane asks for: one action at a time, which `pane/loop.py` carries out.

A request is a generator. It yields an action and is resumed with the answer, or with the error that the action raised;
what it returns is its result. Between two actions it decides by what is known of the pane (`Pane`), at `Pane.now`.

1. No request waits, writes or reads a clock: it yields.
2. Every wait has a time limit. So each request ends, whatever the pane does, and after its end nothing is done.
3. What was decided before an action may be true no more after it: a request looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar, final

from muxwire.shell.session_table import ShellState

if TYPE_CHECKING:
    from muxwire.errors import State, TabUnavailable
    from muxwire.shell.execution import Execution
    from muxwire.shell.look import Foreground, Front, PaneLook, TtyModes, Waiting
    from muxwire.shell.session import ShellSession
    from muxwire.shell.shell import Shell
    from muxwire.vt.ring import RingBuffer

_Result = TypeVar("_Result")

# -- what there is to do


@final
@dataclass(frozen=True, slots=True)
class Wait:
    """Go on after so many seconds, or as soon as something has changed: the answer says whether something has."""

    seconds: float


@final
@dataclass(frozen=True, slots=True)
class Poll:
    """Read what tmux sends, for a fraction of a millisecond, until `holds` is true."""

    holds: Callable[[], bool]


@final
@dataclass(frozen=True, slots=True)
class TakeReceived:
    """Deal with what tmux has sent already: this process may have been stopped."""


@final
@dataclass(frozen=True, slots=True)
class Within:
    """Do another request, for so many seconds at most: its result, or None if it took longer."""

    seconds: float
    request: Generator[Action, Any, Any]


@final
@dataclass(frozen=True, slots=True)
class Press:
    """Type these keys. The answer is an `Asked`, at once; with `taken` it is None, once tmux has typed them.

    `bracketed`: as one paste. Raises ConnectionClosed.
    """

    keys: bytes
    bracketed: bool = False
    taken: bool = False


@final
@dataclass(frozen=True, slots=True)
class TypeAgain:
    """Type the line of this command once more; or, if it was typed again before, give it up: it never ran."""

    execution: Execution


@final
@dataclass(frozen=True, slots=True)
class Submit:
    """Send a tmux command that only looks; the answer is an `Asked`, at once. Raises ConnectionClosed."""

    words: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class AnswerOf:
    """Wait for tmux's answer, for so many seconds at most: its lines.

    Raises TmuxSilent, ConnectionClosed, CommandError.
    """

    asked: Asked
    seconds: float


@final
@dataclass(frozen=True, slots=True)
class Pause:
    """Go on after so many seconds, whatever changes."""

    seconds: float


@final
@dataclass(frozen=True, slots=True)
class Signal:
    """Send a signal to a process group; the answer says whether anything got it.

    `spare_leader`: the group is that of the pane's first process, a supervisor, which gets none.
    """

    name: str
    group: int
    spare_leader: bool = False


@final
@dataclass(frozen=True, slots=True)
class SignalJobs:
    """Send a signal to each process that the tab's shell has started since then; the answer as for `Signal`."""

    name: str
    since: float


@final
@dataclass(frozen=True, slots=True)
class NoteInput:
    """Keys that are no command are about to be typed: those who record the pane's input learn of it."""


@final
@dataclass(frozen=True, slots=True)
class Refresh:
    """Bring what is known of the pane's processes and its terminal up to date."""


@final
@dataclass(frozen=True, slots=True)
class LookAll:
    """As `Refresh`, and look at all processes, if the leaders do not show what is waited for, or if `wide` is set."""

    wide: bool = False


@final
@dataclass(frozen=True, slots=True)
class LookAtScreen:
    """Ask tmux what is on the screen: the answer is a `vt.drawn.Picture`. Raises TmuxSilent, ConnectionClosed."""


@final
@dataclass(frozen=True, slots=True)
class Settle:
    """Wait until what was asked of the pane's machine, a write to its terminal for one, was carried out."""


@final
@dataclass(frozen=True, slots=True)
class Continue:
    """Let the tab's own shell continue, which is stopped (SIGCONT)."""


@final
@dataclass(frozen=True, slots=True)
class Hide:
    """Have what is typed from here on hidden, until T with this id; the answer says whether the terminal took that."""

    hidden_id: str


@final
@dataclass(frozen=True, slots=True)
class Unhide:
    """What is hidden, if anything, was not taken by a shell."""


Action: TypeAlias = (
    Wait | Pause | Poll | TakeReceived | Within | Press | TypeAgain | Submit | AnswerOf | Refresh | LookAll
    | LookAtScreen | Settle | Signal | SignalJobs | NoteInput | Continue  | Hide
    | Unhide
)  # fmt: skip
Request: TypeAlias = Generator[Action, Any, _Result]

# -- what is known


class Asked(Protocol):
    """A question that tmux was sent."""

    @property
    def end(self) -> int:
        """Where the stream ended when the answer came: all that was on the screen then is before it. -1 until then."""


class Stream(Protocol):
    """What the pane has written."""

    ring: RingBuffer
    last_output: float
    live_from: int
    rejoining: bool

    @property
    def end(self) -> int: ...

    @property
    def shown_end(self) -> int: ...

    def holds(self, offset: int) -> bool: ...

    def written(self, begin: int) -> bytes: ...


class Pane(Protocol):
    """What is known of a pane. Each question is answered at once; of another machine, by the newest answer."""

    pane_id: str
    session: ShellSession

    @property
    def stream(self) -> Stream: ...

    @property
    def now(self) -> float:
        """The moment, on the clock of all other times here."""

    # The connection to its machine: seconds to there and back, and how long an answer of tmux may take.

    @property
    def is_remote(self) -> bool: ...

    @property
    def round_trip(self) -> float: ...

    @property
    def answer_seconds(self) -> float: ...

    @property
    def machine(self) -> str:
        """Its name, "" for this one."""

    @property
    def reachable(self) -> bool: ...

    @property
    def answered_whole(self) -> bool:
        """Whether another machine has examined the pane since it wrote last."""

    # Its shell.

    @property
    def shell(self) -> Shell | None: ...

    @property
    def listens(self) -> bool: ...

    @property
    def takes_next(self) -> bool: ...

    @property
    def is_back(self) -> bool: ...

    def on_its_way(self) -> bool: ...

    def shell_in_front(self) -> bool: ...

    def shell_sleeps(self) -> str: ...

    def shell_stopped(self) -> bool: ...

    def is_program(self, group: int | None) -> bool: ...

    def front_for(self, name: str, spared: int) -> Front:
        """Who is in front, and would get the signal of that name; `spared` is a nested shell's group, or 0."""

    # What runs in it.

    @property
    def tells_sleeps(self) -> bool:
        """Whether the kernel says where processes sleep."""

    def seen(self) -> PaneLook: ...

    def reads(self) -> bool:
        """Whether what is in front sleeps until something is typed."""

    def front(self) -> Foreground | None: ...

    def arguments(self, pid: int) -> Sequence[str]:
        """The words that a program which is in front was started with, without its own name."""

    def front_shell(self) -> Shell | None: ...

    def replacing_shell(self) -> Shell | None: ...

    def foreground_group(self) -> int | None: ...

    def group_exists(self, group: int) -> bool: ...

    def tty_modes(self) -> TtyModes | None: ...

    def waits_for_input(self) -> Waiting: ...

    def waits_near(self) -> Waiting: ...

    def awaited(self, execution: Execution) -> Waiting: ...

    def hidden_waiting(self) -> Waiting: ...

    def falls_silent(self) -> bool: ...

    def may_ask(self) -> bool: ...

    def asks_secret(self) -> bool: ...

    def tab_state(self) -> State: ...

    def quiet(self, seconds: float = ...) -> bool: ...

    def last_line(self) -> bytes: ...

    def prompt_again(self, execution: Execution) -> int: ...

    def refusal(self) -> TabUnavailable: ...

    # What was typed.

    started_at: float  # when its first process was started for us; -inf: it was there before
    interrupted_at: float  # when the newest C-c was typed after which nothing came in the same write; -inf: none is due

    def new_id(self) -> str:
        """A new id of a mark of this pane."""


# -- parts of requests

# Answers of tmux after which it has sent on what a pane wrote before: it may answer once before it reads the pane.
CATCH_UP: Final = 2
# Seconds in which silence is waited for: something in the background may write for ever.
SILENCE_WITHIN: Final = 2.0
# Between two looks for what no event reports.
LOOK_SECONDS: Final = 0.001


def ask(pane: Pane, *words: str) -> Request[tuple[bytes, ...]]:
    """Tmux's answer to a command that only looks, for a call whose time may be over.

    Raises: TmuxSilent, ConnectionClosed.
    """
    answer: tuple[bytes, ...] = yield AnswerOf((yield Submit(words)), pane.answer_seconds)
    return answer


def until(pane: Pane, holds: Callable[[], bool], seconds: float) -> Request[bool]:
    """Wait, for so long at most, until `holds` is true, which only a change may bring about; return whether it is."""
    end = pane.now + seconds
    while not holds():
        if (left := end - pane.now) <= 0:
            return False
        yield Wait(left)
    return True


def silence(pane: Pane, seconds: float, enough: Callable[[], bool] = lambda: False) -> Request[None]:
    """Wait until nothing was written for that long from now on, or `enough` is true."""
    end = pane.now + SILENCE_WITHIN
    while not enough() and (yield Wait(seconds)) and pane.now < end:
        pass


def caught_up(pane: Pane) -> Request[bool]:
    """Whether the stream has all that the pane wrote before: the kernel is ahead of it.

    Where another machine has examined the pane since it wrote, one of tmux's answers has come. Another is needed
    all the same: that one may have overtaken the rest of a long output.

    Raises: TmuxSilent, ConnectionClosed.
    """
    end = pane.stream.shown_end
    for _ in range(CATCH_UP - pane.answered_whole):
        yield from ask(pane, "display-message", "-p", "")
        if pane.stream.shown_end != end:
            return False
    return pane.stream.shown_end == end and not pane.stream.rejoining


def reads_on(pane: Pane) -> Request[bool]:
    """Whether the tab's own shell sleeps until more keys come: it has read what was typed, and all it wrote is here.

    One look at the shell is no proof: on a busy machine it may not have come to the keys, nor tmux to its output.

    Raises: TmuxSilent, ConnectionClosed.
    """
    yield Refresh()
    return bool(pane.shell_sleeps()) and (yield from caught_up(pane)) and bool(pane.shell_sleeps())


def line_taken(pane: Pane, seconds: float) -> Request[None]:
    """Wait, for so long at most, while a line that was entered at the prompt is on its way to the shell.

    A shell that does not say that it took it has done so when a program of it is in front.
    """
    session, end = pane.session, pane.now + seconds
    while session.state is ShellState.SUBMITTED and (left := end - pane.now) > 0:
        if session.has_preexec_mark:
            yield Wait(left)
        elif pane.is_program(pane.foreground_group()):
            return
        else:
            yield Wait(min(left, LOOK_SECONDS))
