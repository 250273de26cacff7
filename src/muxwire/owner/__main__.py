"""`python -m muxwire.owner NAME READY [LISTENER VERSION]`: what `muxwire_client` starts.

READY is the descriptor to which `+` is written once the socket listens, or why it does not. LISTENER is the socket of
the older program that ran in this process before, and VERSION that of the client for which it made room.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

import muxwire
from muxwire.errors import unwrapped
from muxwire.library.opening import own_terminals
from muxwire.owner.server import Owner, listen
from muxwire_reach import FLAGS, runtime_folder

# What a call may import late. A module that is loaded after an upgrade would be of another version than the rest.
_NEEDED = ("cli", "far", "host", "instance", "library", "logs", "mcp", "operations", "shell", "tabs", "tmux", "vt")


async def own(name: str, ready: int, listener: int, asked: str) -> tuple[str, int, str]:
    """Serve the instance until the owner's life is over.

    If a newer program is to go on in this process: its Python, the socket that listens, and its version.
    """
    path = Path(runtime_folder()) / f"{name}.owner"
    async with own_terminals(name) as terminals:
        made = socket.socket(fileno=listener) if listener >= 0 else listen(path)
        os.chdir("/")  # no file system is kept busy
        if ready >= 0:
            os.write(ready, b"+")
            os.close(ready)
        owner = Owner(terminals, path, made, asked)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(anyio.to_thread.run_sync, _import_all, abandon_on_cancel=True))
            await owner.serve()
            tasks.cancel_scope.cancel()
        return owner.renewed_by, os.dup(made.fileno()) if owner.renewed_by else -1, owner.newer


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
    name, ready = sys.argv[1], int(sys.argv[2])
    listener, asked = (int(sys.argv[3]), sys.argv[4]) if len(sys.argv) > 4 else (-1, "")
    try:
        program, listening, version = anyio.run(own, name, ready, listener, asked)
    except Exception as error:
        if ready >= 0:
            with suppress(OSError):
                os.write(ready, str(unwrapped(error)).encode())
        raise
    if not program:
        os._exit(0)  # nothing is left to do: the interpreter takes a tenth of a second to free all it has
    os.set_inheritable(listening, True)
    os.execv(program, [program, *FLAGS, "-m", "muxwire.owner", name, "-1", str(listening), version])  # noqa: S606 - without one


if __name__ == "__main__":
    main()
