"""Records what the drivers of this process's tabs are told, and what they do: each tab is a recording of its own.

Nothing of the product is changed: its objects are wrapped as they are made.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

from muxwire.pane import interrupt, loop, runner, state, stream
from muxwire.shell.driver import Watch, stopped
from muxwire.shell.execution import Execution
from muxwire.shell.request import TakeReceived
from muxwire.tabs import maker
from tests.recordings.tape import FACTS_OF_HOST, QUESTIONS, TOLD, WAITED, Clock, Tape, entries, read_by_panes, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.runner import Runner
    from muxwire.pane.state import PaneState

# What a caller says of a command.
OF_COMMANDS = ("overdue", "delivered", "was_answered", "resisted", "signalled", "explain", "asks", "fell_silent")


class Machine:
    """A host whose answers are recorded."""

    def __init__(self, host: Any, tape: Tape) -> None:
        self._host, self._tape = host, tape

    def __getattr__(self, name: str) -> Any:
        call, tape = getattr(self._host, name), self._tape
        if name not in (*QUESTIONS, *TOLD, *WAITED):
            return call

        def asked(*args: Any, **options: Any) -> Any:
            found = call(*args, **options)
            tape.answer(name, args, options, found)
            if name in TOLD and tape.depth:
                tape.output(name, *args, *options.values())
            return found

        async def waited(*args: Any, **options: Any) -> Any:
            found = await call(*args, **options)
            tape.answer(WAITED[name], args, options, found)
            return found

        return waited if name in WAITED else asked


class Recorder:
    def __init__(self) -> None:
        self.tapes: list[Tape] = []
        self.title = ""
        self.clock = Clock()
        self._watching: tuple[Tape, Execution]
        self._stops: dict[int, tuple[object, Any]] = {}

    def of_pane(self, pane: PaneState) -> Tape:
        return next(tape for tape in self.tapes if tape.pane is pane)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the tabs that are made meanwhile."""
        with ExitStack() as stack:
            stack.enter_context(read_by_panes(self.clock))
            for name, make in (("PaneState", self._pane), ("PaneStream", self._stream), ("Runner", self._runner)):
                stack.enter_context(mock.patch.object(maker, name, make))
            stack.enter_context(mock.patch.object(loop, "_Sent", self._sent()))
            stack.enter_context(mock.patch.object(runner, "Watch", self._watch()))
            stack.enter_context(mock.patch.object(interrupt, "stopped", self._stopped))
            for name in OF_COMMANDS:
                said = self._of_command(name, getattr(Execution, name))
                stack.enter_context(mock.patch.object(Execution, name, said))
            yield

    # -- what a tab is made of

    def _pane(self, **options: Any) -> PaneState:
        tape = Tape(self.title, self.clock)
        machine = Machine(options["host"], tape)
        tape.pane = pane = state.PaneState(**options | {"host": machine})
        facts = {name: getattr(machine, name) for name in FACTS_OF_HOST}
        tape.header |= {"host": facts, "pane": tape.names.plain(options | {"host": None})}
        self.tapes.append(tape)
        new_id = pane.new_id

        def made() -> str:
            tape.header["ids"].append(made := new_id())
            return made

        replaced(pane, "new_id", made)
        return pane

    def _stream(self, *args: Any, **options: Any) -> stream.PaneStream:
        made = stream.PaneStream(*args, **options)
        tape, tell = self.tapes[-1], made.tell
        tape.header |= {"last_output": made.last_output, "start": made.end}

        def told(fact: Any) -> None:
            tape.output("fact", fact)
            tell(fact)

        replaced(made, "tell", told)
        return made

    def _runner(self, pane: PaneState, keys: Keyboard, client: Any, folder: Any, *rest: Any) -> Runner:
        tape = self.of_pane(pane)
        made = runner.Runner(pane, keys, client, folder, *rest)
        tape.attend(made)
        tape.header |= {"folder": str(folder), "keys": []}
        tape.names.executions.clear()
        press = keys.press

        def pressed(data: bytes, **options: Any) -> Any:
            if tape.depth:
                tape.output("keys", data, options.get("bracketed", False))
            return press(data, **options)

        replaced(keys, "press", pressed)
        for name, (owner, method) in entries(pane, made).items():
            replaced(owner, method, tape.wrapped(name, getattr(owner, method)))
        self._wrap_loop(tape, made)
        return made

    def _wrap_loop(self, tape: Tape, made: Runner) -> None:
        run, done, wait, stop = made.loop.run, made.loop._done_at_once, made._wait, made.interrupter._stop

        def carried_out(action: Any) -> Any:
            if isinstance(action, TakeReceived):  # what it brings are inputs
                return done(action)
            with tape.carried_out():
                return done(action)

        async def waited(execution: Execution, *args: Any) -> Any:
            self._watching = tape, execution
            return await wait(execution, *args)

        def stops(*args: Any, **options: Any) -> Any:
            # The clock stands still for both: the moment is an argument of what is made.
            tape.clock.stands_at = now = tape.clock.monotonic()
            try:
                decides = stop(*args, **options)
            finally:
                tape.clock.stands_at = None
            given = {"first": args[0].name, "grace": args[1], "now": now, "target": decides.target}
            self._stops[id(decides)] = decides, tape.names.plain(given | options)
            return decides

        replaced(made.loop, "run", lambda request: run(self._recorded(tape, request)))
        replaced(made.loop, "_done_at_once", carried_out)
        replaced(made, "_wait", waited)
        replaced(made.interrupter, "_stop", stops)

    # -- what is recorded of it

    def _recorded(self, tape: Tape, request: Any) -> Generator[Any, Any, Any]:
        plain, number = tape.names.plain, tape.names.number(request, tape.names.requests)
        given = {name: value for name, value in request.gi_frame.f_locals.items() if name not in ("self", "pane")}
        if "stop" in given:
            given = {"stop": given["stop"], "of": given["sent"].of}
        args = {name: self._stops[id(one)][1] if name == "stop" else plain(one) for name, one in given.items()}
        tape.event("begin", n=number, name=request.__qualname__, args=args)
        answer: Any = None
        failure: Exception | None = None
        ended = False
        try:
            while True:
                told = {"a": plain(answer)} if failure is None else {"x": plain(failure)}
                with tape.step("step", n=number, **told) as made:
                    try:
                        action = request.send(answer) if failure is None else request.throw(failure)
                    except StopIteration as end:
                        made["result"], ended = plain(end.value), True
                        return end.value
                    except Exception as error:
                        made["error"], ended = plain(error), True
                        raise
                    made["action"] = plain(action)
                answer = failure = None
                try:
                    answer = yield action
                except Exception as error:  # noqa: BLE001 - it is the request's
                    failure = error
        finally:
            if not ended:
                with tape.step("close", n=number):
                    request.close()

    def _stopped(self, pane: Any, stop: Any, view: Callable[[], Any], sent: Any, ask_end: Any = None) -> Any:
        tape = self.of_pane(pane)

        def seen() -> Any:
            tape.answer("view", (), {}, found := view())
            return found

        def told(name: str) -> None:
            tape.output("sent", name)
            sent(name)

        owner = getattr(sent, "__self__", None)
        told.of = owner.command_id if isinstance(owner, Execution) else ""  # type: ignore[attr-defined]
        return stopped(pane, stop, seen, told, ask_end)

    def _sent(self) -> Any:
        recorder = self

        class Sent(_SENT):  # type: ignore[misc]
            def __init__(self, pending: list[Any], pane: PaneState) -> None:
                super().__init__(pending, pane)
                tape = recorder.of_pane(pane)
                number = tape.names.number(self, tape.names.sent)
                newest = pending[-1] if pending else None
                if newest is not None and not newest.done:
                    before = newest._then

                    def answered() -> None:
                        before()
                        tape.event("answered", sent=number)

                    newest._then = answered

        return Sent

    def _watch(self) -> Any:
        recorder = self

        class Watched(Watch):  # type: ignore[misc]
            def __init__(self, now: float, timeout: float, **options: Any) -> None:
                super().__init__(now, timeout, **options)
                self.tape, execution = recorder._watching
                self.number = self.tape.names.number(self, self.tape.names.requests)
                args = {"execution": execution.command_id, "now": now, "timeout": timeout, "options": options}
                self.tape.event("watch", at=now, n=self.number, **args)

            def next(self, view: Any, now: float) -> Any:
                action = super().next(view, now)
                made = self.tape.event("next", at=now, n=self.number, action=self.tape.names.plain(action))
                made["outcome"] = self.outcome
                return action

            def on_done(self, waits: bool) -> None:
                self.tape.event("done", n=self.number, waits=waits)
                super().on_done(waits)

            def on_found(self, outcome: Any) -> None:
                self.tape.event("found", n=self.number, told=outcome)
                super().on_found(outcome)

        return Watched

    def _of_command(self, name: str, call: Callable[..., Any]) -> Any:
        def said(execution: Execution, *args: Any) -> Any:
            tape = next((one for one in self.tapes if execution.command_id in one.names.executions), None)
            if tape is None or tape.depth:
                return call(execution, *args)
            plain = tape.names.plain
            with tape.step("command", name=name, execution=execution.command_id, args=plain(args)):
                return call(execution, *args)

        return said


# Before anything takes its place.
_SENT = loop._Sent
