"""The owner's socket: it accepts clients, hears who they are, and serves each in a task of its own."""

from __future__ import annotations

import asyncio  # a listening socket that an earlier program has opened
import fcntl
import logging
import os
import signal
import socket
import stat
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, final

import anyio

from muxwire import __version__
from muxwire.cli.command_line import serve_caller
from muxwire.cli.console import Console, RunsThere
from muxwire.errors import MuxwireError, unwrapped
from muxwire.host.folders import folders_for
from muxwire.owner.agents import read_serve
from muxwire.owner.hello import is_newer, read_hello, receive_hello
from muxwire.owner.programs import serve_program
from muxwire.tabs.seat import Seat
from muxwire_reach import ACCEPTED, REFUSED, peer_user

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from muxwire.library.terminals import Terminals
    from muxwire.owner.hello import Hello

_LOG = logging.getLogger("muxwire")
# How many clients may wait to be accepted: scripts start many at once.
_BACKLOG = 128
# How long a new owner waits for its first client, which has started it and connects at once, unless it was killed.
_FIRST_SECONDS = 2.0
# After an accept that failed, because too many files are open.
_AGAIN_SECONDS = 0.1


def listen(path: Path) -> socket.socket:
    """A socket there that listens, and that only this user may connect to; a dead one in its place goes. OSError.

    The caller holds the lock of those who start an owner: who finds no socket, or one that does not listen yet, waits
    for it. Linux makes a socket's file with the mode that the socket has, less the umask, which tabs inherit.
    """
    listener = socket.socket(socket.AF_UNIX)
    try:
        os.fchmod(listener.fileno(), stat.S_IRUSR | stat.S_IWUSR)
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


@asynccontextmanager
async def answering(terminals: Terminals) -> AsyncIterator[None]:
    """Have verbs and programs answered by this process, in which the instance has been opened for another reason.

    The socket is in the instance's own directory, and goes with that; where none can be made, nobody is answered.
    """
    path = terminals.folders.runtime / terminals.folders.instance / "owner"
    with ExitStack() as closed_last:  # once nobody accepts: see `Owner.serve`
        async with anyio.create_task_group() as tasks:
            if terminals.role != "adopted":  # at a person's server nothing is made that is not needed
                with suppress(OSError, MuxwireError):
                    terminals.folders.prepare()
                    listener = closed_last.enter_context(listen(path))
                    tasks.start_soon(Owner(terminals, path, listener, lives=False).answer)
            yield
            tasks.cancel_scope.cancel()


@final
class Owner:
    """One process for one instance: its terminals, and the clients that share them.

    It lives as long as its tmux does, or a client is here, and no longer: the next tmux is to have the environment, the
    umask and the limits of the client that starts it, and these are what an owner has from the client that started it.
    A signal ends it at once, and so does a client of a newer version that is the only one, which then starts an owner
    of its own. In each case a tmux that runs is left, with all that runs there, and calls that are under way end with
    an error, which their clients make: an owner that ends says nothing more.
    """

    def __init__(self, terminals: Terminals, path: Path, listener: socket.socket, *, lives: bool = True) -> None:
        """`lives`: the process is an owner's, and ends with it."""
        self.terminals = terminals
        self._lives = lives
        self._path = path
        self._inode = path.stat().st_ino
        self._listener = listener
        self._clients = set[socket.socket]()
        self._serving = anyio.CancelScope()

    async def serve(self) -> None:
        """Serve clients until the owner's life is over."""
        loop = asyncio.get_running_loop()
        self.terminals.on_change(self._look)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._end)
        loop.call_later(_FIRST_SECONDS, self._look)
        with self._serving:
            await self.answer()
        # Not before: asyncio would take the next descriptor with this number for one that it watches already, and never
        # say that it can be read.
        self._listener.close()

    async def answer(self) -> None:
        """Serve those who come, for ever."""
        self._listener.setblocking(False)
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    connection, _ = await asyncio.get_running_loop().sock_accept(self._listener)
                except OSError:
                    await anyio.sleep(_AGAIN_SECONDS)
                else:
                    tasks.start_soon(self._accept, connection)

    # Its life.

    def _look(self) -> None:
        """End, if nobody needs this process."""
        if self._lives and not (self._clients or self.terminals.runs):
            self._end()

    def _end(self) -> None:
        """Leave the name to the next owner; not twice."""
        if not self._serving.cancel_called:
            with suppress(OSError):
                self._remove_files()
            self.terminals.leave_running()
            for client in self._clients:
                with suppress(OSError):  # it has gone
                    client.shutdown(socket.SHUT_WR)
            self._serving.cancel()

    def _remove_files(self) -> None:
        """Leave nothing of ours in the run directory but a log that says something.

        Not while another process starts an owner, or if one has done so: the files are in use then.
        """
        lock, log = (self._path.with_name(f"{self._path.name}.{kind}") for kind in ("lock", "log"))
        with lock.open("w") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._path.stat().st_ino == self._inode:
                if log.stat().st_size == 0:
                    log.unlink()
                lock.unlink()
                self._path.unlink()  # the last one: who comes meanwhile still reaches us, and then tries again

    # Its clients.

    async def _accept(self, connection: socket.socket) -> None:
        self._clients.add(connection)
        try:
            with connection:
                await self._serve(connection)
        except OSError:
            pass  # the client has gone
        except Exception as error:  # noqa: BLE001 - it is no other client's
            _LOG.exception("a client's call has failed", exc_info=unwrapped(error))
        finally:
            self._clients.remove(connection)
            self._look()

    async def _serve(self, connection: socket.socket) -> None:
        if peer_user(connection) not in (os.getuid(), 0):
            return
        connection.setblocking(False)
        hello = read_hello(await receive_hello(connection))
        if hello is None:
            connection.send(REFUSED)
            return
        if self._lives and len(self._clients) == 1 and is_newer(hello.version, __version__):
            self._end()
            return
        here = self.terminals.folders
        # A client may mean another instance of that name, whose logs are elsewhere; and classes may have other fields.
        if folders_for(here.instance, hello.environ).state != here.state or (
            hello.kind == "library" and hello.version != __version__
        ):
            connection.send(REFUSED)
            return
        if hello.kind == "verb":
            connection.send(ACCEPTED)
            await self._serve_verb(hello, connection)
            return
        try:
            serve, idle = (
                (serve_program, float(hello.words[0])) if hello.kind == "library" else read_serve(*hello.words)
            )
        except MuxwireError:
            connection.send(REFUSED)  # a wrong command line: the client's own process says so
            return
        with self.terminals.seated(Seat(idle=idle), hello.directory, hello.environ) as seated:
            connection.send(ACCEPTED)
            await serve(seated, connection)

    async def _serve_verb(self, hello: Hello, connection: socket.socket) -> None:
        instance, environ = self.terminals.folders.instance, dict(hello.environ)

        @asynccontextmanager
        async def opened(given: Mapping[str, Any]) -> AsyncIterator[Terminals]:
            """The instance, for one call; a verb that means another one runs in the client's process."""
            if given != {"name": instance}:
                raise RunsThere
            with self.terminals.seated(Seat(stays=False), hello.directory, environ) as seated:
                yield seated

        console = Console(
            hello.words,
            environ,
            hello.sizes,
            hello.terminal,
            opened,
            # Without a tmux here, words that name no instance may mean another one.
            sent_to=instance if self.terminals.runs else "",
        )
        await serve_caller(console, connection)
