"""The blocking twins: typed, in threads, in a running loop, interrupted, at the end of the program."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import Any, assert_type, cast
from unittest.mock import Mock

import anyio
import pytest

import muxwire
import muxwire.sync
from muxwire.client.watchdog import rows_of
from muxwire.results import ExecutionResult, TabList
from muxwire.sync.loop import Call, loop_thread

# A start of Python, of tmux and of a shell, on a busy machine.
SECONDS = 60
number: ContextVar[int] = ContextVar("number")


@pytest.fixture(scope="module")
def terminals(folder: Path, environ: dict[str, str]) -> Iterator[muxwire.sync.Terminals]:
    with muxwire.sync.open_terminals(state_dir=folder / "state", environ=environ) as opened:
        yield opened


@pytest.fixture
def tab(terminals: muxwire.sync.Terminals) -> Iterator[muxwire.sync.Tab]:
    made = terminals.create_tab()
    yield made
    made.close(force=True)


def test_calls_wait_and_are_typed(terminals: muxwire.sync.Terminals, tab: muxwire.sync.Tab) -> None:
    done = tab.execute("echo out; (exit 3)")
    assert_type(done, ExecutionResult)
    assert (done.output, done.exit_code) == ("out\n", 3)
    listed = terminals.list_tabs()
    assert_type(listed, TabList)
    assert [row.window_id for row in listed.tabs if not row.closed] == [tab.window_id]
    assert terminals.tab(tab.window_id) == tab
    assert (tab.state, tab.name, tab.end_reason) == ("prompt", tab.window_id, "")
    assert "exactly what it wrote" in (muxwire.sync.Tab.execute.__doc__ or "")
    assert "the tab's log" in (muxwire.sync.Tab.log_path.__doc__ or "")
    with pytest.raises(muxwire.NoSuchTarget, match="nosuch"):
        terminals.tab("nosuch")


def test_a_twin_is_named_as_a_tab_of_the_library_is(terminals: muxwire.sync.Terminals, tab: muxwire.sync.Tab) -> None:
    other = terminals.create_tab(name="other")
    for targets in (tab, [tab], (tab, "other")):
        assert terminals.wait_for(targets=targets, prompt=True).outcome == "met"  # type: ignore[call-arg]
    terminals.close_tab(other)
    assert terminals.tab(tab) == tab


@pytest.mark.parametrize(
    "twins",
    [
        (muxwire.sync.Tab.execute, muxwire.Tab.execute),
        (muxwire.sync.Terminals.create_tab, muxwire.Terminals.create_tab),
        (muxwire.sync.open_terminals, muxwire.open_terminals),
    ],
)
def test_a_twin_shows_the_signature_of_the_library(twins: tuple[Callable[..., object], Callable[..., object]]) -> None:
    ours, theirs = (str(inspect.signature(call)).rpartition(" -> ")[0] for call in twins)
    assert ours == theirs


def test_callbacks_run_in_the_thread_that_called(tab: muxwire.sync.Tab) -> None:
    heard: list[tuple[bytes, int]] = []
    started: list[str] = []

    def take(data: bytes) -> None:
        heard.append((data, threading.get_ident()))

    done = tab.execute("echo one; echo two", on_output=take, on_start=started.append)
    assert b"".join(data for data, _ in heard) == b"one\ntwo\n"
    assert {thread for _, thread in heard} == {threading.get_ident()}
    assert started == [done.command_id]


@pytest.mark.parametrize("name", ["on_output", "on_start"])
def test_an_error_of_a_callback_is_raised(tab: muxwire.sync.Tab, name: str) -> None:
    with pytest.raises(ZeroDivisionError):
        tab.execute("echo one; sleep 1000", **cast("Any", {name: Mock(side_effect=ZeroDivisionError)}))
    assert tab.execute("echo more", timeout=5).output == "more\n"


def test_a_callback_for_which_nobody_waits_any_more_is_not_called() -> None:
    heard, late = list[str](), threading.Event()

    async def gives_up(call: Call[None]) -> None:
        call._inbox.put(late.wait)  # the thread that called is busy
        with anyio.move_on_after(0):
            await call.awaited(heard.append)("too late")  # type: ignore[misc]
        late.set()

    loop_thread().run(gives_up)
    assert heard == []


def test_threads_do_not_wait_for_each_other(terminals: muxwire.sync.Terminals, tmp_path: Path) -> None:
    """Each command ends when all have begun: so none of them waits for another to end."""
    tabs = [terminals.create_tab() for _ in range(4)]
    met = f"touch {tmp_path}/$$; until [ $(ls {tmp_path} | wc -l) = 4 ]; do sleep 0.05; done; echo met"
    with ThreadPoolExecutor(4) as threads:
        outputs = list(threads.map(lambda tab: tab.execute(met, timeout=SECONDS).output, tabs))
    assert outputs == ["met\n"] * 4


def test_a_cell_of_a_notebook_may_call(tab: muxwire.sync.Tab) -> None:
    async def cell() -> str:
        await anyio.lowlevel.checkpoint()
        return tab.execute("echo in a loop").output

    assert anyio.run(cell) == "in a loop\n"


def test_a_call_sees_the_context_of_its_own_caller_and_not_of_the_one_before() -> None:
    loop, calls = loop_thread(), range(100)

    async def seen() -> int:
        return number.get()

    found = []
    for call in calls:
        number.set(call)
        found.append(loop.run(lambda _: seen()))
    assert found == [*calls]


INTERRUPTED = """
import os, signal, threading, time, muxwire.sync

with muxwire.sync.open_terminals() as terminals:
    tab = terminals.create_tab()
    tab.execute("true")
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    try:
        tab.start_process("sleep 1000", ready="never")
    except KeyboardInterrupt:  # what was started to go on does so, and is not waited for
        print("left", tab.state, time.monotonic() - begun < 8)
    tab.stop_process()
    for _ in range(2):
        terminals.list_tabs()
        try:
            tab.execute("sleep 1000", timeout=900, on_start=lambda _: os.kill(os.getpid(), signal.SIGINT))
        except KeyboardInterrupt:
            print("interrupted", tab.state)
    print(tab.execute("echo after").output, end="")
"""

LEFT_OPEN = """
import muxwire.sync

terminals = muxwire.sync.open_terminals()
tab = terminals.create_tab()
print(tab.execute("(sleep 1000 & echo $!)").output, end="")
"""

# From 3.12 on Python warns of every fork beside a thread.
FORKED = """
import os, sys, warnings, muxwire, muxwire.sync

warnings.simplefilter("ignore", DeprecationWarning)
with muxwire.sync.open_terminals() as terminals:
    tab = terminals.create_tab()
    pid = os.fork()
    if not pid:
        try:
            tab.execute("true")
        except muxwire.InstanceUnavailable as error:
            print(error, flush=True)
            with muxwire.sync.open_terminals() as own:
                print(own.create_tab().execute("echo its own").output, end="", flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    print(tab.execute("echo still here").output, end="", flush=True)
    waits, goes_on = os.pipe()
    if not os.fork():
        os.close(goes_on)
        os.read(waits, 1)  # until the parent has ended
        os._exit(0)
    if not os.fork():
        sys.exit(0)
try:
    terminals.watch_events()
except muxwire.ConnectionClosed as error:
    print(error)
"""


AT_THE_END = """
import asyncio, os, threading
from muxwire.errors import ConnectionClosed
from muxwire.sync.loop import loop_thread

thread, began = loop_thread(), threading.Barrier(9)

def work():
    try:
        thread.run(lambda _: asyncio.sleep(0))
        began.wait()
        while True:
            thread.run(lambda _: asyncio.sleep(0))
    except ConnectionClosed as error:
        os.write(1, f"{error}\\n".encode())

for _ in range(8):
    threading.Thread(target=work).start()
began.wait()
"""


def run(program: str, environ: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_an_interrupt_ends_the_command_and_leaves_the_tab_ready(environ: dict[str, str]) -> None:
    assert run(INTERRUPTED, environ) == "left running True\ninterrupted prompt\ninterrupted prompt\nafter\n"


def test_the_end_of_the_program_ends_what_is_open(environ: dict[str, str], folder: Path) -> None:
    sleeping = int(run(LEFT_OPEN, environ))
    assert sleeping not in rows_of([sleeping])
    assert not [path for path in (folder / "run" / "muxwire").glob("*.sock") if f"e{os.getpid()}-" not in path.name]


def test_calls_of_other_threads_at_the_end_of_the_program_are_told(environ: dict[str, str]) -> None:
    for _ in range(5):  # without an answer to each, one of two programs went on for ever
        told = run(AT_THE_END, environ)
        assert told == "the tmux connection ended: the main thread of the program has ended\n" * 8


def test_a_forked_process_is_told_and_may_open_its_own(environ: dict[str, str]) -> None:
    assert run(FORKED, environ) == (
        "this process was forked from the one that opened the terminals\nits own\nstill here\n"
        "the tmux connection ended: the instance was closed\n"
    )
