"""The thread with the event loop in which the twins' calls run, and how a call gets there and back."""

from __future__ import annotations

import asyncio  # a loop in a thread of its own: a call by anyio's portal goes there and back twice
import os
import queue
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import anyio

from muxwire.errors import ConnectionClosed, InstanceUnavailable, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from muxwire.library.terminals import Terminals

T = TypeVar("T")

# How long C-c waits for the tab to be ready again. The ladder of signals up to SIGKILL takes less.
READY_SECONDS = 10.0
# How long the end of the program waits for the end of what is open: tmux and the programs in it.
CLOSE_SECONDS = 10.0


@final
class Call(Generic[T]):
    """One call: made in the caller's thread, run as a task of the loop. Callbacks of it run in the caller's thread."""

    def __init__(self) -> None:
        # What the caller's thread is to do meanwhile; None at the end.
        self._inbox: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._task: asyncio.Task[T] | None = None

    # -- in the thread of the loop

    def begin(self, make: Callable[[Call[T]], Coroutine[Any, Any, T]]) -> None:
        self._task = asyncio.create_task(make(self))
        self._task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled():
            task.exception()  # it was looked at: asyncio reports no error of a call that was given up
        self._inbox.put(None)

    def cancel(self) -> None:
        if self._task is None:  # C-c came before the loop was told of it
            self._inbox.put(None)
        else:
            self._task.cancel()

    def awaited(self, function: Callable[..., object] | None) -> Callable[..., Awaitable[None]] | None:
        """A coroutine function that has `function` called in the thread of the caller, and waits for its end."""
        if function is None:
            return None

        async def hand_over(*arguments: object) -> None:
            done: Future[object] = Future()

            def work() -> None:
                if not done.set_running_or_notify_cancel():
                    return
                try:
                    done.set_result(function(*arguments))
                except Exception as error:  # noqa: BLE001 - it is raised where the function was called
                    done.set_exception(error)

            self._inbox.put(work)
            await asyncio.wrap_future(done)

        return hand_over

    # -- in the thread of the caller

    def wait(self) -> T:
        """The result; or the call's error, raised here."""
        for work in iter(self._inbox.get, None):
            work()
        assert self._task is not None
        try:
            return self._task.result()
        except asyncio.CancelledError:
            raise _ended() from None

    def drain(self) -> None:
        """Wait for the end of a call that was cancelled, whatever it is."""
        while self._inbox.get() is not None:
            pass


def _ended() -> ConnectionClosed:
    return ConnectionClosed(
        "the main thread of the program has ended", remedy="let it wait for the threads that make calls (`join`)"
    )


@final
class LoopThread:
    """The event loop of all twins in this process; started by the first, ended with the program."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._opened: dict[Terminals, None] = {}
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._over = asyncio.Event()
        self._takes_calls = True
        self._calling = threading.Lock()  # no call comes behind the end
        # A daemon, as the main thread's end would else wait for it; `_end` waits for the main thread in its turn.
        self._thread = threading.Thread(target=self._run, name="muxwire.sync", daemon=True)
        self._thread.start()
        threading.Thread(target=self._end, name="muxwire.sync exit", daemon=False).start()

    def _run(self) -> None:
        with self._runner:  # which cancels in the end what still runs
            self._runner.run(self._over.wait())

    def _end(self) -> None:
        """When the main thread has ended, close what is open: programs in tabs must not outlive us."""
        threading.main_thread().join()
        with suppress(Exception):  # no caller is left to hear of it, and the watchdog ends what remains
            self.run(lambda _: self._close_all())
        with self._calling:
            self._takes_calls = False
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(CLOSE_SECONDS)

    async def _close_all(self) -> None:
        with anyio.move_on_after(CLOSE_SECONDS):
            for terminals in list(self._opened):
                await self.closed(terminals)

    async def opened(self, opening: Awaitable[Terminals]) -> Terminals:
        terminals = await opening
        self._opened[terminals] = None
        return terminals

    async def closed(self, terminals: Terminals) -> None:
        if terminals in self._opened:
            del self._opened[terminals]
            await terminals.aclose()

    def run(
        self,
        make: Callable[[Call[T]], Coroutine[Any, Any, T]],
        ready: Callable[[], Coroutine[Any, Any, object]] | None = None,
    ) -> T:
        """Run a coroutine in the loop and return what it returns; the calling thread waits.

        KeyboardInterrupt cancels it and is raised when it has ended, and `ready` has; a second one at once.
        """
        if self.pid != os.getpid():
            raise InstanceUnavailable(
                "this process was forked from the one that opened the terminals",
                remedy="open terminals of its own here",
            )
        if threading.get_ident() == self._thread.ident:
            raise InvalidArgument(
                "a blocking call in the event loop of muxwire.sync would wait for itself", remedy="use another thread"
            )
        call: Call[T] = Call()
        try:
            with self._calling:
                if not self._takes_calls:
                    raise _ended()
                self._loop.call_soon_threadsafe(call.begin, make)
            return call.wait()
        except (KeyboardInterrupt, SystemExit):  # the latter of a callback
            self._loop.call_soon_threadsafe(call.cancel)
            call.drain()
            if ready is not None:
                with suppress(Exception):  # the next call says what went wrong
                    self.run(lambda _: ready())
            raise


_lock = threading.Lock()
_thread: LoopThread | None = None


def loop_thread() -> LoopThread:
    """The thread of this process, started now if there is none; a process that was forked has none."""
    global _thread  # noqa: PLW0603 - one for the whole process
    with _lock:
        if _thread is None or _thread.pid != os.getpid():
            _thread = LoopThread()
        return _thread
