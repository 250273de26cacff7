"""The seam under the client: what carries the bytes to tmux and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from muxwire.protocol.commands import Command
    from muxwire.protocol.events import Event


class Transport(Protocol):
    """A byte stream in both directions. One task receives; sends keep the order of the calls."""

    async def receive(self) -> bytes:
        """Return bytes as soon as there are some; b"" at the end of the stream, and ever after."""

    def receive_soon(self, seconds: float) -> bytes:
        """Return what is there, or comes within `seconds`, for which the whole thread waits; b"" if nothing does.

        The end of the stream is left to `receive`. A transport that cannot wait like that returns b"" at once.
        """

    def note_read(self, size: int, *, answers: bool) -> None:
        """Hear how much `receive` returned; `answers`: tmux owed some, so that much of it says nothing of the panes."""

    def send_nowait(self, data: bytes) -> int:
        """Write what the pipe takes at once and return how many bytes that was (0 if it is full or broken)."""

    async def send(self, data: bytes) -> None:
        """Write all of `data`, waiting for room; a broken pipe is silent, since `receive` ends too."""

    async def aclose(self) -> None:
        """End the connection and what belongs to it; more than once is once."""

    def ending(self) -> str:
        """Say what is known about why the stream ended (exit status, stderr); empty if nothing."""


@runtime_checkable
class Observer(Protocol):
    """What a transport has, besides, if it also wants to know what its client makes of the bytes.

    The client's reader calls both methods: they may not wait.
    """

    def on_sent(self, command: Command) -> None:
        """Hear of a command that was given to the transport, or waits in the client for room in the pipe."""

    def on_event(self, event: Event) -> None:
        """Hear of everything that tmux said, in its order: output, answers, notifications, the end."""
