"""Opening an instance: one of our own, in this process, or one that others use too, by way of its owner."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping  # noqa: TC003 - the type of a field
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from muxwire.client.transport import asyncio_loop
from muxwire.errors import InstanceUnavailable, InvalidArgument
from muxwire.host.descriptors import make_room
from muxwire.host.folders import EPHEMERAL, Folders, folders_for
from muxwire.host.local import LocalHost
from muxwire.host.locks import InstanceLock, named_server
from muxwire.instance.connect import open_server
from muxwire.instance.own_task import OwnTask, in_own_task
from muxwire.instance.spools import complete_logs
from muxwire.library.at_owner import at_owner
from muxwire.library.block import tasks_of_block
from muxwire.library.lifetime import ServerLifetime
from muxwire.library.machine import check_hosts
from muxwire.library.terminals import Terminals
from muxwire.logs.store import LogStore
from muxwire.tmux.program import server_pid
from muxwire.tmux.server import Access
from muxwire.verbs.check import check
from muxwire.verbs.describe import all_parameters
from muxwire.verbs.types import Folder, Seconds, Way  # noqa: TC001 - types of fields
from muxwire_reach import OwnerUnreachable, connected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager


# A name is part of paths, and the socket's has room for a hundred bytes.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}\Z")


def checked_instance(name: str) -> str:
    """The name of an instance; InvalidArgument for one that cannot be part of a path."""
    if _NAME.match(name) is None:
        raise InvalidArgument(
            f"{name!r} cannot be the name of an instance", remedy="use up to 32 letters, digits, '-' and '_'"
        )
    return name


@asynccontextmanager
async def open_terminals(
    name: str | None = None,
    *,
    socket: str | os.PathLike[str] | None = None,
    socket_name: str | None = None,
    state_dir: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    close_idle: float | None = None,
    hosts: Mapping[str, Way] | None = None,
) -> AsyncIterator[Terminals]:
    """Open an instance; it starts its tmux server when a tab is first made.

    Without a name it is yours alone, lives in this process, and its tmux server ends with you. With one it lives in a
    process of its own, its owner, which is started if it does not run, and which all who open that name share; what is
    known of a tab without waiting is then as the owner's last answer had it. Where no owner can be started, as in a
    sandbox, it lives in this process, and no other process can open it meanwhile (`Terminals.role`).
    The name of a running `muxwire serve` without one (`e<pid>-<hex>`) may be given too.

    `socket` is the path of a tmux server that a person runs, `socket_name` what they call it with `tmux -L`: its
    windows are the tabs then, and nothing of it is changed. We attach to one session at once, to another when a tab of
    it is first used, and stay attached.

    `state_dir` is where logs go (default: `$MUXWIRE_STATE_DIR`, `$XDG_STATE_HOME/muxwire`, `~/.local/state/muxwire`).
    `close_idle`: tabs that were not used for so many seconds are closed (0: none are): no call named them, no person
    typed there, nothing ran, and nothing was written.
    `hosts` are other machines by their names, in addition to those of hosts.toml.

    Under asyncio the block may be left in another task than it was entered in; under trio it may not.
    """
    block = _instance(
        name, socket=socket, socket_name=socket_name, state_dir=state_dir, environ=environ,
        close_idle=close_idle, hosts=hosts,
    )  # fmt: skip
    async with in_own_task(block) as terminals:
        yield terminals


async def start(
    name: str | None = None,
    *,
    socket: str | os.PathLike[str] | None = None,
    socket_name: str | None = None,
    state_dir: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    close_idle: float | None = None,
    hosts: Mapping[str, Way] | None = None,
) -> Terminals:
    """Open an instance that lasts until `await terminals.aclose()`, which may be called in another task.

    For the cells of a notebook, and fixtures of pytest-asyncio. The parameters are those of `open_terminals`. Under
    asyncio only: InvalidArgument under trio, where only a block can hold tasks.
    """
    if asyncio_loop() is None:
        raise InvalidArgument(
            "start() needs asyncio", remedy="under trio: async with muxwire.open_terminals() as terminals"
        )
    owner = OwnTask(_instance(
        name, socket=socket, socket_name=socket_name, state_dir=state_dir, environ=environ,
        close_idle=close_idle, hosts=hosts,
    ))  # fmt: skip
    terminals = await owner.enter(tied=False)
    terminals.leave = owner.leave
    return terminals


def own_terminals(
    name: str | None = None,
    *,
    socket: str | os.PathLike[str] | None = None,
    socket_name: str | None = None,
    state_dir: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    close_idle: float | None = None,
    hosts: Mapping[str, Way] | None = None,
) -> AbstractAsyncContextManager[Terminals]:
    """As `open_terminals`, in this process also by name: what an owner is, and a front end where none can be started.

    InstanceUnavailable, at the first use of the instance, while another process has it.
    """
    return in_own_task(_instance(
        name, socket=socket, socket_name=socket_name, state_dir=state_dir, environ=environ,
        close_idle=close_idle, hosts=hosts, here=True,
    ))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """What kind of value each parameter of `open_terminals` takes; `check_hosts` knows more of `hosts`."""

    name: str | None
    socket: Folder | None
    socket_name: str | None
    state_dir: Folder | None
    environ: Mapping[str, str] | None
    close_idle: Seconds | None
    hosts: Mapping[str, str] | None


def _instance(
    name: str | None,
    *,
    socket: str | os.PathLike[str] | None,
    socket_name: str | None,
    state_dir: str | os.PathLike[str] | None,
    environ: Mapping[str, str] | None,
    close_idle: float | None,
    hosts: Mapping[str, Way] | None,
    here: bool = False,
) -> AbstractAsyncContextManager[Terminals]:
    given = {"name": name, "socket": socket, "socket_name": socket_name, "state_dir": state_dir, "environ": environ}
    for parameter, value in (given | {"close_idle": close_idle, "hosts": hosts}).items():
        check(all_parameters(_Opening)[parameter], value)
        if value == "":  # as `--socket "$UNSET"` gives it, which was to mean somebody's server
            raise InvalidArgument(f"{parameter} is empty", remedy="give a value, or leave it out")
    check_hosts(hosts or {})
    environ = dict(os.environ if environ is None else environ)
    host = LocalHost(environ)
    if sum(given is not None for given in (name, socket, socket_name)) > 1:
        raise InvalidArgument("name, socket and socket_name cannot be combined", remedy="give one of them")
    adopted = Path(socket) if socket is not None else None
    if socket_name is not None:
        from muxwire.instance.adopted import socket_of  # late: few have to do with a person's server

        adopted = socket_of(socket_name, environ)
    ours = f"{'e' if adopted is None else 'a'}{os.getpid()}-{os.urandom(3).hex()}"
    folders = folders_for(
        ours if name is None else checked_instance(name),
        environ,
        state_dir=Path(state_dir) if state_dir is not None else None,
        adopted=adopted,
    )
    lock = InstanceLock(folders.lock, folders.socket_path) if name is not None else None
    access = Access(persistent=lock is not None or adopted is not None, lock=lock, adopted=adopted is not None)
    idle = close_idle or 0.0
    if idle and access.role == "adopted":
        raise InvalidArgument(
            "close_idle closes nothing at a person's tmux server, whose windows are the person's",
            remedy="leave out close_idle, or socket and socket_name",
        )
    own = _opened(folders, host, access, idle, hosts or {})
    if name is None or (here and not EPHEMERAL.match(name)):
        return own
    return _by_name(
        folders,
        own,
        environ if state_dir is None else environ | {"MUXWIRE_STATE_DIR": str(folders.state)},
        idle,
        hosts or {},
    )


@asynccontextmanager
async def _by_name(
    folders: Folders,
    own: AbstractAsyncContextManager[Terminals],
    environ: Mapping[str, str],
    idle: float,
    hosts: Mapping[str, Way],
) -> AsyncIterator[Terminals]:
    """The instance in its owner's process; in this one (`own`) where none can be started."""
    name, is_transient = folders.instance, EPHEMERAL.match(folders.instance)
    again = partial(connected, name, "library", [str(idle)], makes=True, environ=environ)
    try:
        connection = await anyio.to_thread.run_sync(again)
    except OwnerUnreachable:
        if is_transient:
            raise InstanceUnavailable(
                f"no command reaches the instance {name}: a program keeps it to itself, or it has ended",
                remedy=f"muxwire attach --name {name} shows its tabs, `muxwire ls` the instances that run",
            ) from None
        block = own
    else:
        block = at_owner(folders, connection, again, hosts)
    async with block as terminals:
        yield terminals


def _runs(folders: Folders, host: LocalHost) -> bool:
    """Whether there is a server of that name: at this socket, or at another one (which `Access.settle` refuses)."""
    return server_pid(folders, host) is not None or folders.differs(named_server(folders.server)[1])


@asynccontextmanager
async def _opened(
    folders: Folders, host: LocalHost, access: Access, idle: float, hosts: Mapping[str, Way]
) -> AsyncIterator[Terminals]:
    """Run the instance's tasks, and end it with the block."""
    host.check_proc()
    make_room()
    async with tasks_of_block() as tasks:
        life = ServerLifetime(folders, host, tasks, access, partial(open_server, folders, host))
        life.book.idle_timeout = idle
        terminals = Terminals(life, hosts)
        try:
            if access.role == "adopted" or (access.persistent and _runs(folders, host)):
                await terminals.server()
            # No server can be reached: the logs are completed, unless nothing was ever written under this name (to
            # open it makes no files), or a server lives all the same, whose spools are still written.
            elif (
                access.lock is not None
                and folders.generations()
                and not named_server(folders.server)[0]
                and await access.lock.take_soon()
            ):
                async with LogStore() as store:
                    await complete_logs(folders, store)
            yield terminals
        finally:
            await terminals.end()
