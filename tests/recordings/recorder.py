"""Records what the drivers of this process's tabs are told, and what they do: each tab is a recording of its own.

Nothing of the product is changed: its objects are wrapped as they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from muxwire.pane import interrupt, key_sender, runner, state, stream
from muxwire.pane.keyboard import Keyboard
from muxwire.pane.port import PanePort
from muxwire.pane.runner import Runner
from muxwire.pane.state import PaneState
from muxwire.shell import examine
from muxwire.shell.execution import Execution
from muxwire.shell.send_keys import Keys
from muxwire.shell.stop import Stop
from muxwire.tabs import maker, processes
from tests.recordings.tape import (
    AT_ONCE,
    FACTS_OF_HOST,
    QUESTIONS,
    TOLD,
    WAITED,
    Action,
    Clock,
    Tape,
    entries,
    read_by_panes,
    replaced,
    taped,
)

# Decisions that may be the whole of a call, where they are called.
OF_PORT = (
    (runner, "watched"), (interrupt, "ask"), (processes, "line_taken"), (examine, "examined"), (examine, "for_result"),
    (examine, "awaits_input"),
)  # fmt: skip
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

    def of_pane(self, pane: PaneState) -> Tape:
        return next(tape for tape in self.tapes if tape.pane is pane)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the tabs that are made meanwhile."""
        with ExitStack() as stack:
            stack.enter_context(read_by_panes(self.clock))
            for name, make in (("PaneState", self._pane), ("PaneStream", self._stream), ("Runner", self._runner)):
                stack.enter_context(mock.patch.object(maker, name, make))
            stack.enter_context(mock.patch.object(runner, "PanePort", taped(PanePort, self._acted)))
            stack.enter_context(mock.patch.object(interrupt, "Stop", self._stop()))
            stack.enter_context(mock.patch.object(key_sender, "Keys", self._keys))
            for module, name in OF_PORT:
                stack.enter_context(mock.patch.object(module, name, self._of_port(name, getattr(module, name))))
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
        for owner, method, names in (
            (made, "_reached", ("deadline",)),
            (made.ready, "unstick", ("execution",)),
            (made.interrupter, "_watch", ("execution",)),
        ):
            replaced(owner, method, self._begun(tape, getattr(owner, method), names))
        return made

    # -- what is recorded of it

    def _begun(self, tape: Tape, decides: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
        """A decision that may be the whole of a call; those that are a part of another are recorded with that."""

        async def recorded(*args: Any, **options: Any) -> Any:
            if tape.depth:
                return await decides(*args, **options)
            given = dict(zip(names, args, strict=False)) | options
            return await self._recorded(tape, decides(*args, **options), decides.__qualname__, given)

        return recorded

    async def _recorded(self, tape: Tape, decides: Any, name: str, given: Any) -> Any:
        number = tape.names.number(decides, tape.names.requests)
        tape.event("begin", n=number, name=name, args=tape.names.plain(given))
        tape.begin_step("step", n=number)
        try:
            result = await decides
        except Exception as error:
            tape.made["error"] = tape.names.plain(error)
            raise
        else:
            tape.made["result"] = tape.names.plain(result)
            return result
        finally:
            tape.end_step()

    async def _acted(self, port: Any, action: Action) -> Any:
        tape = self.of_pane(port.pane)
        number, names = tape.made["n"], tape.names
        tape.made["action"] = action.plain(names)
        tape.end_step()
        try:
            answer = await self._answered(tape, port, action)
        except Exception as error:
            tape.begin_step("step", n=number, x=names.plain(error))
            raise
        except BaseException:  # it is given up
            tape.begin_step("close", n=number)
            raise
        tape.begin_step("step", n=number, a=names.plain(answer))
        return answer

    async def _answered(self, tape: Tape, port: Any, action: Action) -> Any:
        match action.name:
            case "within":
                request = action.given["request"]
                made = self._recorded(tape, request, getattr(request, "__qualname__", ""), {})
                return await PanePort.within(port, action.given["seconds"], made)
            case "take_received":  # what it brings are inputs
                return await action.do()
            case name if name in AT_ONCE:
                with tape.carried_out():
                    answer = await action.do()
                    if name in ("press", "submit"):
                        tape.names.number(answer, tape.names.sent)
                    return answer
        return await action.do()

    def _of_port(self, name: str, decides: Callable[..., Any]) -> Callable[..., Any]:
        async def recorded(port: Any, *args: Any) -> Any:
            tape = next((tape for tape in self.tapes if tape.pane is port.pane), None)
            if tape is None or tape.depth:  # of a replay, or a part of what is recorded
                return await decides(port, *args)
            words = {"ask": ("words",), "line_taken": ("seconds",)}.get(name, ("execution", "timeout"))
            given = dict(zip(words, (args,) if name == "ask" else args, strict=False))
            return await self._recorded(tape, decides(port, *args), name, given)

        return recorded

    def _keys(self, port: Any, *rest: Any) -> Keys:
        made = Keys(port, *rest)
        replaced(made, "send", self._begun(self.of_pane(port.pane), made.send, ("keys",)))
        return made

    def _stop(self) -> Any:
        recorder = self

        class Stopping(Stop):  # type: ignore[misc]
            def __init__(self, port: Any, over: Callable[[], bool], **given: Any) -> None:
                tape = recorder.of_pane(port.pane)

                def asked() -> bool:
                    found = over()
                    if given.get("line") is None:
                        tape.answer("over", (), {}, found)
                    return found

                super().__init__(port, asked, **given)
                told = {name: one for name, one in given.items() if one is not None and name != "ask_end"}
                self.recorded = tape, told | {"target": self._target}

            async def run(self) -> None:
                tape, told = self.recorded
                await recorder._recorded(tape, super().run(), "Stop.run", told)

        return Stopping

    def _of_command(self, name: str, call: Callable[..., Any]) -> Any:
        def said(execution: Execution, *args: Any) -> Any:
            tape = next((one for one in self.tapes if execution.command_id in one.names.executions), None)
            if tape is None or tape.depth:
                return call(execution, *args)
            plain = tape.names.plain
            with tape.step("command", name=name, execution=execution.command_id, args=plain(args)):
                return call(execution, *args)

        return said
