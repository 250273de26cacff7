"""Feeds a recording to what decides, and compares: no terminal, no tmux, no clock, no event loop.

The pane's state, its session, its stream and all requests are the product's own. Only the machine and tmux are not
there: the machine answers as recorded, tmux takes what it is sent.
"""

from __future__ import annotations

import json
import types
from bisect import bisect_left
from collections import deque
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

from muxwire.pane import runner, state, stream
from muxwire.pane.keyboard import Keyboard
from muxwire.pane.port import PanePort
from muxwire.shell import SHELLS, nesting
from muxwire.shell.examine import awaits_input, examined, for_result
from muxwire.shell.look import PaneLook, StopTarget
from muxwire.shell.port import ask, line_taken
from muxwire.shell.send_keys import Keys
from muxwire.shell.stop import Stop
from muxwire.shell.watch import watched
from tests.recordings.tape import (
    AT_ONCE,
    QUESTIONS,
    TICKS,
    TOLD,
    Action,
    Clock,
    Noted,
    entries,
    read_by_panes,
    replaced,
    taped,
)
from tests.shell.world import by_hand

# What is recorded of a `Stop` and is no option of it.
_NOT_OF_STOP = ("now", "target", "line")
# The tmux that keys are said to go to; what differs by version is no decision about a shell.
_VERSION = (3, 3)


@types.coroutine
def _acted(_: PanePort, action: Action) -> Generator[Action, Any, Any]:
    """What the recording answers."""
    return (yield action)


def nothing(*_: object, **__: object) -> None:
    """What is done about a log, or told of an output, is no decision."""


def sent(*_: object) -> list[object]:
    """Tmux takes what it is sent."""
    return [object()]


class Unknown(BaseException):
    """The recording does not have what was asked: another question than then. Who asks does not handle it."""


class Answers:
    """What the machine has answered, and when: to a question of now the answer of now, else the newest before."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._found: dict[str, dict[int, list[Any]]] = {}
        for at, event in enumerate(events):
            for key, answers in event.get("asked", {}).items():
                self._found.setdefault(key, {})[at] = answers
        self._places = {key: [*found] for key, found in self._found.items()}
        self._now: dict[str, deque[Any]] = {}
        self.at = 0
        self.before = False  # whether only what was known before this event counts

    def move(self, at: int) -> None:
        self.at, self._now = at, {}

    def __call__(self, key: str) -> Any:
        found = self._found.get(key)
        if found is None:
            raise Unknown(key)
        if not self.before and self.at in found:
            left = self._now.setdefault(key, deque(found[self.at]))
            return left.popleft() if len(left) > 1 else left[0]
        places = self._places[key]
        place = bisect_left(places, self.at)
        return found[places[place - 1]][-1] if place else found[places[0]][0]


class Machine:
    link = None

    def __init__(self, facts: dict[str, Any], replay: Replay) -> None:
        self.prefix, self.sees_waits, self.is_local = facts["prefix"], facts["sees_waits"], facts["is_local"]
        self._replay = replay

    def __getattr__(self, name: str) -> Any:
        if name not in (*QUESTIONS, *TOLD):
            raise Unknown(name)
        replay = self._replay

        def asked(*args: Any, **options: Any) -> Any:
            if name in TOLD:
                replay.output(name, *args, *options.values())
            return replay.asked(name, args, options)

        return asked

    def surroundings(self, *_: object) -> None:
        """It is not recorded, and so not known."""

    started = surroundings

    async def look_all(self, *args: Any) -> Any:
        if (found := self._replay.looked) is None:
            return self._replay.asked("look", args, {})
        return replace(found, seen_at=self._replay.clock.monotonic())

    async def refresh(self, *_: Any, **__: Any) -> bool:
        return False

    def write_command(self, _: Path, __: str, ___: bytes) -> tuple[()]:
        return ()


class Difference(AssertionError):
    """What is decided now is not what was decided then."""


class Replay(Noted):
    def __init__(self, recording: list[dict[str, Any]]) -> None:
        super().__init__()
        self.header, *self.events = recording
        self.clock = Clock()
        self._answers = Answers(self.events)
        self._requests: dict[int, Any] = {}
        self._inner: dict[int, Any] = {}  # those within others, by their numbers
        self._action: dict[int, Action] = {}  # the newest of each request
        self._done: dict[int, Any] = {}  # its result, if it was done at once
        self.looked: PaneLook | None = None

    def asked(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        key = json.dumps([name, *self.names.plain(args), *self.names.plain(options).values()])
        found = self.names.value(self._answers(key))
        return replace(found, seen_at=self.clock.monotonic()) if isinstance(found, PaneLook) else found

    def run(self) -> int:
        """Replay it all; how many events that were. Difference at the first one that ends otherwise."""
        with ExitStack() as stack:
            stack.enter_context(read_by_panes(self.clock))
            stack.enter_context(mock.patch.object(runner, "PanePort", taped(PanePort, _acted)))
            stack.callback(self._close)
            self._build()
            ticks = self.header["begun"]
            for at, event in enumerate(self.events):
                self._answers.move(at)
                ticks += event["t"]
                self.clock.stands_at = ticks / TICKS
                self.found = []
                happened = self._happens(event)
                if event["kind"] in ("call", "step", "close", "command"):
                    self.note()
                self._compare(at, event, happened | ({"then": self.found} if self.found else {}))
        return len(self.events)

    def _compare(self, at: int, event: dict[str, Any], happened: dict[str, Any]) -> None:
        happened = json.loads(json.dumps(happened))
        for name in ("error", "a", "action", "result", "outcome", "then"):
            wanted, found = event.get(name), happened.get(name)
            if name == "a" and name not in happened:
                continue
            if wanted in (None, [], {}, "") and found in (None, [], {}, ""):
                continue
            if wanted != found:
                raise Difference(
                    f"{self.header['title']}: event {at} ({event['kind']} {event.get('name', event.get('n', ''))}):"
                    f" {name} was {wanted!r}, and is {found!r}"
                )

    # -- what a tab is made of

    def _build(self) -> None:
        given = self.header["pane"]
        shell = SHELLS[given["shell"]["shell"]] if given["shell"] else None
        machine = cast("Any", Machine(self.header["host"], self))
        self.pane = pane = state.PaneState(**given | {"host": machine, "shell": shell})
        replaced(pane, "new_id", deque(self.header["ids"]).popleft)
        log: Any = SimpleNamespace(end=0, append=nothing, lose=nothing, close=nothing)
        made = stream.PaneStream(
            log,
            pane.session.on_mark,
            nonce=given["nonce"],
            start=self.header["start"],
            owns=pane.session.owns,
        )
        heard: Any = SimpleNamespace(
            on_output=nothing, on_reached=nothing, on_fact=lambda fact, _: self.output("fact", fact)
        )
        made.last_output, made.listener = self.header["last_output"], heard
        pane.stream = made
        tmux: Any = SimpleNamespace(connections=0, waiters=1, submit=sent, submit_prepared=sent, take_received=nothing)
        folder = Path(self.header["folder"])
        keys = Keyboard(pane, tmux, _VERSION)
        press = keys.press

        def pressed(data: bytes, **options: Any) -> Any:
            self.output("keys", data, options.get("bracketed", False))
            return press(data, **options)

        replaced(keys, "press", pressed)
        self.attend(runner.Runner(pane, keys, tmux, folder, lambda _: None))
        self._calls = {name: getattr(*where) for name, where in entries(pane, self.runner).items()}
        self._keys = Keys(self.runner.port, self.runner.ready)

    def _close(self) -> None:
        for one in (*self._requests.values(), *self._inner.values()):
            one.close()

    # -- what happens

    def _happens(self, event: dict[str, Any]) -> dict[str, Any]:
        value = self.names.value
        match event["kind"]:
            case "set":
                for name, to in event["values"].items():
                    if name == "no_second_try":
                        self.runner._again = None
                    else:
                        setattr(self.pane, name, to)
            case "call":
                return self._call(event)
            case "command":
                getattr(self.names.executions[event["execution"]], event["name"])(*value(event.get("args", [])))
                return {"then": self.found}
            case "begin":
                made = self._inner.pop(event["n"], None) or self._begun(event["name"], event.get("args", {}))
                self._requests[self.names.number(made, self.names.requests)] = made
            case "step":
                return self._step(event)
            case "close":
                self._requests[event["n"]].close()
        return {}

    def _call(self, event: dict[str, Any]) -> dict[str, Any]:
        value, call = self.names.value, self._calls[event["name"]]
        try:
            result = call(*value(event.get("args", [])), **value(event.get("options", {})))
        except Exception as error:  # noqa: BLE001 - compared
            return {"error": self.names.plain(error)}
        if event["name"] == "keyboard.press":  # its result is tmux's
            return {}
        return {"result": self.names.plain(result)}

    def _begun(self, name: str, args: dict[str, Any]) -> Any:
        given, made = self.names.value(args), self.runner
        match name:
            case "Stop.run":
                return self._stop(args)
            case "ask":
                return ask(made.port, *given["words"])
            case "line_taken":
                return line_taken(made.port, given["seconds"])
            case "watched":
                return watched(made.port, given["execution"], given["timeout"], made.ready)
        methods: dict[str, Any] = {
            "Runner._reached": made._reached,
            "Ready.unstick": made.ready.unstick,
            "examined": partial(examined, made.port),
            "for_result": partial(for_result, made.port),
            "awaits_input": partial(awaits_input, made.port),
            "Interrupter._watch": made.interrupter._watch,
            "Keys.send": self._keys.send,
        }
        return methods[name](**given)

    def _stop(self, given: dict[str, Any]) -> Any:
        options = self.names.value({name: one for name, one in given.items() if name not in _NOT_OF_STOP})
        target: StopTarget = self.pane.stop_target(given["spared"])
        if (now := self.names.plain(target)) != given["target"]:
            raise Difference(f"{self.header['title']}: to be ended was {given['target']}, and is {now}")
        line = self.names.value(given.get("line"))

        def over() -> bool:
            return not line.running if line is not None else bool(self.asked("over", (), {}))

        ask_end = partial(nesting.asked, self.runner.port) if line is not None and line.level > 1 else None
        return Stop(self.runner.port, over, line=line, ask_end=ask_end, **options).run()

    def _step(self, event: dict[str, Any]) -> dict[str, Any]:
        number, request, found = event["n"], self._requests[event["n"]], {}
        before, answer = self._action.get(number), self.names.value(event.get("a"))
        if number in self._done:
            answer = self._done.pop(number)
            found["a"] = self.names.plain(answer)
        elif before is not None and before.name in ("refresh", "look"):
            answer = self._look(before, answer)
        try:
            action = request.throw(self.names.value(event["x"])) if "x" in event else request.send(answer)
        except StopIteration as end:
            return found | {"result": self.names.plain(end.value)}
        except Exception as error:  # noqa: BLE001 - compared
            return found | {"error": self.names.plain(error)}
        self._action[number] = action
        found["action"] = action.plain(self.names)
        self._carry_out(number, action)
        return found

    def _carry_out(self, number: int, action: Action) -> None:
        if action.name == "within":
            request = action.given["request"]
            self._inner[self.names.number(request, self.names.requests)] = request
        self.note()
        if action.name in AT_ONCE:
            self._done[number] = done = by_hand(action.do())
            if action.name in ("press", "submit"):
                self.names.number(done, self.names.sent)

    def _look(self, action: Action, found: PaneLook | None) -> PaneLook | None:
        """Look as that was then: `found` is what a look at all processes has found, if one was taken."""
        self._answers.before, self.looked = True, found
        try:
            seen: PaneLook | None = by_hand(action.do())
            return seen
        finally:
            self._answers.before = False
