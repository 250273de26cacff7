"""What is done about a shell: typed, asked, signalled, waited for, given up. Pure, as `ShellSession` is.

A request (`Stop`, for one) is fed with what is known (`next`), with looks at the terminal and with what became of its
actions, and answers with one action at a time. `pane/` carries the actions out, and decides nothing. Time is an
argument; no request reads a clock.

1. After an action whose result matters (`Look`, `Press`, `Signal`) the request is told of it before it is asked again.
2. `Wait` is over after its seconds, or as soon as the pane has written something or its state has changed.
3. Each request ends: every state has a time limit, and the tables say what follows. After `Ended` nothing is done.
4. What is known of the machine is as old as the newest look, so a request asks for one before it decides by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import TYPE_CHECKING, Final, Literal, final

from muxwire.errors import ConnectionClosed
from muxwire.shell.keys import CTRL_C
from muxwire.shell.request import LOOK_SECONDS, Continue, Press, Refresh, Signal, SignalJobs, Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muxwire.shell.look import Front
    from muxwire.shell.request import Pane, Request

# -- what there is to do


@final
@dataclass(frozen=True, slots=True)
class Look:
    """Ask the machine who is in front; the answer is `on_look`'s."""


@final
@dataclass(frozen=True, slots=True)
class AskEnd:
    """Have a nested shell that is at its prompt again say how its command ended; `on_asked` is told whether it is."""


@final
@dataclass(frozen=True, slots=True)
class Sent:
    """The step's signal was sent, by key or by the kernel: it may leave the terminal raw."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """There is nothing left to do."""


Action = Look | AskEnd | Press | Signal | SignalJobs | Continue | Sent | Wait | Ended

# -- ending what runs in the foreground
#
# C-c first, as a person would; SIGTERM for programs that trap SIGINT; SIGHUP for nested interactive shells, which
# ignore both; SIGKILL last; each only if the step before has failed. The pane's own shell never gets more than SIGINT,
# which is also what ends a command that it runs itself, without a program; its jobs get the later signals. A line that
# is typed and does not run yet is waited for: a signal would hit its shell, which may swallow it and run the line
# afterwards. C-d would end a REPL, too, but the tab's own shell as well, where the program is gone when it comes.

# Seconds each step gets before the next: sleep, pipelines and loops end within 10 ms of the first C-c; a program that
# cleans up on SIGTERM gets a second. One C-c in about 60 is lost when it hits zsh between two forks: hence two.
STEPS: tuple[tuple[str, float], ...] = (
    ("SIGINT", 0.6),
    ("SIGINT", 0.6),
    ("SIGTERM", 1.0),
    ("SIGHUP", 1.0),
    ("SIGKILL", 1.0),
)
# The time of a first step that is none of those.
_OTHER_STEP = 1.0
# What ends a `wait` of zsh for jobs of earlier commands, by a trap of `shell/zsh.py`. Other shells ignore it.
WAIT_SIGNAL = "SIGURG"
# Seconds after which C-c throws a typed line away that its shell has not begun, because a program for its prompt runs,
# or because it reads no more. A shell that has time begins within a few ms.
BEGINS_WITHIN = 1.0
# How many C-c: the first may hit a program that the shell runs for its prompt.
_LINES_THROWN_AWAY = 2
# Seconds from the beginning of a command to its first program: without one by then, the shell itself runs it. A signal
# that is sent before the program is there does not end it, and zsh loses some C-c.
FORKS_WITHIN = 0.1
# A C-c that comes as a program ends is lost: bash takes it for one that the program has handled. So many seconds after
# a C-c the next program of a loop has begun, if it was lost; else the shell has said that the command has ended.
LOST_AFTER = 0.1
# Seconds that a nested shell has to say how its command ended, once it was asked: as for a probe. Nothing is sent
# meanwhile, for C-c would throw the question away. At a load of 20 on two processors an answer took more than 0.6 s.
ANSWERS_WITHIN = 5.0
# All of it, for a command that nothing but the last step ends.
ESCALATION_SECONDS = BEGINS_WITHIN + FORKS_WITHIN + sum(seconds for _, seconds in STEPS)
# Between two looks at a command that has been sent a signal: most of its end is reported by marks.
WATCH_SECONDS = 0.05


class StopState(IntEnum):
    """How far the end of what runs is."""

    BEGINNING = auto()  # its line is typed, and may still begin to run
    FORKING = auto()  # it has begun, and its first program may still come
    SENDING = auto()  # the next step's signal is about to be sent
    WAITING = auto()  # it was sent, and has its time
    ENDED = auto()


class StopInput(IntEnum):
    """What moves a `StopState`."""

    OVER = auto()  # what was to end has ended
    SILENT = auto()  # tmux, or the other machine, does not answer: all that is sent now would come at once, later
    READY = auto()  # the line runs; its program takes the signal; the signal was sent
    LATE = auto()  # the time of that state is over, or no step is left


BEGINNING, FORKING, SENDING, WAITING, ENDED = StopState

STOP_TABLE: Final[Mapping[StopInput, Mapping[StopState, StopState]]] = {
    what: dict(zip(StopState, row, strict=True))
    for what, row in {
        #                  BEGINNING  FORKING  SENDING  WAITING  ENDED
        StopInput.OVER:   (ENDED,     ENDED,   ENDED,   ENDED,   ENDED),
        StopInput.SILENT: (BEGINNING, FORKING, ENDED,   WAITING, ENDED),
        StopInput.READY:  (FORKING,   SENDING, WAITING, WAITING, ENDED),
        StopInput.LATE:   (FORKING,   SENDING, ENDED,   SENDING, ENDED),
    }.items()
}  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class StopView:
    """What is known of what is to end.

    `begun`: the typed line runs, or provably never will; `begin_time`: when it began. `reachable`: tmux, and the other
    machine, answer.
    """

    over: bool
    reachable: bool = True
    begun: bool = True
    begin_time: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class StopTarget:
    """Which processes are whose. All are process groups.

    `shell`: the tab's own shell, 0 if it has none; `leader`: the pane's first process; `runs_program`: the leader is
    our supervisor, and the program beneath it, in place of a shell, is in its group. `spared`: a nested shell or a
    relay that runs the command, which gets C-c as a key only; 0 for none.
    """

    leader: int
    shell: int = 0
    spared: int = 0
    runs_program: bool = False

    def is_program(self, group: int | None) -> bool:
        """Whether the foreground group is a program's: not the shell's, the leader's or the spared one."""
        return group not in (None, self.shell, self.leader, self.spared)


@final
class Stop:
    """Ends what runs in the foreground, in steps; `sent` is the last signal that was sent, "" if none could be."""

    def __init__(
        self,
        target: StopTarget,
        now: float,
        *,
        first: str = "SIGINT",
        grace: float | None = None,
        state: StopState = BEGINNING,
        throws_away: bool = True,
        round_trip: float = 0.0,
        since: float = math.inf,
        asks: bool = False,
    ) -> None:
        """`first` is the step to begin with; `grace` replaces its time. `throws_away`: C-c throws a line away that does
        not begin, which of a nested shell is not known. `round_trip`: seconds to the pane's machine and back.
        `since`: where the shell itself runs the command, its jobs that began then or later get the later signals.
        `asks`: a nested shell runs it, which can say how it ended.
        """
        self.state = state
        self.target = target
        self.sent = ""
        self.front: Front | None = None  # by the newest look
        self.group: int | None = None  # what was in front when the first step was about to be sent
        self._steps = escalation(first)
        self._first_grace = grace
        self._throws_away = throws_away
        self._round_trip, self._since = round_trip, since
        self._deadline = now + BEGINS_WITHIN  # of the state
        self._thrown = 0
        self._at = 0  # the step
        self._keys = 0  # how many of the signals sent were SIGINT
        self._asked: Press | Signal | SignalJobs | None = None  # whose result is still to come
        self._by_key = False  # whether this step's key was typed, and its signal is to follow
        self._no_jobs = False  # whether the shell has none that could get this step's signal
        self._urged = False  # whether it got `WAIT_SIGNAL`
        self._asks = asks
        self._sought = False  # whether it was found out, since this step, if the nested shell has given the command up
        self._looked = False
        self._continued = False
        self._told = True  # whether the signal that was sent is noted
        self._lost_at, self._lost_after = 0.0, LOST_AFTER
        self._hit: int | None = None  # the group that the newest C-c was meant for
        self._ways = {BEGINNING: self._begin, FORKING: self._fork, SENDING: self._send, WAITING: self._watch}

    @property
    def name(self) -> str:
        """The signal of this step."""
        return self._steps[min(self._at, len(self._steps) - 1)][0]

    def on_look(self, front: Front) -> None:
        """Who is in front now."""
        self.front, self._looked = front, True

    def next(self, view: StopView, now: float) -> Action:
        """What is to be done now."""
        if not self._told:
            self._told = True
            return Sent(self.sent)
        if view.over:
            self._move(StopInput.OVER)
        while self.state is not ENDED:
            if (action := self._ways[self.state](view, now)) is not None:
                return action
        return Ended()

    def on_done(self, done: bool, now: float) -> None:
        """Whether the key was typed, or the signal got somewhere."""
        asked, self._asked = self._asked, None
        if self.state is not SENDING:  # a C-c that throws a line away, or that is repeated
            if self.state is BEGINNING and done:
                self.sent = "SIGINT"
            elif self.state is BEGINNING:
                self._move(StopInput.LATE)
            return
        if isinstance(asked, Press):
            # After a second C-c the signal itself too: a tty left raw for a moment may have eaten the keys.
            only = self.front is not None and self.front.group == self.target.spared != 0
            if only or (done and not self._keys):
                self._finish_step(done, "SIGINT", now)
            else:
                self._by_key = True
        elif isinstance(asked, SignalJobs) and not done:
            self._no_jobs = True
        elif asked is not None:
            self._finish_step(done, asked.name, now)

    def on_asked(self, asked: bool, now: float) -> None:
        """Whether the nested shell is at its prompt again, and its answer is to come."""
        self._sought = True
        if asked:
            self._deadline = self._lost_at = now + ANSWERS_WITHIN

    def _begin(self, view: StopView, now: float) -> Action | None:
        """Wait until the typed line runs, or provably never will; C-c throws away one that does not begin."""
        if view.begun:
            self._move(StopInput.READY)
        elif now < self._deadline:
            return Wait(self._deadline - now)
        elif not self._throws_away or self._thrown == _LINES_THROWN_AWAY:
            self._move(StopInput.LATE)
        else:
            self._thrown += 1
            # After the last one nothing is waited for: the steps follow.
            self._deadline = now + (BEGINS_WITHIN if self._thrown < _LINES_THROWN_AWAY else 0.0)
            return self._ask(Press(CTRL_C))
        return None

    def _fork(self, view: StopView, now: float) -> Action | None:
        """Wait until what began has a program in the foreground that takes the signal, if it is to have one."""
        if now - view.begin_time >= FORKS_WITHIN:
            self._move(StopInput.LATE)
            return None
        if not self._looked:
            return Look()
        front, self._looked = self.front, False
        if front is None or front.group is None or (self.target.is_program(front.group) and front.takes):
            self._move(StopInput.READY)
            return None
        return Wait(LOOK_SECONDS)

    def _send(self, view: StopView, now: float) -> Action | None:
        """Send this step's signal the best way; to the next step at once if nothing may get it."""
        del now
        if self._by_key:
            self._by_key = False
            return self._signal("SIGINT")
        if not view.reachable:
            self._move(StopInput.SILENT)
            return None
        if self._at == len(self._steps):
            self._move(StopInput.LATE)
            return None
        if not self._looked:
            return Look()
        front = self.front
        assert front is not None
        if self.group is None:
            self.group = front.group
        if front.stopped and not self._continued:
            self._continued = True
            return Continue()
        self._looked = self._continued = False
        name, no_jobs, self._no_jobs = self.name, self._no_jobs, False
        if front.group is not None and front.group == self.target.spared:
            if name == "SIGINT":
                return self._ask(Press(CTRL_C))
            self._at += 1
            return None
        if front.group == self.target.shell:
            if name != "SIGINT" and self._keys and not no_jobs:  # zsh's `wait` ends only with its jobs
                self._looked = True
                return self._ask(SignalJobs(name, self._since))
            if no_jobs and not self._urged:
                self._urged = True
                return self._signal(WAIT_SIGNAL)
            name = "SIGINT"  # only this ends what a shell runs itself; the shell may lose one
        if name == "SIGINT":
            if front.modes is None:
                self._at += 1
                return None
            if front.modes.isig:
                return self._ask(Press(CTRL_C))
        return self._signal(name)

    def _signal(self, name: str) -> Action | None:
        assert self.front is not None
        group, target = self.front.group, self.target
        # A program in place of a shell is in the group of its supervisor, which has to tell its status.
        if group is None or (group == target.leader and not target.runs_program):
            self._at += 1
            return None
        return self._ask(Signal(name, group, spare_leader=group == target.leader))

    def _finish_step(self, done: bool, name: str, now: float) -> None:
        seconds = self._steps[self._at][1]
        self._at += 1
        if not done:
            return
        self.sent, self._told = name, False
        self._keys += name == "SIGINT"
        self._deadline = now + (seconds if self._first_grace is None else self._first_grace)
        self._first_grace, self._sought = None, False
        self._hit = self.front.group if self.front is not None else None
        self._lost_after = LOST_AFTER
        self._lost_at = now + LOST_AFTER + self._round_trip
        self._move(StopInput.READY)

    def _watch(self, view: StopView, now: float) -> Action | None:
        """Wait for the end; press C-c again while the shell itself goes from one program to the next.

        What stands at a prompt after a C-c, as a REPL does, has outlived it: another one would change nothing.
        In a nested shell each time after twice as long: those may be programs for its prompt, which it draws anew after
        a C-c.
        """
        del view
        if now >= self._deadline:
            if self._asks and not self._sought:  # on a busy machine its prompt may have been there for long
                return AskEnd()
            self._looked = False
            self._move(StopInput.LATE)
            return None
        if now < self._lost_at:
            return Wait(min(self._deadline - now, self._lost_at - now, WATCH_SECONDS))
        if not self._looked:
            return Look()
        front, self._looked = self.front, False
        group = front.group if front is not None else None
        if front is not None and front.prompts and self._at == self._keys:
            self._at = [name for name, _ in self._steps].count("SIGINT")
            self._move(StopInput.LATE)
            return None
        pressed = group != self._hit and self.target.is_program(group)
        if pressed:
            self._hit, self._lost_after = group, (2 if self.target.spared else 1) * self._lost_after
        self._lost_at = now + self._lost_after + self._round_trip
        return self._ask(Press(CTRL_C)) if pressed else Wait(min(self._deadline - now, WATCH_SECONDS))

    def _ask(self, action: Press | Signal | SignalJobs) -> Action:
        self._asked = action
        return action

    def _move(self, what: StopInput) -> None:
        before, self.state = self.state, STOP_TABLE[what][self.state]
        if self.state is not before:
            self._looked = False


def stopped(
    pane: Pane,
    stop: Stop,
    view: Callable[[], StopView],
    sent: Callable[[str], None],
    ask_end: Callable[[], Request[bool]] | None = None,
) -> Request[None]:
    """Do what `stop` decides, until it has ended; `sent` is told of the newest signal, `ask_end` does `AskEnd`."""
    while not isinstance(action := stop.next(view(), pane.now), Ended):
        match action:
            case Look():
                yield Refresh()
                stop.on_look(pane.front_for(stop.name, stop.target.spared))
            case AskEnd():
                stop.on_asked(ask_end is not None and (yield from ask_end()), pane.now)
            case Press():
                try:
                    yield action
                except ConnectionClosed:  # between two connections: a signal needs only the kernel
                    stop.on_done(False, pane.now)
                else:
                    stop.on_done(True, pane.now)
            case Signal() | SignalJobs():
                stop.on_done((yield action), pane.now)
            case Sent():
                pane.session.signalled()
            case Continue() | Wait():
                yield action
        sent(stop.sent)


def escalation(first: str) -> tuple[tuple[str, float], ...]:
    """The steps that begin with that signal."""
    order = [name for name, _ in STEPS]
    if first not in order:
        steps = ((first, _OTHER_STEP), *STEPS[order.index("SIGTERM") :])
    else:
        steps = STEPS[order.index(first) :]
    if first != "SIGINT":  # nothing else ends what a shell runs itself, a loop for one
        steps += STEPS[: order.index("SIGTERM")]
    return steps


# -- waiting for a command's end

# Seconds after typing, or after its newest output, at which a silent command is examined; then every LOOK_EVERY. A
# password prompt shows by 0.15. On a busy machine a program may begin to read seconds after it has written its
# question: so the first intervals are at most the 2 s within which a question is to be noticed. What polls is known
# to rest a second after a look (`STILL_SECONDS`): where the first was too early, soon after the next second.
LOOKS = (0.15, 0.2, 0.4, 0.8, 1.05, 1.5, 2.0, 2.0, 2.0)
LOOK_EVERY = 5.0
# A question is to be noticed within 2 s, also one for which nothing is written: so often it is seen whether the leader
# of the foreground group reads. That takes 0.1 ms.
TICK_SECONDS = 1.0


@final
class Intervals:
    """When a silent command is looked at next: at growing intervals."""

    def __init__(self, now: float, delay: float) -> None:
        """`delay`: seconds on top of the first interval, for another machine."""
        self._delay = delay
        self._intervals = iter((LOOKS[0] + delay, *LOOKS[1:]))
        self.due = 0.0
        self.next(now)

    def next(self, now: float) -> None:
        self.due = now + next(self._intervals, LOOK_EVERY)

    def restart(self) -> None:
        self._intervals = iter((LOOKS[0] + self._delay, *LOOKS[1:]))


@final
@dataclass(frozen=True, slots=True)
class Report:
    """Tell the caller how far the command is."""


@final
@dataclass(frozen=True, slots=True)
class LookNear:
    """Find out, by a look that costs little, whether a command that has written nothing new waits; for `on_done`."""


@final
@dataclass(frozen=True, slots=True)
class TryAgain:
    """The line has not begun: find out whether it has to be typed again (`Retry`)."""


@final
@dataclass(frozen=True, slots=True)
class Examine:
    """Find out, with proof, whether the command waits for input; for `on_found`."""


@final
@dataclass(frozen=True, slots=True)
class WaitWritten:
    """Wait for so many seconds, or until something is written: all that was, has been examined."""

    seconds: float


# How a wait for a command ended. `silent`: what runs may wait for input, where that cannot be seen.
Outcome = Literal["ended", "timed_out", "interactive", "silent"]
WatchAction = Report | LookNear | TryAgain | Examine | Wait | WaitWritten | Ended


@final
@dataclass(frozen=True, slots=True)
class WatchView:
    """What is known of a command: the end of what its pane wrote, and whether that has been silent for a while."""

    running: bool
    started: bool
    end: int
    silent: bool


@final
class Watch:
    """Waits for a command's end, and has it looked at while that does not come.

    `outcome` is `ended` or `timed_out`, or what `on_found` was told.
    """

    def __init__(self, now: float, timeout: float, *, reports: bool = False, delay: float = 0.0) -> None:
        """`reports`: the caller is told from time to time. `delay`: seconds to the pane's machine and back."""
        self.outcome: Outcome | Literal[""] = ""
        self.deadline = now + timeout
        self._looks = Intervals(now, delay)
        self._reports = Intervals(now, delay) if reports else None
        self._examined = -1  # the end of what was written, at the newest look
        self._near: bool | None = None  # what the newest look nearby has found; None if it was not asked for
        self._woken = False  # whether a wait has passed since the newest look

    def next(self, view: WatchView, now: float) -> WatchAction:
        """What is to be done now."""
        if self.outcome:
            return Ended()
        if not view.running:
            self.outcome = "ended"
        elif now >= self.deadline:
            self.outcome = "timed_out"
        else:
            return self._next(view, now)
        return Ended()

    def on_done(self, waits: bool) -> None:
        """What the look nearby has found."""
        self._near = waits

    def on_found(self, outcome: Outcome | Literal[""]) -> None:
        """What the examination has found; "" for nothing."""
        self.outcome = outcome

    def _next(self, view: WatchView, now: float) -> WatchAction:
        if not self._woken:
            self._woken = True
            seconds = min(self.deadline - now, max(self._looks.due - now, 0.0), TICK_SECONDS)
            # A question that is written now is to be looked at when it has stood there for the first interval.
            return WaitWritten(seconds) if view.end == self._examined else Wait(seconds)
        if self._reports is not None and self._reports.due <= now:
            self._reports.next(now)
            return Report()
        written = view.end != self._examined
        if now < self._looks.due and not written and view.started and self._near is None:
            return LookNear()
        near, self._near, self._woken = self._near, None, False
        if now < self._looks.due and not written and not near:
            return self._next(view, now)
        if written:  # what asks has written something
            self._looks.restart()
        self._looks.next(now)
        if not view.started:
            return TryAgain()
        if not view.silent:
            return self._next(view, now)
        self._examined = view.end
        return Examine()
