"""How another machine is reached: a program that gives a stream to a `sh` there, or a stream of the caller's own.

A program is given as its words, or as several lists of words where one leads to the next:

    Carrier(["docker", "exec", "-i", "c1"], user="app", cwd="/srv")
    Carrier([["ssh", "box"], ["docker", "exec", "-i", "c1"]])

Programs such as ssh join the words that follow them, and a login shell there reads the text. So what comes after such a
list is quoted once more, as one word.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import checked_environment

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

# Seconds for which the programs on a machine live on without a connection.
KEEP_SECONDS = 600
# Bytes of each pane's output that a machine keeps for the time when the connection is lost.
SPOOL_BYTES = 64 << 20

# One line is read byte by byte, as POSIX asks of `read`, so that what follows it is left for tmux.
STAGE_1 = 'IFS= read -r x; eval "$(printf %b "$x")"'
# Programs whose words are joined and read by a login shell at the other end.
_JOINING = ("ssh", "autossh", "sshpass")
# Engines whose `exec` gives a terminal with -t, and none without.
_ENGINES = ("docker", "podman", "nerdctl", "kubectl", "oc")
# Those whose `exec` has an option for the user.
_WITH_USER = ("docker", "podman", "nerdctl")
# What su and the engines take as a user, and not as an option: a name or a number, for an engine also with a group.
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*)?\Z")


class Stream(Protocol):
    """A connection to the standard input and output of a program elsewhere. `aclose`, if it has that, ends it."""

    async def send(self, data: bytes, /) -> None:
        """Send all of it."""

    async def receive(self) -> bytes:
        """Return what has come, waiting for some; b"" or anyio.EndOfStream at the end."""


Connect: TypeAlias = "Callable[[tuple[str, ...]], Awaitable[Stream]]"


@final
@dataclass(frozen=True, slots=True)
class Carrier:
    """The way to one machine.

    `argv` is the argv of a program, or a list of such argvs: each program starts the next one (see the module). Instead
    of `argv`, a program may pass `connect`, a coroutine function. It is called with an argv, starts it on the machine
    and returns a stream to its standard input and output: an object with `async send(data)` and `async receive()`. It
    is called again after each lost connection.

    `user` is who the tabs belong to there: by `--user` of docker, podman and nerdctl, else by `su`, which only root may
    use without a password. `env` are variables of every tab there. `cwd` is the directory in which tabs begin: by
    default the one in which the engine's `exec` begins in a container, elsewhere the user's home.

    `login_shell` says whether the last program joins its words for a shell, as ssh does; None: it does if it is ssh.
    `keep` is for how many seconds programs there live on without a connection, `spool` how many bytes of each pane's
    output are kept there for one that is lost.

    Raises: InvalidArgument.
    """

    argv: Sequence[str] | Sequence[Sequence[str]] = ()
    user: str = field(default="", kw_only=True)
    env: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    cwd: str = field(default="", kw_only=True)
    login_shell: bool | None = field(default=None, kw_only=True)
    keep: int = field(default=KEEP_SECONDS, kw_only=True)
    spool: int = field(default=SPOOL_BYTES, kw_only=True)
    connect: Connect | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check what was given."""
        if bool(self.argv) == (self.connect is not None):
            raise InvalidArgument(
                "a carrier needs either argv or connect", remedy='for example Carrier(["docker", "exec", "-i", "c1"])'
            )
        if isinstance(self.argv, str) or any(not hop or "\0" in "".join(hop) for hop in self.hops):
            raise InvalidArgument(
                "the words of a carrier must be a list of strings, or a list of such lists, and none of them empty",
                remedy='for example [["ssh", "box"], ["docker", "exec", "-i", "c1"]]',
            )
        if self.user and _USER.match(self.user) is None:
            raise InvalidArgument(f"{self.user!r} cannot be a user", remedy="give a name or a number")
        if "\0" in self.cwd or "\n" in self.cwd:
            raise InvalidArgument("cwd contains a NUL byte or a line end", remedy="leave it out")
        checked_environment(self.env)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """As it travels to the process that owns an instance; Python 3.11.2 takes no `__getstate__` of a dataclass."""
        if self.connect is not None:
            raise InvalidArgument(
                "a Carrier with connect needs the program that made it, and the instance is in its owner's process",
                remedy="give the way to the machine as argv, or open an instance without a name",
            )
        return object.__reduce_ex__(self, protocol)

    @property
    def hops(self) -> tuple[tuple[str, ...], ...]:
        """The programs, each of which starts the next."""
        if not self.argv or isinstance(self.argv[0], str):
            return (tuple(map(str, self.argv)),) if self.argv else ()
        return tuple(tuple(hop) for hop in self.argv)

    @property
    def enters_container(self) -> bool:
        """Whether its last program is an engine's `exec`, which begins in the directory of the container's image."""
        return bool(self.hops) and _engine_at(self.hops[-1], _ENGINES) is not None

    @property
    def command(self) -> tuple[str, ...]:
        """The whole argv: it starts a `sh` there that reads a line and evaluates it."""
        return self._running(STAGE_1, self.hops)

    def at_terminal(self, line: str) -> tuple[str, ...]:
        """The argv that runs a line of sh there, at the terminal of its caller; () if only a stream leads there."""
        return self._running(line, tuple(map(_with_terminal, self.hops))) if self.hops else ()

    def _running(self, line: str, hops: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
        words: tuple[str, ...] = ("sh", "-c", line)
        for number, given in enumerate(reversed(hops)):
            hop, joins = given, any(PurePath(word).name in _JOINING for word in given)
            if number == 0:
                joins = joins if self.login_shell is None else self.login_shell
                hop, words = self._for_user(hop, words)
            words = (*hop, f"exec {shlex.join(words)}") if joins else (*hop, *words)
        return words if hops else self._for_user((), words)[1]

    def _for_user(self, hop: tuple[str, ...], words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The last program and what it starts, as that user."""
        if not self.user:
            return hop, words
        at = _engine_at(hop, _WITH_USER)
        if at is not None:
            return (*hop[: at + 1], f"--user={self.user}", *hop[at + 1 :]), words
        return hop, ("su", "-s", "/bin/sh", "-c", f"exec {shlex.join(words)}", self.user)


def _engine_at(hop: Sequence[str], engines: Sequence[str]) -> int | None:
    """Where the word `exec` of an engine is among these; None if none is there."""
    names = [PurePath(word).name for word in hop]
    begin = next((at for at, name in enumerate(names) if name in engines), len(hop))
    return hop.index("exec", begin) if "exec" in hop[begin:] else None


def _with_terminal(hop: tuple[str, ...]) -> tuple[str, ...]:
    """The same program with a terminal at its other end."""
    words = list(hop)
    for at, word in enumerate(words):
        if PurePath(word).name == "ssh":
            return (*words[: at + 1], "-t", *(one for one in words[at + 1 :] if one != "-T"))
        if PurePath(word).name in _ENGINES and "-i" in words[at:]:
            words[words.index("-i", at)] = "-it"
            break
    return tuple(words)
