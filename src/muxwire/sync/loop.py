"""The thread with the event loop in which the twins' calls run, and how a call gets there and back.

A caller that makes one call after the other would wake the loop anew for each of them, behind what is left to be done
of the one before. So the loop waits for the next call, for a moment, before it continues.
"""

from __future__ import annotations

import asyncio  # a loop in a thread of its own: anyio has only portals, whose calls take three times as long
import contextvars
import os
import queue
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import anyio

from muxwire.errors import ConnectionClosed, InstanceUnavailable, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.library.terminals import Terminals

T = TypeVar("T")

# How long C-c waits for the tab to be ready again. The ladder of signals up to SIGKILL takes less.
READY_SECONDS = 10.0
# How long the loop waits for the next call when it runs no other. A caller wakes within 0.05 to 0.1 ms; commands of one
# caller, one after the other, take 0.3 to 0.4 ms less than with a loop that continues at once.
NEXT_CALL_SECONDS = 0.0002
# Calls that end without waiting (a screen that is known) must not keep the loop from all else. A turn takes it 0.1 ms.
AT_ONCE_MAX = 8
# How long the end of the program waits for the end of what is open: tmux and the programs in it.
CLOSE_SECONDS = 10.0


@final
class Call(Generic[T]):
    """One call: made in the caller's thread, run in the loop's. Callbacks of it run in the caller's."""

    __slots__ = ("_given_up", "_inbox", "_make", "_task", "context")

    def __init__(self, make: Callable[[Call[T]], Awaitable[T]]) -> None:
        self._make = make
        # Functions to run here, and in the end the outcome.
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._task: asyncio.Task[None] | None = None  # while it runs
        self._given_up = False
        self.context = contextvars.copy_context()

    # -- in the thread of the loop

    def cancel(self) -> None:
        self._given_up = True
        if self._task is not None:
            self._task.cancel()

    def refuse(self) -> None:
        """Have the waiting thread raise ConnectionClosed: the loop has ended. An outcome that is there comes first."""
        self._inbox.put((None, (None, asyncio.CancelledError())))

    async def run_in(self, task: asyncio.Task[None]) -> None:
        """Run it in this task, the current one."""
        self._task = task
        outcome: tuple[T | None, BaseException | None] = (None, asyncio.CancelledError())
        if not self._given_up:
            try:
                outcome = (await self._make(self), None)
            except BaseException as error:  # noqa: BLE001 - it is raised in the thread that called
                outcome = (None, error)
        self._task = None
        self._inbox.put((None, outcome))

    def awaited(self, function: Callable[..., object] | None) -> Callable[..., Awaitable[None]] | None:
        """A coroutine function that has `function` called in the thread of the caller, and waits for its end."""
        if function is None:
            return None

        async def hand_over(*arguments: object) -> None:
            loop, done = asyncio.get_running_loop(), asyncio.Event()
            failure: list[BaseException] = []

            def work() -> None:
                try:
                    function(*arguments)
                except BaseException as error:
                    failure.append(error)
                    if not isinstance(error, Exception):
                        raise
                finally:
                    with suppress(RuntimeError):  # it is closed
                        loop.call_soon_threadsafe(done.set)

            self._inbox.put((work, None))
            await done.wait()
            if failure:
                raise failure[0]

        return hand_over

    def noted(self, function: Callable[..., object] | None) -> Callable[..., None] | None:
        """A function that has `function` called in the thread of the caller, and does not wait for it."""
        if function is None:
            return None
        return lambda *arguments: self._inbox.put((lambda: function(*arguments), None))

    # -- in the thread of the caller

    def wait(self) -> T:
        """The result; or the call's error, raised here."""
        while True:
            work, outcome = self._inbox.get()
            if work is not None:
                work()
                continue
            result, error = outcome
            if error is None:
                return result  # type: ignore[no-any-return]
            if isinstance(error, asyncio.CancelledError):
                raise _ended()
            raise error

    def drain(self) -> None:
        """Wait for the end of a call that was cancelled, whatever it is."""
        while True:
            work, outcome = self._inbox.get()
            if outcome is not None:
                return
            del work


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
        self._ready = threading.Event()
        self._over = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: queue.SimpleQueue[Call[Any]] = queue.SimpleQueue()  # not begun
        self._expects = False  # whether the loop waits for the next of them, and needs not be woken
        self._unanswered: set[Call[Any]] = set()
        self._running = 0
        self._at_once = 0  # how many calls in a row were begun before all else that the loop has to do
        # A daemon, as the main thread's end would else wait for it; `_end` waits for the main thread in its turn.
        self._thread = threading.Thread(target=self._run, name="muxwire.sync", daemon=True)
        self._thread.start()
        self._ready.wait()
        threading.Thread(target=self._end, name="muxwire.sync exit", daemon=False).start()

    def _run(self) -> None:
        asyncio.run(self._main())
        # What came after the loop had taken its last call, or was cancelled before its first step.
        for call in tuple(self._unanswered):
            call.refuse()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        await self._over.wait()

    def _end(self) -> None:
        """When the main thread has ended, close what is open: programs in tabs must not outlive us."""
        threading.main_thread().join()
        with suppress(Exception):  # no caller is left to hear of it, and the watchdog ends what remains
            self.run(lambda _: self._close_all())
        assert self._loop is not None
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

    # -- in the thread of the loop

    def _begin_all(self) -> None:
        while not self._calls.empty():
            self._begin(self._calls.get_nowait())

    def _begin(self, call: Call[Any]) -> None:
        if self._over.is_set():  # the loop ends: a task that it began now would never be ended
            call.refuse()
            return
        assert self._loop is not None
        self._loop.create_task(self._run_calls(call), context=call.context)

    async def _run_calls(self, call: Call[Any]) -> None:
        """Run a call, and those that follow it at once in the same context."""
        task = asyncio.current_task()
        assert task is not None
        following: Call[Any] | None = call
        while following is not None:
            self._running += 1
            await following.run_in(task)
            self._running -= 1
            following = None if task.cancelling() else self._next(call.context)

    def _next(self, context: contextvars.Context) -> Call[Any] | None:
        """Hold the loop until the next call comes, for a moment; return it if the current task can run it.

        A call of another context (spans of its caller, for example) gets a task of its own.
        """
        if self._running or self._at_once == AT_ONCE_MAX:
            return None
        self._expects = True
        try:
            call = self._calls.get(timeout=NEXT_CALL_SECONDS)
        except queue.Empty:
            call = None
        self._expects = False
        if call is not None and call.context != context:
            self._begin(call)
            call = None
        self._begin_all()  # calls that came before their callers could see that the loop does not wait
        if call is not None:
            if not self._at_once:
                asyncio.get_running_loop().call_soon(self._turn)
            self._at_once += 1
        return call

    def _turn(self) -> None:
        self._at_once = 0

    # -- in the thread of the caller

    def run(self, make: Callable[[Call[T]], Awaitable[T]], ready: Callable[[], Awaitable[object]] | None = None) -> T:
        """Run a coroutine in the loop and return what it returns; the calling thread waits.

        KeyboardInterrupt cancels it and is raised when it has ended, and `ready` has; a second one at once.
        """
        loop = self._loop
        if self.pid != os.getpid():
            raise InstanceUnavailable(
                "this process was forked from the one that opened the terminals",
                remedy="open terminals of its own here",
            )
        if threading.get_ident() == self._thread.ident:
            raise InvalidArgument(
                "a blocking call in the event loop of muxwire.sync would wait for itself", remedy="use another thread"
            )
        assert loop is not None
        call: Call[T] = Call(make)
        self._unanswered.add(call)
        try:
            self._calls.put(call)
            if not self._expects:
                loop.call_soon_threadsafe(self._begin_all)
        except RuntimeError:  # it is closed
            self._unanswered.discard(call)
            raise _ended() from None
        except KeyboardInterrupt:  # the loop may know of it or not
            self._unanswered.discard(call)
            loop.call_soon_threadsafe(call.cancel)
            raise
        try:
            return call.wait()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(call.cancel)
            call.drain()
            if ready is not None:
                with suppress(Exception):  # the next call says what went wrong
                    self.run(lambda _: ready())
            raise
        finally:
            self._unanswered.discard(call)


_lock = threading.Lock()
_thread: LoopThread | None = None


def loop_thread() -> LoopThread:
    """The thread of this process, started now if there is none; a process that was forked has none."""
    global _thread  # noqa: PLW0603 - one for the whole process
    with _lock:
        if _thread is None or _thread.pid != os.getpid():
            _thread = LoopThread()
        return _thread
