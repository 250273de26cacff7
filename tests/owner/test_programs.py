"""Programs that open an instance by name: each call runs in the owner's process, and is made as if it ran here."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import os
import pickle
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import anyio
import anyio.to_thread
import pytest

import muxwire
import muxwire.sync
from muxwire import InstanceUnavailable, InvalidArgument, NoSuchTarget, Tab, Terminals
from muxwire.errors import (
    CommandError,
    ConnectionClosed,
    HostUnavailable,
    MuxwireError,
    NotPermitted,
    TabUnavailable,
    TmuxSilent,
)
from muxwire.far.carriers import Carrier
from muxwire.library.opening import own_terminals
from muxwire.library.sent import HEAD, packed, unpacked
from muxwire.operations import Execute, NewWindow, Ref
from muxwire.owner.programs import UNREAD_MAX, _Call, _Program, serve_program
from tests.owner.conftest import NAME, User
from tests.processes import gone

pytestmark = pytest.mark.anyio

DEADLINE = 60


def opened(user: User, **given: Any) -> AbstractAsyncContextManager[Terminals]:
    return muxwire.open_terminals(NAME, environ=user.environ, **given)


@asynccontextmanager
async def with_tab(user: User) -> AsyncIterator[tuple[Terminals, Tab]]:
    """The instance, and a tab with bash in it."""
    with anyio.fail_after(DEADLINE):
        async with opened(user) as terminals:
            yield terminals, await terminals.create_tab(name="one", shell="bash")


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_call_is_made_as_if_it_ran_here(user: User) -> None:
    begun, wrote = list[str](), list[bytes]()

    async def on_output(data: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        wrote.append(data)

    async with with_tab(user) as (terminals, tab):
        assert terminals.role == "client"
        result = await tab.execute("echo a; sleep 0.1; echo b; (exit 4)", on_output=on_output, on_start=begun.append)
        assert (result.exit_code, b"".join(wrote), begun) == (4, b"a\nb\n", [result.command_id])
        assert (await tab.execute("cd /usr; echo $TWO", env=user.environ | {"TWO": "2"})).output == "2\n"
        await tab.execute("cd /usr")
        assert (tab.cwd, tab.state, tab.name, tab.size) == ("/usr", "prompt", "one", (tab.columns, tab.size[1]))
        assert isinstance(tab.log_path, Path)
        assert await terminals.tab("one") is tab
        (row,) = (await terminals.list_tabs()).tabs
        assert row.window_id == tab.window_id
        assert (await terminals.wait_for([tab, "one"], prompt=True)).outcome == "met"
        made = await terminals.run_operations([NewWindow(ref="w"), Execute(target=Ref("w"), command="echo ran")])
        assert made.succeeded, made.steps
        assert [one.command for one in await terminals.history(tab)][-1] == "cd /usr"


async def test_a_call_that_ends_early_interrupts_its_command(user: User) -> None:
    async with with_tab(user) as (_, tab):
        with anyio.CancelScope() as scope:
            await tab.execute("sleep 1000", on_start=lambda _: scope.cancel())
        with pytest.raises(IndexError, match="out of range"):
            await tab.execute("echo a; sleep 1000", on_output=lambda data: data[9])
        for turns in range(8):  # asyncio's own cancellation strikes anywhere, also while a long message is written
            calls = asyncio.gather(*(tab.execute(one) for one in ("sleep 1000", ": " + "y" * 9_000_000)))
            for _ in range(turns):
                await asyncio.sleep(0)
            calls.cancel()
            await asyncio.wait([calls])
        assert ((await tab.execute("echo free")).output, scope.cancelled_caught) == ("free\n", True)


async def test_errors_are_those_of_the_library(user: User) -> None:
    async with with_tab(user) as (terminals, tab):
        with pytest.raises(NoSuchTarget, match="no tab is called 'nobody'") as found:
            await terminals.tab("nobody")
        assert "`list_tabs`" in found.value.remedy
        with pytest.raises(TypeError, match=re.escape("execute() got an unexpected keyword argument 'no'")):
            await tab.execute("true", no=1)  # type: ignore[call-arg]
        with pytest.raises(InvalidArgument, match="timeout"):
            await tab.execute("true", timeout="x")  # type: ignore[arg-type]
        await tab.execute("cat", timeout=1, on_timeout="leave")
        with pytest.raises(TabUnavailable) as busy:
            await tab.execute("true", timeout=0.5)
        assert busy.value.state == "interactive"


async def test_what_cannot_travel_is_refused(user: User) -> None:
    async def connect(argv: Any) -> Any:
        raise NotImplementedError

    async with with_tab(user) as (terminals, tab):
        with pytest.raises(InvalidArgument, match="Carrier with connect"):
            await terminals.create_tab(host=Carrier(connect=connect))
        with pytest.raises(InvalidArgument, match="object is of no class"):
            await tab.execute("true", cwd=object())  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="cannot be sent"):
            await tab.execute("true", env={"A": (one for one in "x")})  # type: ignore[dict-item]
        with pytest.raises(NotPermitted, match="log of events"):
            _ = terminals.events
        assert (await tab.execute("echo on")).output == "on\n"


async def test_the_next_owner_goes_on_with_the_same_objects(user: User) -> None:
    async with with_tab(user) as (terminals, tab):
        await tab.execute("KEPT=here")
        owner = user.owner
        async with anyio.create_task_group() as tasks:

            async def cut_short() -> None:
                with pytest.raises(ConnectionClosed, match="the process that owns the instance has ended"):
                    await tab.execute("sleep 1000", on_start=lambda _: os.kill(owner, signal.SIGKILL))

            tasks.start_soon(cut_short)
        await gone([owner])
        assert (await tab.stop_process()).success
        assert (await tab.execute("echo $KEPT")).output == "here\n"
        assert user.owner not in (0, owner)
        assert await terminals.tab("one") is tab


async def test_a_program_that_ends_leaves_its_command_running(user: User) -> None:
    with anyio.fail_after(DEADLINE):
        async with opened(user) as terminals:
            tab = await terminals.create_tab(shell="bash")
            async with anyio.create_task_group() as tasks:
                begun = anyio.Event()
                tasks.start_soon(
                    functools.partial(tab.execute, "read answer; echo $answer", on_start=lambda _: begun.set())
                )
                await begun.wait()
                terminals.link.close()  # type: ignore[attr-defined]  # as if the program were killed
                tasks.cancel_scope.cancel()
        async with opened(user) as terminals:
            again = await terminals.tab(tab.key)
            assert (await again.send_keys(["kept", "Enter"], until="kept", wait=DEADLINE)).outcome in ("met", "ended")
            assert (await again.command_result()).exit_code == 0


def test_blocking_calls(user: User) -> None:
    wrote = list[bytes]()
    with muxwire.sync.open_terminals(NAME, environ=user.environ) as terminals:
        tab = terminals.create_tab(shell="bash")
        assert tab.execute("echo a; exit 3", cwd="/usr", on_output=wrote.append).exit_code == 3
        assert (b"".join(wrote), tab.state, terminals.role) == (b"a\n", "prompt", "client")


async def test_an_instance_that_a_process_has_for_itself_is_refused(user: User) -> None:
    with anyio.fail_after(DEADLINE):
        async with own_terminals(NAME, environ=user.environ) as alone:
            await alone.create_tab(shell="bash")
            with pytest.raises(InstanceUnavailable, match=f"process {os.getpid()} has the instance {NAME}"):
                async with opened(user) as terminals:
                    await terminals.list_tabs()
            assert "has the instance" in user.start("ls", "--name", NAME).communicate()[1].decode()
        async with opened(user) as terminals:
            assert len((await terminals.list_tabs()).tabs) == 1


@pytest.mark.parametrize(
    "error",
    [
        MuxwireError("what", remedy="do"), CommandError("ls", (b"no",)), ConnectionClosed("reason", remedy="do"),
        TabUnavailable("busy", state="running", remedy="wait"), HostUnavailable("box", "login", "no", remedy="do"),
        TmuxSilent("silent", remedy="do"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_an_error_travels_whole(error: MuxwireError) -> None:
    sent = unpacked(packed(error, lambda _: None), lambda *_: None)
    for again in (sent, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


# A pickle may have any function called: that of a pattern is `re._compile`.
@pytest.mark.parametrize("value", [re.compile("x"), functools.partial(print)], ids=["re", "partial"])
def test_nothing_is_called_by_what_comes(value: object) -> None:
    with pytest.raises(InvalidArgument, match="no class that may be sent here"):
        unpacked(pickle.dumps(value), lambda *_: None)


async def test_a_program_that_does_not_read_is_not_waited_for() -> None:
    """What it is told must not fill the owner's memory."""

    class Terminals:
        @staticmethod
        async def trace(tell: Callable[[bytes, bytes], object]) -> None:
            for _ in range(UNREAD_MAX // 1_000_000 + 10):
                tell(b"<", b"x" * 1_000_000)
            await anyio.sleep_forever()

        leave_running = staticmethod(lambda *_: None)

    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        call = packed(("", "trace", (print,), {}), lambda value: ("function", 0) if value is print else None)
        theirs.sendall(HEAD.pack(b"c", 0, len(call)) + call)
        with anyio.fail_after(10):
            await serve_program(cast("Any", Terminals), ours)


async def test_a_tab_that_the_instance_has_forgotten_is_kept_for_no_program() -> None:
    """It remembers the last closed tabs; a program may have been given any number."""
    tab = Mock(__class__=Tab, address="1/@1")
    program = _Program(*cast("Any", (None, None, None)))
    program._name_of(tab)
    found = functools.partial(program._named, 0, _Call(), "tab", "1/@1")
    assert found() is tab
    del tab
    gc.collect()
    assert found() == "1/@1"


async def test_the_next_connection_may_have_the_descriptor_of_one_that_was_cut_off() -> None:
    ours, theirs = socket.socketpair()
    number = ours.fileno()
    with theirs:
        with ours, anyio.move_on_after(0.1):
            ours.setblocking(False)
            await serve_program(cast("Any", None), ours)
        with socket.socket(fileno=os.dup2(theirs.fileno(), number)) as again, anyio.fail_after(10):
            await anyio.wait_readable(again)  # the other end is closed


async def test_a_method_that_is_not_for_programs_is_not_called() -> None:
    here = SimpleNamespace(leave_running=lambda *_: None, secret=lambda: "told")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        call = packed(("", "secret", (), {}), lambda _: None)
        theirs.sendall(HEAD.pack(b"c", 0, len(call)) + call)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_program, cast("Any", here), ours)
            await anyio.wait_readable(theirs)
            assert b"there is no method secret" in theirs.recv(10_000)
            theirs.shutdown(socket.SHUT_WR)  # the program ends
