"""The console of this process itself: its arguments, environment, standard descriptors and signals.

No other file of the command line touches them. Everything is written with os.write to the descriptor: nothing is
buffered, so nothing is lost or doubled when a reader goes away.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, NoReturn, final

from muxwire.cli.console import STDERR, STDIN, STDOUT, STREAMS, Console, RunsThere
from muxwire_reach import die_of, terminal_size, write_all

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import TypeAlias

    from muxwire.cli.console import Write
    from muxwire.library.terminals import Terminals

    Answering: TypeAlias = Callable[[Terminals], AbstractAsyncContextManager[object]]

# The first two signals are for the verb, which may be slow to end.
_LAST_SIGNAL = 3


@final
class OwnConsole(Console):
    """The console of this process, which runs one verb and ends."""

    def __init__(
        self, words: Sequence[str] | None, *, hands_over: bool = False, answering: Answering = nullcontext
    ) -> None:
        """`hands_over`: a verb that acts on an instance by name runs in its owner. `answering` as in `main`."""
        self.words = sys.argv[1:] if words is None else words
        self.environ = os.environ
        self.sizes = (terminal_size(STDIN), terminal_size(STDOUT), terminal_size(STDERR))
        self.terminal = os.ttyname(STDIN) if os.isatty(STDIN) else ""
        self.on_signal = die_of
        self.successor: Sequence[str] = ()  # the words of what is to take the place of this process
        self._hands_over = hands_over
        self.answering = answering

    def write(self, data: bytes, *, error: bool = False) -> None:
        descriptor = STDERR if error else STDOUT
        write_all(descriptor, data, STREAMS[descriptor])

    async def write_soon(self, data: bytes) -> None:
        await _write_soon(STDOUT, data, STREAMS[STDOUT])

    async def read(self, most: int) -> bytes:
        import anyio.to_thread

        return await anyio.to_thread.run_sync(os.read, STDIN, most, abandon_on_cancel=True)

    async def read_file(self, file: str, most: int) -> bytes:
        import anyio

        async with await anyio.open_file(file, "rb") as opened:
            return await opened.read(most)

    @asynccontextmanager
    async def create(self, file: str, *, overwrite: bool) -> AsyncIterator[Write]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if overwrite else os.O_EXCL)
        descriptor = os.open(file, flags, 0o600)

        async def write(data: bytes) -> None:
            await _write_soon(descriptor, data, file)

        try:
            yield write
        finally:
            os.close(descriptor)

    def execute(self, words: Sequence[str]) -> int:
        self.successor = words
        return 0

    def claim_process(self) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def opened(self, given: Mapping[str, str]) -> AbstractAsyncContextManager[Terminals]:
        if self._hands_over and "name" in given:
            raise RunsThere(given["name"])
        from muxwire.library.opening import own_terminals  # late: help needs nothing of the library

        return own_terminals(given.get("name"), socket=given.get("socket"), socket_name=given.get("socket_name"))

    async def run(self, verb: Coroutine[None, None, int]) -> int:
        """Await the verb, and pass the signals on to it that are not ignored; the third one ends this process."""
        import anyio  # late: it takes as long as all else that a wrong command line needs

        async def listen() -> None:
            wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            with anyio.open_signal_receiver(
                *(one for one in wanted if signal.getsignal(one) != signal.SIG_IGN)
            ) as received:
                count = 0
                async for number in received:
                    count += 1
                    if count == _LAST_SIGNAL:
                        die_of(number)
                    self.on_signal(number)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            code = await verb
            tasks.cancel_scope.cancel()
        return code

    def leave(self, code: int) -> NoReturn:
        """End the process, which has nothing left to do: the interpreter takes 20 ms and more to free all it has.

        A negative code is the number of the signal that it is to end by.
        """
        if self.successor:
            environ = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
            os.execvpe(self.successor[0], list(self.successor), environ)  # noqa: S606 - it takes our place
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None: the descriptor was closed when Python started
            try:
                stream.flush()  # what another front end printed
            except BrokenPipeError:
                die_of(signal.SIGPIPE)
        if code < 0:
            die_of(signal.Signals(-code))
        os._exit(code)


async def _write_soon(descriptor: int, data: bytes, name: str) -> None:
    """Write in a thread: a slow reader must hold up neither the event loop nor tmux."""
    import anyio.to_thread

    await anyio.to_thread.run_sync(write_all, descriptor, data, name, abandon_on_cancel=True)
