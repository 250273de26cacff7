"""`python -m muxwire.owner NAME`: what `muxwire_reach` starts, with the descriptor READY for what becomes of it."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import select
import signal
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

import muxwire
from muxwire.errors import unwrapped
from muxwire.host.folders import folders_for
from muxwire.host.locks import named_server
from muxwire.host.processes import arguments, signal_process
from muxwire.library.opening import own_terminals
from muxwire.owner.server import Owner, listen
from muxwire_reach import READY, runtime_folder

# What a call may import late. A module that is loaded after an upgrade would be of another version than the rest.
_NEEDED = ("cli", "far", "host", "instance", "library", "logs", "mcp", "operations", "shell", "tabs", "tmux", "vt")
# An owner that is told to end needs some tenths of a second; one that is stopped does not end.
_END_SECONDS = 10.0


async def own(name: str) -> None:
    """Serve the instance until the owner's life is over."""
    path = Path(runtime_folder()) / f"{name}.owner"
    end_unreachable(name)
    async with own_terminals(name) as terminals:
        owner = Owner(terminals, path, listen(path))
        os.chdir("/")  # no file system is kept busy
        os.write(READY, b"+")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(anyio.to_thread.run_sync, _import_all, abandon_on_cancel=True))
            await owner.serve()
            tasks.cancel_scope.cancel()


def end_unreachable(name: str) -> None:
    """End an owner that runs while its socket was removed, as at the end of the user's last login.

    This process was started because no owner could be reached, so one that has the instance's lock never will be. What
    runs in its tabs goes on. Which command of muxwire's that is was in the removed directory, and is forgotten.
    """
    folders = folders_for(name, os.environ)
    pid, socket = named_server(folders.lock)
    if not folders.differs(socket) and "muxwire.owner" in arguments(pid):
        with suppress(OSError):  # it has ended
            ended = os.pidfd_open(pid)
            signal_process(pid, signal.SIGTERM)
            select.select((ended,), (), (), _END_SECONDS)


def _import_all() -> None:
    """Import whatever a call may need, in a thread; all of it stays, and is not searched for garbage again."""
    gc.disable()
    for package in _NEEDED:
        for module in pkgutil.walk_packages([str(Path(muxwire.__path__[0]) / package)], f"muxwire.{package}."):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    gc.enable()


def main() -> None:
    if os.fork():
        os._exit(0)  # who has started us waits for this, and has no child then that may end one day
    os.closerange(READY + 1, os.sysconf("SC_OPEN_MAX"))  # a pipe that stayed open would keep a CI job from ending
    try:
        anyio.run(own, sys.argv[1])
    except Exception as error:
        with suppress(OSError):  # nobody reads it any more
            os.write(READY, str(unwrapped(error)).encode())
        raise
    os._exit(0)  # nothing is left to do: the interpreter takes a tenth of a second to free all it has


if __name__ == "__main__":
    main()
