"""A command's output while it runs: each byte to its caller once, as soon as it is known to be output."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, final

import anyio

from muxwire.pane.interrupt import ESCALATION_SECONDS
from muxwire.pane.output import settled_end, without
from muxwire.pane.state import end_of
from muxwire.vt.text import undo_onlcr

if TYPE_CHECKING:
    from muxwire.pane.stream import PaneStream
    from muxwire.shell import Shell
    from muxwire.shell.execution import Execution

# Receives the next bytes of a command's output, the terminal's CR LF back to LF.
OnOutput = Callable[[bytes], Awaitable[None]]

# One piece: what a pipe holds. A slow reader holds up nobody else, and what the ring gave up comes from the log.
PIECE = 64 << 10


@final
class LiveOutput:
    """Hands on what a command writes; `execution.read_up_to` says how far, so its result brings only the rest."""

    def __init__(self, execution: Execution, stream: PaneStream, on_output: OnOutput, shell: Shell | None) -> None:
        self._execution = execution
        self._stream = stream
        self._on_output = on_output
        self._shell = shell
        self._stop_at: int | None = None
        self._failure: Exception | None = None
        self._lost = 0  # bytes that no store held any more when it was their turn

    async def during(self, wait: Callable[[], Awaitable[None]]) -> None:
        """Hand output on while `wait` runs, and all that is there at its end; raises what the receiver raised.

        `wait` is cancelled if the receiver fails, which interrupts the command. The end of that is waited for, because
        whoever has no use for the output may leave next, and nobody else would escalate.
        """
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run, tasks.cancel_scope)
            await wait()
            self._stop_at = self._stream.end
            self._stream.wake()
        if self._lost:
            self._execution.explain(f"{self._lost} bytes of the output are lost: neither memory nor the log held them")
        if self._failure is not None:
            if self._stop_at is None:
                with anyio.move_on_after(ESCALATION_SECONDS):
                    await end_of(self._execution).wait()
            raise self._failure

    async def _run(self, scope: anyio.CancelScope) -> None:
        try:
            while True:
                last = self._stop_at is not None or not self._execution.running
                if await self._next():
                    continue
                if last:
                    return
                await self._stream.changed()
        except Exception as error:  # noqa: BLE001 - raised again by `during`, outside of the group that would wrap it
            self._failure = error
            scope.cancel()

    async def _next(self) -> bool:
        """Hand on the next piece; False if there is none, and then nothing was waited for."""
        execution = self._execution
        begin, end = execution.read_up_to, settled_end(execution, self._stream, self._shell)
        if self._stop_at is not None:  # a flood continues, and has its end for this call all the same
            end = min(end, self._stop_at)
        if not 0 <= begin < end:
            return False
        raw, lost = await self._stream.read(begin, min(end, begin + PIECE))
        if raw.endswith(b"\r") and begin + lost + len(raw) != execution.end:
            raw = raw[:-1]  # the next byte says whether it belongs to a line end
        execution.delivered(begin + lost + len(raw))
        self._lost += lost
        raw = without(raw, begin + lost, execution.ours)
        if raw:
            await self._on_output(undo_onlcr(raw))
        return execution.read_up_to > begin
