"""What is wrong with this machine, as far as muxwire needs it: small checks, each with its remedy.

In this order: tmux, the directories, free space, the locale and the limits of the system; sockets, directories and
processes of instances that have ended; every installed shell, tried in an instance of its own; `examine`, which runs
all of them.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, final

import anyio

from muxwire.client.transport import PIPE_BYTES
from muxwire.client.watchdog import process_table
from muxwire.errors import HostUnavailable, MuxwireError, TmuxUnavailable
from muxwire.host.folders import PRIVATE_FOLDER, SOCKET_PATH_LIMIT, folders_for, how_to_use
from muxwire.host.local import LocalHost
from muxwire.host.locks import holder, named_server
from muxwire.host.processes import read_proc
from muxwire.library.opening import open_terminals
from muxwire.tmux.program import (
    MINIMUM_VERSION,
    find_tmux,
    how_to_install,
    program_for,
    program_version,
)
from muxwire.values import dataclass
from muxwire.vt.text import strip_ansi, undo_onlcr

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence

    from muxwire.host.folders import Folders
    from muxwire.host.host import Host
    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab


# broken: muxwire does not work, or not with this shell; warning: it works, and something is worth mending.
Level = Literal["ok", "warning", "broken"]


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """`said` is what was found, `remedy` what to do, a command where one does it; never empty unless all is well."""

    check: str
    level: Level
    said: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if (self.level == "ok") == bool(self.remedy):
            raise ValueError(f"{self.check}: a remedy belongs to what is wrong, and to nothing else")


def ok(check: str, said: str) -> Finding:
    return Finding(check, "ok", said)


def warning(check: str, said: str, remedy: str) -> Finding:
    return Finding(check, "warning", said, remedy)


def broken(check: str, said: str, remedy: str) -> Finding:
    return Finding(check, "broken", said, remedy)


# What instances that are gone have left, and locks of others that hold up every shell; each with its command.
#
# `clean` removes what instances have left. What belongs to an instance that runs is never named: a server that answers,
# an owner that lives, or a server whose socket was removed: it makes that anew when an instance looks for it.

# The names that open_terminals gives to what ends with its process: `e...` an ephemeral instance, `a...` what
# muxwire has for a person's server.
_EPHEMERAL = re.compile(r"[ea]([0-9]+)-[0-9a-f]{6}\Z")
_PROC = Path("/proc")
# What a client calls itself (setproctitle in client_main, client.c).
_CLIENT = b"tmux: client\n"
_SERVER = b"tmux: server\n"
# Seconds that a client without a parent must live on: a server starts by way of a copy of its client, which ends at
# once (daemon in proc.c), and a driver's end takes its client with it.
_LIVES_ON = 0.2
# How long pyenv-rehash waits for its lock; it needs a second for its work.
_REHASH_S = 60
# For pyenv and rbenv: the variable with the root directory, its default in the home, the lock, the program that locks.
_SHIMS = (
    ("PYENV_ROOT", ".pyenv", ".pyenv-shim", "pyenv-rehash"),
    ("RBENV_ROOT", ".rbenv", ".rbenv-shim", "rbenv-rehash"),
)


# What removes it all, where a line of paths would be too long to read.
CLEAN = "muxwire doctor --clean"


def clean(places: Folders) -> Iterator[str]:
    """Remove what instances that are gone have left; yield each thing that was. OSError."""
    for pid in _clients_left(places):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            yield f"process {pid}, `tmux -C` without a driver"
    ended = set()
    for path in _orphans(places):
        if server := LocalHost({}).listening_pid(path):  # else it has ended meanwhile
            ended.add(server)
            with suppress(ProcessLookupError):
                # tmux ends its server at SIGTERM, and hangs up on what runs in it (tmux.c, server_signal).
                os.kill(server, signal.SIGTERM)
                yield f"the server of {path.stem}"
        path.unlink(missing_ok=True)
    for path in _dead_sockets(places):
        path.unlink(missing_ok=True)
        yield str(path)
    for folder in _folders_left(places, ended):
        shutil.rmtree(folder)
        yield str(folder)


def sockets(places: Folders) -> Iterator[Finding]:
    """Sockets at which no server listens, and ephemeral servers whose owner is gone."""
    dead = _dead_sockets(places)
    if dead:
        said = f"{_counted(dead, 'socket')} at which no server listens: {_names(dead)}"
        yield warning("sockets", said, _removal("rm", dead))
    for path in _orphans(places):
        said = f"the server of {path.stem} runs, and the process that should have ended it is gone"
        yield warning("orphans", said, f"tmux -S {shlex.quote(str(path))} kill-server")
    if not dead:
        yield ok("sockets", f"servers that run: {sum(map(_listens, places.runtime.glob('*.sock')))}")


def _dead_sockets(places: Folders) -> list[Path]:
    found = sorted(places.runtime.glob("*.sock"))
    return [path for path in found if not _listens(path) and not _is_owned(places, path.stem)]


def _orphans(places: Folders) -> list[Path]:
    found = sorted(path for path in places.runtime.glob("*.sock") if _EPHEMERAL.match(path.stem))
    return [path for path in found if _listens(path) and not _is_owned(places, path.stem)]


def _removal(command: str, left: list[Path]) -> str:
    return f"{command} {shlex.join(map(str, left))}" if len(left) <= _NAMED else CLEAN


def _is_owned(places: Folders, instance: str) -> bool:
    """Whether the process lives that an instance belongs to: its server may be about to start, or to end."""
    owner = _EPHEMERAL.match(instance)
    if owner is not None:
        return int(owner[1]) in process_table()
    return bool(holder(replace(places, instance=instance).lock))


def _listens(path: Path) -> bool:
    return LocalHost({}).listening_pid(path) is not None


def folders(places: Folders) -> Iterator[Finding]:
    """Directories for sockets and bodies of commands, of instances that do not run."""
    left = _folders_left(places)
    if left:
        said = f"{len(left)} director{'y' if len(left) == 1 else 'ies'} of instances that are gone: {_names(left)}"
        yield warning("directories left", said, _removal("rm -r", left))
    else:
        yield ok("directories left", "none")


def _folders_left(places: Folders, ended: Collection[int] = ()) -> list[Path]:
    """`ended`: servers that were told to end, and may not have yet."""
    served = _served(ended)
    return [
        entry
        for home in dict.fromkeys((places.runtime, places.memory))
        if home.is_dir()
        for entry in sorted(home.iterdir())
        if entry.is_dir() and not entry.is_symlink() and not _in_use(places, entry.name, served)
    ]


def _served(ended: Collection[int]) -> set[bytes]:
    """The arguments of all tmux servers, the paths of their sockets among them: one may have none any more."""
    running = (pid for pid in process_table() if pid not in ended and read_proc(pid, "comm") == _SERVER)
    return {word for pid in running for word in read_proc(pid, "cmdline").split(b"\0")}


def _in_use(places: Folders, instance: str, served: Collection[bytes]) -> bool:
    # `s`: of a server for tabs that an instance on another machine has here (host/scripts/bootstrap.sh).
    sockets = places.runtime / f"{instance}.sock", places.runtime / instance / "s"
    return _is_owned(places, instance) or any(_listens(path) or bytes(path) in served for path in sockets)


def clients(places: Folders) -> Iterator[Finding]:
    """`tmux -C` clients whose driver is gone: tmux waits for them, and freezes every pane that they listen to."""
    left = _clients_left(places)
    if left:
        pids = " ".join(map(str, left))
        said = f"{_counted(left, 'process', 'es')} `tmux -C` without a driver ({pids}), which may freeze panes"
        yield warning("clients left", said, f"kill -9 {pids}")
    else:
        yield ok("clients left", "none")


def _clients_left(places: Folders) -> list[int]:
    left = _clients_now(places)
    if not left:
        return []
    time.sleep(_LIVES_ON)
    return [pid for pid in _clients_now(places) if pid in left]


def _clients_now(places: Folders) -> list[int]:
    table = process_table()
    return [pid for pid in table if _is_reaper(table[pid].parent) and _is_client(pid, places.runtime)]


def _is_reaper(pid: int) -> bool:
    """Whether a process is the one that takes in the children of those that have ended."""
    return pid == 1 or read_proc(pid, "comm") == b"systemd\n"


def _is_client(pid: int, runtime: Path) -> bool:
    words = read_proc(pid, "cmdline").split(b"\0")
    return (
        # A server has the arguments of the client that started it; they differ in the name that each gives itself.
        read_proc(pid, "comm") == _CLIENT
        and b"-C" in words
        and any(word.startswith(bytes(runtime) + b"/") and word.endswith(b".sock") for word in words)
    )


def shim_locks(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The lock of `pyenv rehash`, which start-up files run: one that is left holds up each shell for a minute."""
    for variable, folder, lock, program in _SHIMS:
        root = Path(environ.get(variable) or Path(environ.get("HOME") or Path.home(), folder))
        path = root / "shims" / lock
        if not path.exists() or _is_held(path, program):
            continue
        said = f"{path} was left by a {program} that was killed: every shell that runs it waits a minute at its start"
        yield warning("shim lock", said, f"rm {shlex.quote(str(path))}")


def _is_held(path: Path, program: str) -> bool:
    """Whether a process may hold a lock."""
    if _PROC.joinpath("self").exists():
        return any(program.encode() in read_proc(pid, "cmdline") for pid in process_table())
    return time.time() - path.stat().st_mtime < _REHASH_S


def _counted(found: Sequence[object], noun: str, plural: str = "s") -> str:
    return f"{len(found)} {noun}{'' if len(found) == 1 else plural}"


# A line of a report names some; the remedy has all.
_NAMED = 3


def _names(paths: list[Path]) -> str:
    shown = ", ".join(path.name for path in paths[:_NAMED])
    return shown + (f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else "")


# What muxwire needs of the machine: tmux, the directories, room on the disks, the locale, limits of the system.

# For `tmux -V`, which only prints the version.
_SECONDS = 10
_VERSION = re.compile(r"tmux (?:next-)?(\d+)\.(\d+)")

# Faults that a later version has mended, with what they cost until then; docs/protocol.md has all of them.
MENDED: Final = (
    ((3, 6), "capture-pane -p leaks memory in the server, so screens are read through a buffer of muxwire"),
    ((3, 7), "a global window-size and switching output off crash it, so both are refused"),
)

# An ephemeral instance is called `e<pid>-<6 hex>`; process ids have up to seven digits.
_LONGEST_USUAL_NAME = len("e4194304-abcdef")
# The logs of a busy hour; and the bodies of commands, of which each tab has one at a time.
_STATE_BYTES = 200_000_000
_MEMORY_BYTES = 10_000_000
_GROUP_AND_OTHERS = 0o077
# pam_systemd(8).
_RUNTIME_HOMES = Path("/run/user")
_MB = 1_000_000

# An instance needs about twenty, and each tab one or two more (the log, the probe of its terminal).
_FEW_FILES, _NO_FILES = 256, 64
# A tab is a terminal; a person and other programs have some too.
_FEW_TERMINALS = 32
# For a Python that sets the locale and ends.
_LOCALE_SECONDS = 20
_TRY_LOCALE = "import locale; locale.setlocale(locale.LC_ALL, '')"
_UTF8 = ("utf-8", "utf8")

_PIPE_MAX = Path("/proc/sys/fs/pipe-max-size")
_TERMINALS = Path("/proc/sys/kernel/pty")


def tmux(host: Host) -> Finding:
    try:
        path = find_tmux(host)
    except TmuxUnavailable as error:
        return broken("tmux", str(error), error.remedy)
    try:
        answer = subprocess.run([path, "-V"], capture_output=True, text=True, timeout=_SECONDS, check=False, env={})
    except (OSError, subprocess.SubprocessError) as error:
        return broken("tmux", f"{path} -V fails: {error}", how_to_install(host))
    return judged_program(path, answer.stdout.strip() or answer.stderr.strip(), host)


def judged_program(path: str, said: str, host: Host) -> Finding:
    found = _VERSION.match(said)
    if found is None:
        # A build from git calls itself `tmux master`.
        if said.startswith("tmux "):
            return ok("tmux", f"{said} at {path}: newer than every numbered release")
        return broken("tmux", f"{path} -V says {said!r}", how_to_install(host))
    version = (int(found[1]), int(found[2]))
    if version < MINIMUM_VERSION:
        return broken("tmux", f"{said} at {path} is too old", how_to_install(host))
    costs = [f"{fault} (mended in {since[0]}.{since[1]})" for since, fault in MENDED if version < since]
    return ok("tmux", "; ".join((f"{said} at {path}", *costs)))


def servers(places: Folders, host: Host) -> Iterator[Finding]:
    """Servers that were started before tmux was replaced by another version, which cannot talk to them."""
    try:
        installed = find_tmux(host)
    except TmuxUnavailable:
        return  # said already
    for path in sorted(places.runtime.glob("*.sock")):
        own = program_for(host.listening_pid(path), host)
        if own != installed and (version := program_version(own)) != program_version(installed):
            said = f"the server of {path.stem} is tmux {version}, not the one at {installed}; its own program is used"
            yield warning("server version", said, f"muxwire kill --all --name {path.stem}")


def unreachable(places: Folders) -> Iterator[Finding]:
    """Servers of named instances that run and cannot be connected to: their sockets are elsewhere, or were removed."""
    for path in sorted(places.state.glob("*/server")):
        name, (pid, socket) = path.parent.name, named_server(path)
        if places.differs(socket):
            said = f"the server of {name} (process {pid}) listens at {socket}"
            yield warning("server elsewhere", said, how_to_use(Path(socket).parent))
        elif socket and not Path(socket).exists():
            said = f"the socket of {name} was removed while its server (process {pid}) ran"
            yield warning("socket removed", said, f"muxwire ls --name {name} has tmux create it again")


def runtime_variable(environ: Mapping[str, str], homes: Path = _RUNTIME_HOMES) -> Finding:
    """Whether every program of this user looks for instances in the same place; `homes` is where logins make it."""
    given, usual = environ.get("XDG_RUNTIME_DIR", ""), homes / str(os.getuid())
    if given and not (Path(given).is_absolute() and Path(given).is_dir()):
        said = f"XDG_RUNTIME_DIR={given} is not the absolute path of a directory, so another one is used; "
        said += "what was started elsewhere is not seen"
    elif not given and usual.is_dir():
        said = f"XDG_RUNTIME_DIR is not set, and {usual} is there: instances that were started with it are not seen"
    else:
        return ok("XDG_RUNTIME_DIR", given or "not set")
    there = f"export XDG_RUNTIME_DIR={usual}" if usual.is_dir() else "unset XDG_RUNTIME_DIR"
    return warning("XDG_RUNTIME_DIR", said, there)


def directories(places: Folders) -> Iterator[Finding]:
    """Each directory: the user's own, private, writable; or that it can be made."""
    yield directory("runtime directory", places.runtime, "XDG_RUNTIME_DIR")
    if places.memory != places.runtime:
        yield directory("memory directory", places.memory, "XDG_RUNTIME_DIR")
    yield directory("state directory", places.state, "MUXWIRE_STATE_DIR", private=False)


def directory(check: str, path: Path, variable: str, *, private: bool = True) -> Finding:
    """One directory; with `private` its mode is made 0700 at every start, so another mode is only worth a word."""
    elsewhere = f"point {variable} at a directory of your own"
    try:
        found = path.lstat()
    except FileNotFoundError:
        return _to_be_made(check, path, elsewhere)
    except OSError as error:
        return broken(check, f"{path}: {error.strerror}", elsewhere)
    if not stat.S_ISDIR(found.st_mode):
        return broken(check, f"{path} is not a directory (a link is not followed)", f"rm {path}")
    if found.st_uid != os.getuid():
        return broken(check, f"{path} belongs to user {found.st_uid}", elsewhere)
    if not os.access(path, os.W_OK | os.X_OK):
        return broken(check, f"{path} cannot be written to", f"chmod u+rwx {path}, or {elsewhere}")
    if private and found.st_mode & _GROUP_AND_OTHERS:
        mode = stat.S_IMODE(found.st_mode)
        return warning(check, f"{path} is open to others ({mode:04o})", f"chmod {PRIVATE_FOLDER:o} {path}")
    return ok(check, str(path))


def _to_be_made(check: str, path: Path, elsewhere: str) -> Finding:
    parent = next(parent for parent in path.parents if parent.exists())
    if not parent.is_dir():
        return broken(check, f"{path} cannot be made: {parent} is not a directory", elsewhere)
    if not os.access(parent, os.W_OK | os.X_OK):
        return broken(check, f"{path} cannot be made: {parent} cannot be written to", elsewhere)
    return ok(check, f"{path}, which the first start makes")


def socket_path(places: Folders) -> Finding:
    room = SOCKET_PATH_LIMIT - len(os.fsencode(places.runtime)) - len("/.sock")
    if room < _LONGEST_USUAL_NAME:
        said = f"{places.runtime} leaves {max(room, 0)} bytes of a socket's path for the name of an instance"
        return broken("socket path", said, "set XDG_RUNTIME_DIR to a shorter path")
    return ok("socket path", f"a name may have {room} bytes")


def room(places: Folders) -> Iterator[Finding]:
    yield _room("room for logs", places.state, _STATE_BYTES, "make room, or point MUXWIRE_STATE_DIR at another disk")
    yield _room("room for commands", places.memory, _MEMORY_BYTES, "make room, or point XDG_RUNTIME_DIR elsewhere")


def _room(check: str, path: Path, wanted: int, remedy: str) -> Finding:
    where = next((parent for parent in (path, *path.parents) if parent.exists()), path)
    try:
        usage = shutil.disk_usage(where)
    except OSError as error:
        return broken(check, f"{where}: {error.strerror}", remedy)
    said = f"{usage.free / _MB:,.0f} MB free at {where}"
    if usage.free == 0:
        return broken(check, said, remedy)
    return warning(check, said, remedy) if usage.free < wanted else ok(check, said)


def locale(environ: Mapping[str, str]) -> Finding:
    """Whether programs in the panes print UTF-8: tmux passes it on whatever they do, but they follow the locale."""
    # locale(7): the first that is set counts.
    name, value = next(
        ((name, environ[name]) for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), ("LANG", "")
    )
    remedy = f"export {name}=C.UTF-8"
    if not value:
        return warning("locale", "none is set: programs in the panes treat text as ASCII", remedy)
    if not value.lower().endswith(_UTF8):
        return warning("locale", f"{name}={value} is not UTF-8: programs in the panes may print `?`", remedy)
    # -I: what the caller's Python would import must not matter. The variables of the locale count all the same.
    argv = [sys.executable, "-I", "-c", _TRY_LOCALE]
    done = subprocess.run(argv, env=dict(environ), capture_output=True, timeout=_LOCALE_SECONDS, check=False)
    if done.returncode:
        return warning("locale", f"{name}={value} is not installed on this machine", f"{remedy}, or install it")
    return ok("locale", f"{name}={value}")


def open_files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= _FEW_FILES:
        return ok("open files", "unlimited" if soft == resource.RLIM_INFINITY else str(soft))
    said = f"{soft} at most: each tab needs some, in tmux and in muxwire"
    wanted = "1024" if hard == resource.RLIM_INFINITY or hard > soft else "1024 (as root: the hard limit is too low)"
    level = broken if soft < _NO_FILES else warning
    return level("open files", said, f"ulimit -n {wanted}")


def pipe_size(limit: Path = _PIPE_MAX) -> Finding:
    """How much the pipe from tmux holds while we are busy; `limit` is the file in which Linux says."""
    try:
        largest = int(limit.read_text())
    except (OSError, ValueError):
        return ok("pipe size", "the system's own")
    if largest < PIPE_BYTES:
        said = f"{largest} bytes at most; tmux keeps the rest in its memory while muxwire is busy"
        return warning("pipe size", said, f"sysctl -w fs.pipe-max-size={PIPE_BYTES} (as root)")
    return ok("pipe size", f"{PIPE_BYTES} bytes")


def terminals(folder: Path = _TERMINALS) -> Iterator[Finding]:
    """How many pseudo-terminals are left, where the system says (Linux)."""
    try:
        most, used = int((folder / "max").read_text()), int((folder / "nr").read_text())
    except (OSError, ValueError):
        return
    said = f"{used} of {most} pseudo-terminals are in use"
    remedy = f"close some, or sysctl -w kernel.pty.max={most * 2} (as root)"
    if used >= most:
        yield broken("terminals", said, remedy)
    elif most - used < _FEW_TERMINALS:
        yield warning("terminals", said, remedy)
    else:
        yield ok("terminals", said)


# Every shell that is there, tried for real: a tab in an instance of its own, a command, its output, its exit code.
#
# And another machine, in the same way.

SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")
# A shell with a framework of plugins takes a second or two; one that takes longer than this is not in use.
PATIENCE_S = 20.0
# What a person notices at every new tab.
SLOW_S = 3.0
# A command that takes so long on another machine is not worth waiting for.
HOST_SECONDS = 30.0
# Quotes, two lines, no newline at the end, a status: all that a shell without integration gets wrong, in the words of
# every shell.
COMMAND = "printf 'one\\n  \"two\"'; sh -c 'exit 7'"
OUTPUT, STATUS = 'one\n  "two"', 7
_TAIL_BYTES = 2000


@final
@dataclass(frozen=True, slots=True)
class Trial:
    """How one shell did: seconds to its prompt and to the answer, or what went wrong, with the end of its screen."""

    ready: float = 0.0
    failure: str = ""
    screen: str = ""


@asynccontextmanager
async def _instance(environ: Mapping[str, str]) -> AsyncIterator[Terminals]:
    with tempfile.TemporaryDirectory(prefix="muxwire-doctor-", ignore_cleanup_errors=True) as state:
        async with open_terminals(state_dir=state, environ=environ) as terminals:
            yield terminals


async def shells(environ: Mapping[str, str]) -> list[Finding]:
    """Try the user's shell and every other that is known and there; MuxwireError if no instance can be opened."""
    usual = LocalHost(environ).default_shell()
    paths = installed(environ, usual)
    async with _instance(environ) as terminals:
        findings = [judged_shell(path, await tried(terminals, path), usual=path == usual) for path in paths]
    return [*unknown(environ, usual), *findings]


def installed(environ: Mapping[str, str], usual: str) -> list[str]:
    """The shells that are there, the usual one first. /bin may be a link to /usr/bin: each file once."""
    found = [path for name in SHELLS if (path := LocalHost(environ).which(name))]
    once: dict[Path, str] = {}
    for path in (usual, *found):
        once.setdefault(Path(path).resolve(), path)
    return list(once.values())


def unknown(environ: Mapping[str, str], usual: str) -> list[Finding]:
    wanted = environ.get("SHELL", "")
    if wanted and wanted != usual and LocalHost(environ).shell_for(wanted) is None:
        said = f"SHELL={wanted} is not known: tabs get {usual} instead"
        return [warning("shell", said, f"export SHELL={usual}, or give `create_tab` a shell")]
    if wanted and wanted != usual:
        return [warning("shell", f"SHELL={wanted} cannot be run: tabs get {usual} instead", f"export SHELL={usual}")]
    return []


async def tried(terminals: Terminals, path: str) -> Trial:
    """Start one shell and run a command in it; TmuxUnavailable, InstanceUnavailable."""
    began = time.monotonic()
    tab: Tab | None = None
    try:
        with anyio.fail_after(PATIENCE_S):
            tab = await terminals.create_tab(shell=path)
            await tab.execute("true", timeout=PATIENCE_S)  # it is run at the first prompt
            ready = time.monotonic() - began
            result = await tab.execute(COMMAND, timeout=PATIENCE_S)
    except TimeoutError:
        return Trial(failure=f"shows no prompt within {PATIENCE_S:.0f} s", screen=_screen(tab))
    except MuxwireError as error:
        if tab is None:
            raise
        return Trial(failure=str(error), screen=_screen(tab))
    finally:
        if tab is not None:
            await tab.close(force=True)
    if (result.output, result.exit_code) != (OUTPUT, STATUS):
        failure = f"answers {result.output!r} with exit code {result.exit_code} to {COMMAND!r}"
        return Trial(failure=failure, screen=_screen(tab))
    return Trial(ready=ready)


def _screen(tab: Tab | None) -> str:
    """The last line that a shell showed: often it says what it waits for."""
    if tab is None:
        return ""
    ring = tab.pane.stream.ring
    text = strip_ansi(undo_onlcr(ring.read(ring.end - _TAIL_BYTES)).decode("utf-8", "replace"))
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def judged_shell(path: str, trial: Trial, *, usual: bool) -> Finding:
    """What a trial means; the shell that tabs get unasked has to work."""
    check = f"shell {Path(path).name}"
    mine = " (the one that tabs get)" if usual else ""
    by_hand = f"check its start-up files; compare with `HOME=$(mktemp -d) {path} -i`"
    if trial.failure:
        last = f"; its last line: {trial.screen!r}" if trial.screen else ""
        return (broken if usual else warning)(check, f"{path}{mine} {trial.failure}{last}", by_hand)
    if trial.ready > SLOW_S:
        return warning(check, f"{path}{mine} takes {trial.ready:.1f} s to its prompt", by_hand)
    return ok(check, f"{path}{mine}: output and exit code are exact, prompt after {trial.ready:.2f} s")


async def examine_host(environ: Mapping[str, str], name: str) -> Finding:
    """Open a tab on that host, run a command and leave nothing there."""
    check = f"host {name}"
    try:
        async with _instance(environ) as terminals:
            begun = time.monotonic()
            tab = await terminals.create_tab(host=name)
            opened = time.monotonic() - begun
            done = await tab.execute(COMMAND, timeout=HOST_SECONDS)
            (row,) = (await terminals.list_tabs()).tabs
        if (done.output, done.exit_code) != (OUTPUT, STATUS):
            return broken(check, f"a command gave {done.output!r} and {done.exit_code}", "check its shell there")
        shell = tab.pane.shell.name if tab.pane.shell is not None else "a shell that is not known"
        return ok(check, f"{shell}, exact; open in {opened:.1f} s, round trip {row.rtt_ms:.0f} ms")
    except HostUnavailable as error:
        return broken(check, f"{error.stage}: {error.reason}", error.remedy)
    except MuxwireError as error:
        return broken(check, str(error), error.remedy or "try it in a terminal")


# All checks in order; what one of them cannot examine is a finding too.

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Check = Callable[[], Finding | Iterable[Finding]]

# Any name does: it is that of no directory that is examined.
_INSTANCE = "doctor"


async def examine(environ: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """Examine everything, and try every shell if nothing is broken that they need. Nothing is changed."""
    environ = dict(os.environ if environ is None else environ)
    findings = [finding for name, check in _checks(environ).items() for finding in outcome(name, check)]
    if any(finding.level == "broken" for finding in findings):
        findings.append(ok("shells", "not tried: mend what is broken above first"))
        return tuple(findings)
    try:
        findings += await shells(environ)
    except MuxwireError as error:
        findings.append(broken("trial", str(error), error.remedy or "mend what the message names"))
    return tuple(findings)


def _checks(environ: Mapping[str, str]) -> dict[str, Check]:
    where, host = folders_for(_INSTANCE, environ), LocalHost(environ)
    return {
        "tmux": lambda: tmux(host),
        "XDG_RUNTIME_DIR": lambda: runtime_variable(environ),
        "directories": lambda: directories(where),
        "socket path": lambda: socket_path(where),
        "room": lambda: room(where),
        "locale": lambda: locale(environ),
        "open files": open_files,
        "pipe size": pipe_size,
        "terminals": terminals,
        "server version": lambda: servers(where, host),
        "servers elsewhere": lambda: unreachable(where),
        "sockets": lambda: sockets(where),
        "directories left": lambda: folders(where),
        "clients left": lambda: clients(where),
        "shim lock": lambda: shim_locks(environ),
    }


def outcome(name: str, check: Check) -> list[Finding]:
    """What a check found, or that the system did not let it look."""
    try:
        found = check()
        return [found] if isinstance(found, Finding) else list(found)
    except OSError as error:
        said = f"could not be checked: {error.filename or ''} {error.strerror or error}".replace("  ", " ")
        return [broken(name, said, "correct the permissions of the file that is named")]
