"""Carries out what a request about one pane asks for (`shell/request.py`), and decides nothing."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, TypeVar, final

import anyio

from muxwire.shell.look import PaneLook
from muxwire.shell.request import (
    AnswerOf,
    Continue,
    Hide,
    LookAll,
    LookAtScreen,
    NoteInput,
    Pause,
    Poll,
    Press,
    Refresh,
    Settle,
    Signal,
    SignalJobs,
    Submit,
    TakeReceived,
    TypeAgain,
    Unhide,
    Wait,
    Within,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.client.client import ControlClient, Pending
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution
    from muxwire.shell.request import Action, Request
    from muxwire.vt.drawn import Picture

_Result = TypeVar("_Result")
# After these a request decides by the look that it took before: on a busy machine tmux's answers take a while, and one
# more look takes longer.
_KEEPS_LOOK = (Submit, AnswerOf, Refresh)


@final
class _Sent:
    """Commands that tmux was sent together."""

    __slots__ = ("_pending", "end")

    def __init__(self, pending: list[Pending], pane: PaneState) -> None:
        self.end = -1
        self._pending = pending

        def answered() -> None:
            self.end = pane.stream.end

        for one in pending[-1:]:
            one.then(answered)

    async def lines(self, seconds: float) -> tuple[bytes, ...]:
        """The lines of the last answer, when all are here."""
        found: tuple[bytes, ...] = ()
        for one in self._pending:
            found = await one.wait_within(seconds)
        return found


@final
class Loop:
    """What carries out the requests about one pane, any number at a time."""

    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        type_again: Callable[[Execution], None] = lambda _: None,
    ) -> None:
        self._pane = pane
        self._keyboard = keyboard
        self._client = client
        self._type_again = type_again
        self.on_input: Callable[[], None] = lambda: None  # called before keys are typed that are no command
        self.picture: Callable[[], Awaitable[Picture]]  # the text of the screen; set by the tab as soon as both exist

    async def run(self, request: Request[_Result]) -> _Result:
        """Do what the request asks for until it ends; return its result, or raise its error."""
        answer: object = None
        failure: Exception | None = None
        seen: PaneLook | None = None  # the newest look of this request, until it waits or types
        try:
            while True:
                self._pane.held_look = seen
                try:
                    action = request.send(answer) if failure is None else request.throw(failure)
                finally:
                    self._pane.held_look = None
                answer = failure = None
                try:
                    waits = self._waits(action)
                    answer = self._done_at_once(action) if waits is None else await waits
                except Exception as error:  # noqa: BLE001 - what an error means is for the request to decide
                    failure = error
                if isinstance(action, LookAll):
                    seen = answer if isinstance(answer, PaneLook) else None
                elif not isinstance(action, _KEEPS_LOOK):
                    seen = None
        except StopIteration as end:
            result: _Result = end.value
            return result
        finally:
            request.close()

    def _waits(self, action: Action) -> Awaitable[object] | None:
        """What an action has to wait for; None for one that is done at once."""
        match action:
            case Wait():
                return self._pane.stream.changed_within(action.seconds)
            case Poll():
                return self._client.poll(action.holds)
            case Within():
                return self._within(action)
            case AnswerOf():
                assert isinstance(action.asked, _Sent)
                return action.asked.lines(action.seconds)
            case Press(taken=True):
                return self._keyboard.type(action.keys)
            case Pause():
                return anyio.sleep(action.seconds)
            case Refresh():
                return self._pane.refresh()
            case LookAll():
                return self._pane.look(wide=action.wide)
            case LookAtScreen():
                return self.picture()
            case Settle():
                return self._pane.host.done()
            case _:
                return None

    async def _within(self, action: Within) -> object:
        with anyio.move_on_after(action.seconds):
            return await self.run(action.request)
        return None

    def _done_at_once(self, action: Action) -> object:
        pane = self._pane
        match action:
            case Submit():
                return _Sent(self._client.submit(action.words), pane)
            case Press():
                return _Sent(self._keyboard.press(action.keys, bracketed=action.bracketed), pane)
            case TypeAgain():
                self._type_again(action.execution)
            case Hide():
                return pane.hidden.hide(action.hidden_id, pane.stream.end)
            case Unhide():
                pane.hidden.give_up()
            case Signal():
                spare = pane.leader_pid if action.spare_leader else 0
                return pane.host.signal_group(action.group, signal.Signals[action.name], spare=spare)
            case SignalJobs():
                own, number = (pane.leader_pid, pane.session.shell_pid), signal.Signals[action.name]
                jobs = [pid for pid, _ in pane.host.session_since(pane.leader_pid, action.since) if pid not in own]
                return True in [pane.host.signal_process(pid, number) for pid in jobs]
            case NoteInput():
                self.on_input()
            case Continue():
                pane.host.signal_process(pane.session.shell_pid, signal.SIGCONT)
            case TakeReceived():
                self._client.take_received()
        return None
