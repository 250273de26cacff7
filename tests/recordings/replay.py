"""Feeds a recording to what decides, and compares: no terminal, no tmux, no clock, no event loop.

The pane's state, its session, its stream and all requests are the product's own. Only the machine and tmux are not
there: the machine answers as recorded, tmux takes what it is sent.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from unittest import mock

from muxwire.pane import loop, runner, state, stream
from muxwire.pane.keyboard import Keyboard
from muxwire.shell import SHELLS
from muxwire.shell.driver import Stop, StopTarget, Watch, WatchView, stopped
from muxwire.shell.look import PaneLook
from muxwire.shell.request import (
    Continue,
    Hide,
    LookAll,
    NoteInput,
    Press,
    Refresh,
    Signal,
    SignalJobs,
    Submit,
    TakeReceived,
    TypeAgain,
    Unhide,
    Within,
    ask,
    line_taken,
)
from muxwire.shell.send_keys import Keys
from tests.recordings.tape import QUESTIONS, TICKS, TOLD, Noted, entries, read_by_panes, replaced
from tests.recordings.values import state_name

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

# What is recorded of a `Stop` and is no option of it.
_NOT_OF_STOP = ("now", "target", "spared")
# Before anything takes its place.
_SENT = loop._Sent
# The tmux that keys are said to go to; what differs by version is no decision about a shell.
_VERSION = (3, 3)
# What is carried out here as there, by the product's own loop; what takes time was answered in the recording.
AT_ONCE = (
    Continue, Hide, NoteInput, Press, Signal, SignalJobs, Submit, TakeReceived, TypeAgain, Unhide,
)  # fmt: skip


class Clock:
    """The moment of the event."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Sent:
    """A command that tmux was sent."""

    done = False

    def then(self, call: Callable[[], None]) -> None:
        self.answered = call


class Tmux:
    """Takes what it is sent."""

    connections, waiters = 0, 1

    def submit(self, *_: object) -> list[Sent]:
        return [Sent()]

    def submit_prepared(self, _: object) -> list[Sent]:
        return [Sent()]

    def take_received(self) -> None:
        pass


class Log:
    end = 0

    def append(self, _: bytes) -> None:
        pass

    def lose(self, _: int, **__: object) -> None:
        pass

    def close(self, **_: object) -> None:
        pass


class Files:
    def write(self, _: str, __: bytes) -> tuple[()]:
        return ()


class Facts:
    """Hears what the session says."""

    def __init__(self, noted: Noted) -> None:
        self._noted = noted

    def on_output(self, begin: int, data: bytes) -> None:
        pass

    def on_reached(self, offset: int) -> None:
        pass

    def on_fact(self, fact: object, _: int) -> None:
        self._noted.output("fact", fact)


class Unknown(Exception):
    """The recording does not have what was asked: another question than then."""


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
        self.prefix, self.sees_waits, self.answers_now = facts["prefix"], facts["sees_waits"], facts["answers_now"]
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

    async def look_all(self, *args: Any) -> Any:
        if (found := self._replay.looked) is None:
            return self._replay.asked("look", args, {})
        return replace(found, seen_at=self._replay.clock.now)

    async def refresh(self, *_: Any, **__: Any) -> bool:
        return False

    def command_files(self, _: Path) -> Files:
        return Files()


class Difference(AssertionError):
    """What is decided now is not what was decided then."""


class Replay(Noted):
    def __init__(self, recording: list[dict[str, Any]]) -> None:
        super().__init__()
        self.header, *self.events = recording
        self.clock = Clock()
        self._answers = Answers(self.events)
        self._ids = deque(self.header["ids"])
        self._requests: dict[int, Any] = {}
        self._inner: dict[int, Any] = {}  # requests within others, by their numbers
        self._action: dict[int, Any] = {}  # the newest of each request
        self.looked: PaneLook | None = None
        self._seen: dict[int, PaneLook | None] = {}  # the look that it decides by, as in `Loop.run`
        self._done: dict[int, Any] = {}  # its result, if it was done at once
        self._watches: dict[int, tuple[Watch, Any]] = {}

    def asked(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        key = json.dumps([name, *self.names.plain(args), *self.names.plain(options).values()])
        found = self.names.value(self._answers(key))
        return replace(found, seen_at=self.clock.now) if isinstance(found, PaneLook) else found

    def run(self) -> int:
        """Replay it all; how many events that were. Difference at the first one that ends otherwise."""
        with ExitStack() as stack:
            stack.enter_context(read_by_panes(self.clock))
            stack.enter_context(mock.patch.object(loop, "_Sent", self._sent()))
            self._build()
            ticks = self.header["begun"]
            for at, event in enumerate(self.events):
                self._answers.move(at)
                ticks += event["t"]
                self.clock.now = ticks / TICKS
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
        replaced(pane, "new_id", self._new_id)
        made = stream.PaneStream(
            cast("Any", Log()), pane.on_mark, nonce=given["nonce"], start=self.header["start"], owns=pane.session.owns
        )
        made.last_output, made.listener = self.header["last_output"], Facts(self)
        pane.stream = made
        tmux, folder = cast("Any", Tmux()), Path(self.header["folder"])
        keys = Keyboard(pane, tmux, _VERSION)
        press = keys.press

        def pressed(data: bytes, **options: Any) -> Any:
            self.output("keys", data, options.get("bracketed", False))
            return press(data, **options)

        replaced(keys, "press", pressed)
        self.attend(runner.Runner(pane, keys, tmux, folder, lambda _: None))
        self._calls = {name: getattr(*where) for name, where in entries(pane, self.runner).items()}
        self._keys = Keys(pane, self.runner.ready, self.runner.prompt_line)

    def _new_id(self) -> str:
        if not self._ids:
            raise Unknown("an id")
        return str(self._ids.popleft())

    def _sent(self) -> Any:
        replay = self

        class Numbered(_SENT):  # type: ignore[misc]
            def __init__(self, pending: list[Any], pane: state.PaneState) -> None:
                super().__init__(pending, pane)
                replay.names.number(self, replay.names.sent)

        return Numbered

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
            case "answered":
                for one in self.names.sent[event["sent"]]._pending[-1:]:
                    cast("Sent", one).answered()
            case "begin":
                made = self._inner.pop(event["n"], None) or self._begun(event["name"], event.get("args", {}))
                self._requests[self.names.number(made, self.names.requests)] = made
            case "step":
                return self._step(event)
            case "close":
                self._requests[event["n"]].close()
            case kind:
                return self._watch(kind, event)
        return {}

    def _call(self, event: dict[str, Any]) -> dict[str, Any]:
        value, call = self.names.value, self._calls[event["name"]]
        try:
            result = call(*value(event.get("args", [])), **value(event.get("options", {})))
        except Unknown:
            raise
        except Exception as error:  # noqa: BLE001 - compared
            return {"error": self.names.plain(error)}
        if event["name"] == "keyboard.press":  # its result is tmux's
            return {}
        return {"result": self.names.plain(result)}

    def _begun(self, name: str, args: dict[str, Any]) -> Any:
        given, made = self.names.value(args), self.runner
        match name:
            case "stopped":
                return self._stop(args["stop"], args["of"])
            case "ask":
                return ask(self.pane, *given["words"])
            case "line_taken":
                return line_taken(self.pane, given["seconds"])
        methods: dict[str, Any] = {
            "Runner._reached": made._reached,
            "Ready.unstick": made.ready.unstick,
            "Examiner.examined": made._examiner.examined,
            "Examiner.for_result": made._examiner.for_result,
            "Examiner.awaits_input": made._examiner.awaits_input,
            "NestedShells.hang_up": made._nested.hang_up,
            "Interrupter._watch": made.interrupter._watch,
            "Keys.send": self._keys.send,
        }
        return methods[name](**given)

    def _stop(self, given: dict[str, Any], command_id: str) -> Any:
        options = self.names.value({name: one for name, one in given.items() if name not in _NOT_OF_STOP})
        if "state" in options:
            options["state"] = state_name(options["state"])
        target: StopTarget = self.pane.stop_target(given["spared"])
        if (now := self.names.plain(target)) != given["target"]:
            raise Difference(f"{self.header['title']}: to be ended was {given['target']}, and is {now}")
        decides = Stop(target, given["now"], round_trip=0.0, **options)

        def sent(name: str) -> None:
            self.output("sent", name)
            if command_id:
                self.names.executions[command_id].signalled(name)

        def ask_end() -> Any:
            return self.runner._nested.asked(self.names.executions[command_id])

        made = stopped(self.pane, decides, lambda: self.asked("view", (), {}), sent, ask_end)
        self.names.number(made, self.names.requests)
        return made

    def _step(self, event: dict[str, Any]) -> dict[str, Any]:
        number, request, found = event["n"], self._requests[event["n"]], {}
        answer = self.names.value(event.get("a"))
        if number in self._done:
            found["a"] = self.names.plain(self._done[number])
            answer = self._done.pop(number)
        elif isinstance(self._action.get(number), Refresh | LookAll):
            answer = self._look(self._action[number], answer)
            if answer is None:
                found["a"] = None
        if not isinstance(self._action.get(number), loop._KEEPS_LOOK):
            self._seen[number] = answer if isinstance(answer, PaneLook) else None
        self.pane.held_look = self._seen.get(number)
        try:
            action = request.throw(self.names.value(event["x"])) if "x" in event else request.send(answer)
        except StopIteration as end:
            return found | {"result": self.names.plain(end.value)}
        except Unknown:
            raise
        except Exception as error:  # noqa: BLE001 - compared
            return found | {"error": self.names.plain(error)}
        finally:
            self.pane.held_look = None
        self._action[number] = action
        found["action"] = self.names.plain(action)
        self._carry_out(number, action, found)
        return found

    def _carry_out(self, number: int, action: Any, found: dict[str, Any]) -> None:
        if isinstance(action, Within):
            self._inner[found["action"]["request"]["request"]] = action.request
        self.note()
        if isinstance(action, AT_ONCE) and not (isinstance(action, Press) and action.taken):
            self._done[number] = self.runner.loop._done_at_once(action)

    def _look(self, action: Refresh | LookAll, found: PaneLook | None) -> PaneLook | None:
        """Look as that was then: `found` is what a look at all processes has found, if one was taken."""
        self._answers.before, self.looked = True, found
        try:
            return _run(self.pane.refresh() if isinstance(action, Refresh) else self.pane.look(wide=action.wide))
        finally:
            self._answers.before = False

    def _watch(self, kind: str, event: dict[str, Any]) -> dict[str, Any]:
        if kind == "watch":
            made = Watch(event["now"], event["timeout"], **event["options"])
            self._watches[self.names.number(made, self.names.requests)] = (
                made, self.names.executions[event["execution"]],
            )  # fmt: skip
            return {}
        watch, execution = self._watches[event["n"]]
        if kind == "done":
            watch.on_done(event["waits"])
        elif kind == "found":
            watch.on_found(event["told"])
        else:
            pane = self.pane
            view = WatchView(execution.running, execution.started, pane.stream.end, pane.quiet())
            action = watch.next(view, self.clock.now)
            return {"action": self.names.plain(action), "outcome": watch.outcome}
        return {}


def _run(looks: Coroutine[Any, Any, PaneLook | None]) -> PaneLook | None:
    """What that returns, which finds all its answers here."""
    try:
        looks.send(None)
    except StopIteration as end:
        return cast("PaneLook | None", end.value)
    raise AssertionError("it waits for something")
