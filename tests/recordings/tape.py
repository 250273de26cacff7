"""One recording: what happened in one pane, in order, and what was done about it.

An event is an input with its moment (`t`, ticks since the event before): output that came, a request that began or was
given an answer, a call that changed what is known. With it stands all that followed at once: the next action, keys
that were typed, facts of the shell, and, as far as they changed, the state of the session and of its commands. `asked`
has what the machine answered meanwhile, where that is not what it answered to the same question before.

While an event is dealt with the clock stands still, here as in the replay: so all that is decided by it is decided by
one moment, and the same moment leads to the same decision.
"""

from __future__ import annotations

import functools
import inspect
import json
import lzma
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from muxwire.pane import interrupt, keyboard, runner, state, stream, terminal
from muxwire.pane.runner import Runner
from muxwire.pane.state import PaneState
from tests.recordings.values import Names, of_execution

# Of the clock in a second: less than the shortest time that is waited for, and few digits to keep.
TICKS = 10_000
# What others set of a pane, not by a call.
ATTRIBUTES = ("pressed_at", "first_pressed_at", "interrupted_at", "supervised", "asked_at")
# What is asked of the pane's machine at once, and what it is told to do.
QUESTIONS = (
    "look", "foreground_pgrp", "foreground", "sleeps_for_keys", "takes", "program_of", "runs_script",
    "group_exists", "is_stopped", "session_since", "shares_folder", "tty_modes", "shell_for", "cursor",
)  # fmt: skip
TOLD = ("restore_line_modes", "write_tty", "signal_process", "signal_group")
# What is done about a pane at once; for all else a decision has to wait.
AT_ONCE = (
    "take_received", "press", "type_again", "submit", "signal", "signal_jobs", "note_input", "resume", "hide", "unhide",
)  # fmt: skip
# Those that take time, and the question that has the same answer.
WAITED = {"look_all": "look", "refresh": "refresh", "done": "done"}
FACTS_OF_HOST = ("prefix", "sees_waits", "is_local")


class Clock:
    """Takes the place of `time` in the modules of `pane/`."""

    def __init__(self) -> None:
        self.stands_at: float | None = None

    def monotonic(self) -> float:
        return self.stands_at if self.stands_at is not None else int(time.monotonic() * TICKS) / TICKS


@contextmanager
def read_by_panes(clock: object) -> Iterator[None]:
    """Have the modules of `pane/` read this clock."""
    with ExitStack() as stack:
        for module in (state, terminal, stream, keyboard, runner, interrupt):
            stack.enter_context(mock.patch.object(module, "time", clock))
        yield


def entries(pane: PaneState, runner: Runner) -> dict[str, tuple[object, str]]:
    """The calls by which others change a pane, or have it decide something at once: their owners and names."""
    owners: dict[str, tuple[object, tuple[str, ...]]] = {
        "session": (pane.session, (
            "close", "prompt_found", "line_withdrawn", "line_discarded", "line_interrupted", "told_of", "refused",
            "line_entered", "hide", "unhide", "adopt", "input_typed", "resized", "hang_up",
        )),
        "hidden": (pane.hidden, ("give_up", "ended")),
        "stream": (pane.stream, ("feed", "lose", "close")),
        "pane": (pane, ("tab_state", "known_state", "state_after")),
        "runner": (runner, ("_check_place", "_execution", "_drawn", "_type")),
        "keyboard": (runner.keyboard, ("press",)),
    }  # fmt: skip
    return {f"{key}.{name}": (owner, name) for key, (owner, names) in owners.items() for name in names}


@dataclass(frozen=True)
class Action:
    """One call of a port: its arguments by name, without those that are as usual, and what does it."""

    name: str
    given: dict[str, Any]
    do: Callable[[], Awaitable[Any]]

    def plain(self, names: Names) -> dict[str, Any]:
        return {"is": self.name} | {name: names.plain(one) for name, one in self.given.items()}


def taped(port: type, act: Callable[[Any, Action], Awaitable[Any]]) -> Any:
    """A port whose every call is an action, with which that is done."""

    def acted(name: str, method: Callable[..., Any]) -> Any:
        takes = inspect.signature(method)

        async def call(self: Any, *args: Any, **options: Any) -> Any:
            found = takes.bind(self, *args, **options).arguments.items()
            given = {key: one for key, one in found if key != "self" and one != takes.parameters[key].default}
            return await act(self, Action(name, given, functools.partial(method, self, *args, **options)))

        return call

    def pictured(self: Any) -> Any:
        async def call() -> Any:
            return await act(self, Action("picture", {}, self.look_at_screen))

        return call

    methods = {name: one for name, one in vars(port).items() if callable(one) and not name.startswith("_")}
    picture = property(pictured, lambda self, look: setattr(self, "look_at_screen", look))
    return type("Taped", (port,), {name: acted(name, one) for name, one in methods.items()} | {"picture": picture})


def replaced(owner: object, name: str, call: Callable[..., Any]) -> None:
    """Have an object do that in place of its method."""
    setattr(owner, name, call)


class Noted:
    """What became of a pane since it was last asked for: the outputs of the event that is dealt with."""

    def __init__(self) -> None:
        self.names = Names()
        self.found: list[Any] = []
        self.pane: PaneState
        self.runner: Runner
        self._commands: dict[str, list[Any]] = {}
        self._session: list[Any] = []

    def output(self, what: str, *values: Any) -> None:
        self.found.append([what, *map(self.names.plain, values)])

    def note(self) -> None:
        """Add what has changed of the session and its commands."""
        session = self.pane.session
        running = session.running
        now = [
            session.state.name, session.prompt_seq, session.prompt_status, running.command_id if running else "",
            session.hidden_id, session.has_preexec_mark, session.repair_tty, session.left.note if session.left else "",
            session.shell.name if session.shell else "", session.cwd, session.shell_pid,
        ]  # fmt: skip
        if now != self._session:
            self._session = now
            self.output("session", *now)
        for key, execution in self.names.executions.items():
            if (known := of_execution(execution, self.names)) != self._commands.get(key):
                self._commands[key] = known
                self.output("command", *known)

    def attend(self, runner: Runner) -> None:
        """Know the commands that this one makes."""
        self.runner, make = runner, runner._execution

        def made(*args: Any) -> Any:
            execution = make(*args)
            self.names.executions[execution.command_id] = execution
            return execution

        replaced(runner, "_execution", made)

    def attributes(self) -> dict[str, Any]:
        found = {name: getattr(self.pane, name) for name in ATTRIBUTES}
        return found | {"no_second_try": self.runner._again is None}


class Tape(Noted):
    """A recording that is being made."""

    def __init__(self, title: str, clock: Clock) -> None:
        super().__init__()
        self.header: dict[str, Any] = {"title": title, "ids": []}
        self.events: list[dict[str, Any]] = []
        self.depth = 0  # of what is being dealt with
        self.clock = clock
        self.header["begun"] = self._ticks = int(time.monotonic() * TICKS)
        self._last = 0.0
        self._answers: dict[str, Any] = {}
        self._kept: dict[str, Any] = {}

    def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        now = fields.pop("at", None) or self.clock.monotonic()
        if self._kept and (kept := self.attributes()) != self._kept:
            changed = {name: value for name, value in kept.items() if value != self._kept[name]}
            self._kept = kept
            self.event("set", values=self.names.plain(changed))
        self._settle()
        ticks = round(now * TICKS)
        made = {"t": ticks - self._ticks, "kind": kind} | fields
        self._ticks = ticks
        self.events.append(made)
        self.found = []
        return made

    @contextmanager
    def step(self, kind: str, **fields: Any) -> Iterator[dict[str, Any]]:
        """Something happens, and is dealt with at once; nothing if that is part of another."""
        made = self.begin_step(kind, **fields)
        try:
            yield made
        finally:
            self.end_step()

    def begin_step(self, kind: str, **fields: Any) -> dict[str, Any]:
        """As `step`, for what ends in another function."""
        self.made = made = self.event(kind, **fields)
        self._last = self.clock.stands_at = self._ticks / TICKS
        self.depth += 1
        return made

    def end_step(self) -> None:
        self.clock.stands_at = None
        self.depth -= 1
        self.note()
        self._kept = self.attributes()

    @contextmanager
    def carried_out(self) -> Iterator[None]:
        """What the newest action asks for is done at once, and belongs to it."""
        self.depth += 1
        self.clock.stands_at = self._last
        try:
            yield
        finally:
            self.end_step()

    def wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """That call, recorded with its result unless it is part of another."""

        def recorded(*args: Any, **options: Any) -> Any:
            if self.depth:
                return call(*args, **options)
            plain = self.names.plain
            with self.step("call", name=name, args=plain(args), options=plain(options)) as made:
                try:
                    result = call(*args, **options)
                except Exception as error:
                    made["error"] = plain(error)
                    raise
                if name != "keyboard.press":
                    made["result"] = plain(result)
                return result

        return recorded

    def answer(self, name: str, args: tuple[Any, ...], options: dict[str, Any], found: Any) -> None:
        """The machine, or who called, has answered that."""
        if self.events:
            key = json.dumps([name, *self.names.plain(args), *self.names.plain(options).values()])
            self.events[-1].setdefault("asked", {}).setdefault(key, []).append(self.names.plain(found))

    def _settle(self) -> None:
        """Keep of the newest event what is not known from those before."""
        if not self.events:
            return
        newest = self.events[-1]
        asked = newest.pop("asked", {})
        kept = {key: found for key, found in asked.items() if {*map(json.dumps, found)} != {self._answers.get(key)}}
        if kept:
            newest["asked"] = kept
            self._answers |= {key: json.dumps(found[-1]) for key, found in kept.items()}
        if self.found:
            newest["then"] = self.found
        for name in [name for name, value in newest.items() if value in (None, [], {}) and name not in ("t", "a")]:
            del newest[name]

    def lines(self) -> list[str]:
        self._settle()
        return [json.dumps(one, separators=(",", ":")) for one in (self.header, *self.events)]


def texts_in(path: Path) -> list[list[str]]:
    """The recordings of a file, between which a line is empty; none if it is not there."""
    if not path.exists():
        return []
    return [one.split("\n") for one in lzma.decompress(path.read_bytes()).decode().split("\n\n")]


def kept_in(path: Path) -> list[list[dict[str, Any]]]:
    return [[json.loads(line) for line in one] for one in texts_in(path)]


def keep(path: Path, recordings: list[list[str]]) -> None:
    text = "\n\n".join("\n".join(one) for one in recordings)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
