"""Carries out what is decided about one pane: the port of `shell/port.py` on a real one. It decides nothing."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, TypeVar, final

import anyio

from muxwire.pane.state import end_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.client.client import ControlClient
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution
    from muxwire.shell.look import PaneLook
    from muxwire.shell.port import Asked
    from muxwire.vt.drawn import Picture

_Result = TypeVar("_Result")


@final
class PanePort:
    """What carries out the decisions about one pane, any number at a time."""

    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        type_again: Callable[[Execution], None],
    ) -> None:
        self.pane = pane
        self._keyboard = keyboard
        self._client = client
        self._type_again = type_again
        self._end: tuple[Execution, anyio.Event] | None = None  # of the command whose end was waited for last
        self.on_input: Callable[[], None] = lambda: None  # called before keys are typed that are no command
        self.picture: Callable[[], Awaitable[Picture]]  # the text of the screen; set by the tab as soon as both exist

    def wait(self, seconds: float) -> Awaitable[bool]:
        return self.pane.stream.changed_within(seconds)

    async def ended(self, execution: Execution, seconds: float) -> None:
        if self._end is None or self._end[0] is not execution:
            self._end = execution, end_of(execution)
        with anyio.move_on_after(seconds):
            await self._end[1].wait()

    def pause(self, seconds: float) -> Awaitable[None]:
        return anyio.sleep(seconds)

    def poll(self, holds: Callable[[], bool]) -> Awaitable[object]:
        return self._client.poll(holds)

    async def take_received(self) -> None:
        self._client.take_received()

    async def within(self, seconds: float, request: Awaitable[_Result]) -> _Result | None:
        with anyio.move_on_after(seconds):
            return await request
        return None

    async def press(self, keys: bytes, *, bracketed: bool = False) -> Sequence[Asked]:
        return self._keyboard.press(keys, bracketed=bracketed)

    def type(self, keys: bytes) -> Awaitable[None]:
        return self._keyboard.type(keys)

    async def type_again(self, execution: Execution) -> None:
        self._type_again(execution)

    async def submit(self, words: tuple[str, ...]) -> Sequence[Asked]:
        return self._client.submit(words)

    async def answer(self, asked: Sequence[Asked], seconds: float) -> tuple[bytes, ...]:
        found: tuple[bytes, ...] = ()
        for one in asked:  # they were sent together: the last one's lines are the answer
            found = await one.wait_within(seconds)
        return found

    def refresh(self) -> Awaitable[None]:
        return self.pane.terminal.refresh()

    def look(self) -> Awaitable[PaneLook | None]:
        return self.pane.terminal.look()

    def settle(self) -> Awaitable[None]:
        return self.pane.host.done()

    async def signal(self, name: str, group: int, *, spare_leader: bool = False) -> bool:
        spare = self.pane.leader_pid if spare_leader else 0
        return self.pane.host.signal_group(group, signal.Signals[name], spare=spare)

    async def signal_jobs(self, name: str, since: float) -> bool:
        pane, number = self.pane, signal.Signals[name]
        own = pane.leader_pid, pane.session.shell_pid
        jobs = [pid for pid, _ in pane.host.session_since(pane.leader_pid, since) if pid not in own]
        return True in [pane.host.signal_process(pid, number) for pid in jobs]

    async def note_input(self) -> None:
        self.on_input()

    async def resume(self) -> None:
        self.pane.host.signal_process(self.pane.session.shell_pid, signal.SIGCONT)

    async def hide(self, hidden_id: str) -> bool:
        return self.pane.hidden.hide(hidden_id, self.pane.stream.end)

    async def unhide(self) -> None:
        self.pane.hidden.give_up()
