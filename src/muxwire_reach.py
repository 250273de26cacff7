"""Reaching the process that owns a named instance: the socket, the first line, and starting that process.

Like `muxwire_client` this is no part of the package, and uses nothing that takes long to import: a verb may take no
longer than a few empty Pythons. The library uses it too, to reach the owner of an instance by its name.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import os
import sys
from _socket import AF_UNIX, SO_PEERCRED, SOCK_STREAM, SOL_SOCKET, socket as Socket  # noqa: N812 - it is a class

VERSION = "0.1.0.dev0"
PROTOCOL = 2  # of hello and of frames; an owner of another one leaves the verb to the client

# An owner that ends, as for a client of a newer version, closes connections that it has not accepted.
_TRIES = 5

# The descriptor to which an owner writes `+` once it listens, or why it does not.
READY = 3
# What an owner answers to a hello.
ACCEPTED, REFUSED = b"+", b"-"
HEAD = 5  # bytes before what a frame of a verb holds: a letter, and its length

TYPE_CHECKING = False  # to import typing costs more than a verb
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn


class OwnerUnreachable(Exception):
    """There is no owner, and none could be started."""


def runtime_folder(environ: Mapping[str, str] = os.environ) -> str:
    """Where sockets are: the rule of `muxwire.host.folders.folders_for`."""
    home = environ.get("XDG_RUNTIME_DIR", "")
    if home.startswith("/") and os.path.isdir(home):
        return f"{home}/muxwire"
    return f"{os.path.abspath(environ.get('TMPDIR') or '/tmp')}/muxwire-{os.getuid()}"  # noqa: S108 - as tmux has it


def connected(
    name: str, kind: str, words: list[str], *, makes: bool, environ: Mapping[str, str] = os.environ
) -> Socket:
    """A connection that the owner of that instance has accepted; it is started if it does not run.

    But where no tmux of that instance runs, only a call that `makes` an instance starts one. OwnerUnreachable.
    """
    # The owner works in another directory, where a relative path would be another place.
    environ = {key: os.path.abspath(value) if value and key == "MUXWIRE_STATE_DIR" else value
               for key, value in environ.items()}  # fmt: skip
    for _ in range(_TRIES):
        try:
            sock = _reached(name, environ, makes=makes)
            sock.sendall(hello(kind, words, environ))
            answer = sock.recv(1)
        except OSError as error:
            if isinstance(error, (BrokenPipeError, ConnectionResetError)):  # as for no answer at all
                continue
            raise OwnerUnreachable(str(error)) from None
        if answer == ACCEPTED:
            return sock
        sock.close()
        if answer:
            break
    raise OwnerUnreachable("the owner does not take this call")


def _reached(name: str, environ: Mapping[str, str], *, makes: bool) -> Socket:
    folder = runtime_folder(environ)
    sock = reached(f"{folder}/{name}.owner") or reached(f"{folder}/{name}/owner")  # of an instance without a name
    if sock is None and not may_be_owned(name):
        raise OwnerUnreachable(f"{name} is a program's instance, or no name")
    if sock is None and not makes:
        # A verb that only looks must not bring an instance to life: there is one if its tmux listens.
        if (tmux := reached(f"{folder}/{name}.sock")) is None:
            raise OwnerUnreachable(f"the instance {name} does not run")
        tmux.close()
    return sock or started(name, folder, environ)


def may_be_owned(name: str) -> bool:
    """Whether an instance can have that name (`checked_instance`), and it is not what one without a name is called.

    Such a one, `EPHEMERAL`, no other process can own; and files are made of the name, before an owner can refuse it.
    """
    plain, (process, _, rest) = name.replace("-", "").replace("_", ""), name[1:].partition("-")
    is_name = plain.isascii() and plain.isalnum() and name[0].isalnum() and len(name) <= 32
    return is_name and not (name[0] == "e" and process.isdigit() and len(rest) == 6)


def reached(path: str) -> Socket | None:
    """A connection to the socket, if somebody listens there; OwnerUnreachable if that is another user."""
    sock = Socket(AF_UNIX, SOCK_STREAM)
    try:
        sock.connect(path)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
        sock.close()
        return None
    if (peer := peer_user(sock)) not in (os.getuid(), 0):
        raise OwnerUnreachable(f"the user {peer} listens at {path}")
    return sock


def peer_user(sock: Socket) -> int:
    """The user id of the process at the other end (unix(7), SO_PEERCRED: pid, uid, gid)."""
    return int.from_bytes(sock.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)[4:8], sys.byteorder)


def started(name: str, folder: str, environ: Mapping[str, str]) -> Socket:
    """Start the owner, unless another client does so now; a connection to it. OwnerUnreachable."""
    from fcntl import LOCK_EX, flock

    path = f"{folder}/{name}.owner"
    os.makedirs(folder, 0o700, exist_ok=True)
    found = os.lstat(folder)
    if found.st_uid != os.getuid() or found.st_mode & 0o77 or not os.path.isdir(folder) or os.path.islink(folder):
        raise OwnerUnreachable(f"{folder} is not a directory of this user alone")
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        flock(lock, LOCK_EX)  # the others wait here, and find the owner then
        if not os.path.exists(f"{path}.lock") or not os.path.samestat(os.fstat(lock), os.lstat(f"{path}.lock")):
            raise ConnectionResetError  # an owner that ended has removed it meanwhile: once more
        if (sock := reached(path)) is None:
            _start(name, f"{path}.log", environ)
            sock = reached(path)
    finally:
        os.close(lock)
    if sock is None:
        raise OwnerUnreachable(f"nobody listens at {path}")
    return sock


def _start(name: str, log: str, environ: Mapping[str, str]) -> None:
    """Start the owner as a process of its own session, and wait until it listens; OwnerUnreachable says why not.

    It keeps nothing of this process but its directory, its umask and its limits: `nohup` and some shells have signals
    ignored. This process is not forked, because it may have threads.
    """
    ready, say = os.pipe()
    # A module in the caller's directory is not taken for one of ours, and names are in UTF-8.
    words = (sys.executable or "", "-P", "-X", "utf8", "-m", "muxwire.owner", name)
    # `say` first: the caller may have started with its standard descriptors closed.
    descriptors = (
        (os.POSIX_SPAWN_DUP2, say, READY),
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600),
    )
    with open(ready, "rb", 0) as told:
        try:
            child = os.posix_spawn(
                words[0], words, environ, file_actions=descriptors, setsid=True, setsigmask=(),
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            )  # fmt: skip
            os.waitpid(child, 0)
        except ChildProcessError:  # SIGCHLD is ignored: the kernel has waited for it
            pass
        finally:
            os.close(say)
        said = b""
        while said != b"+" and (piece := told.read(4096)):
            said += piece
    if said != b"+":
        raise OwnerUnreachable(said.decode("utf-8", "replace") or "the owner did not start")


def hello(kind: str, words: list[str], environ: Mapping[str, str]) -> bytes:
    """The line that says who calls, which is all that an owner needs to act in this process's place."""
    try:
        directory = os.getcwd()
    except FileNotFoundError:
        directory = ""
    sizes = [terminal_size(descriptor) for descriptor in (0, 1, 2)]
    fields = {
        "version": VERSION, "kind": kind, "words": words, "directory": directory, "sizes": tuple(sizes),
        "terminal": os.ttyname(0) if sizes[0] else "", "environ": dict(environ),
    }  # fmt: skip
    return ascii((PROTOCOL, fields)).encode() + b"\n"


# What the two programs of a verb do alike: `muxwire_client` and the whole command line.


def terminal_size(descriptor: int) -> tuple[int, int] | None:
    """The columns and rows of a terminal; None for what is none."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:
        return None
    return columns, rows


def write_all(descriptor: int, data: bytes, name: str) -> None:
    """Write all of it; OSError with that name."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:  # a process that shares the descriptor has set it non-blocking
            from select import select

            select((), (descriptor,), ())
        except OSError as error:
            raise type(error)(error.errno, error.strerror, name) from None


def die_of(number: int) -> NoReturn:
    """End as the signal would have ended the process, so that its parent knows."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # if it is blocked
