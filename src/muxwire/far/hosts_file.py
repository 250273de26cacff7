"""Which other machines may be used, and by which program each is reached: `hosts.toml`, which a person writes.

    allow = ["web-*", "me@build-?", "docker:*"]    # names of ssh_config, containers, pods; nothing listed: none
    [hosts.job]
    via = ["srun", "--jobid=42", "--overlap"]
    [hosts.web-1]    # a name of ssh_config, for which something else holds
    keep = "24h"
    [hosts.job-there]
    via = [["ssh", "box"], ["docker", "exec", "-i", "c1"]]    # each is quoted for the shell before it
    [hosts."docker:c1"]
    user = "app"

A container is `docker:NAME` or `podman:NAME`, a pod `k8s:NAMESPACE/POD`, `k8s:NAMESPACE/POD/CONTAINER` or
`k8s:CONTEXT/NAMESPACE/POD/CONTAINER`.

The names of `[hosts]` are allowed because they are written there. A name is data: what no such name can hold is
refused, and no shell of this machine sees it.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, final

from muxwire.errors import HostUnavailable, InvalidArgument
from muxwire.far.carriers import KEEP_SECONDS, SPOOL_BYTES, Carrier
from muxwire.verbs.types import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping


# RFC 1035: a host name has 253 characters at most; before it a user's name and `@`.
_NAME_MAX = 300
_WORD = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_NAME = re.compile(rf"(?:{_WORD}@)?{_WORD}\Z")
# What each engine allows in a name, so that a name is never read as an option or as two arguments.
_CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")
_POD = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\Z")
_CONTEXT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:@-]*\Z")
_TIME = re.compile(r"([0-9]{1,6})([smhd])\Z")
_SIZE = re.compile(r"([0-9]{1,6})([KMG])\Z")
_BYTES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SHOWN_MAX = 60

# Context, namespace, pod and container.
_POD_WORDS = 4

# No password and no question: no person is there to answer. `--` ends the options, whatever the name is.
_SSH = ("ssh", "-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes")


@final
@dataclass(frozen=True, slots=True)
class HostsFile:
    """What the file says; `fault` is why it cannot be used, "" if it can."""

    path: Path
    allow: tuple[str, ...] = ()
    hosts: Mapping[str, Carrier] = field(default_factory=dict)
    fault: str = ""

    def carrier(self, name: str) -> Carrier:
        """The way to a host; HostUnavailable (`not_allowed`) unless the person has allowed it."""
        if self.fault:
            raise _refused(name, f"{self.path}: {self.fault}", "mend that file, and start muxwire again")
        if (found := self.hosts.get(name)) is not None:
            return found
        argv = host_argv(name)
        if not argv:
            raise _refused(name, "that cannot be the name of a host", "use a name of ssh_config, or user@name")
        if not any(_allows(pattern, name) for pattern in self.allow):
            raise _refused(
                name,
                f"it is not in {self.path}",
                f"the person may add it to `allow`, or a table for it, in {self.path}",
            )
        return Carrier(argv)


def checked_host_name(name: str) -> str:
    """Return a name that a program gives a machine; InvalidArgument if it could be taken for something else."""
    if len(name) > _NAME_MAX or not (host_argv(name) if ":" in name else _NAME.match(name) and not name.isdigit()):
        raise InvalidArgument(
            f"{name[:_SHOWN_MAX]!r} cannot be the name of a host",
            remedy="use letters, digits, '.', '_' and '-', or what hosts.toml takes, as docker:NAME",
        )
    return name


def host_argv(name: str) -> tuple[str, ...]:
    """What reaches the machine that a name of `allow` means; () for what is no such name."""
    if len(name) > _NAME_MAX:
        return ()
    engine, colon, _ = name.partition(":")
    return _inside(engine, name) if colon else _ssh(name)


def _allows(pattern: str, name: str) -> bool:
    """Whether a pattern is of the same kind, as many words between `/`, and matches word by word."""
    words, wanted = name.split("/"), pattern.split("/")
    same = words[0].rpartition(":")[0] == wanted[0].rpartition(":")[0] and len(words) == len(wanted)
    return same and all(map(fnmatchcase, words, wanted))


def _ssh(name: str) -> tuple[str, ...]:
    return (*_SSH, "--", name) if _NAME.match(name) and not name.isdigit() else ()


def _inside(engine: str, name: str) -> tuple[str, ...]:
    """What reaches a container or a pod, up to the program that it is to start there; () for what is no name."""
    words = name.removeprefix(f"{engine}:").split("/")
    if engine in ("docker", "podman") and len(words) == 1 and _CONTAINER.match(words[0]):
        return (engine, "exec", "-i", words[0])
    if engine != "k8s" or not 2 <= len(words) <= _POD_WORDS:
        return ()
    context = [words.pop(0)] if len(words) == _POD_WORDS else []
    if not all(map(_POD.match, words)) or not all(map(_CONTEXT.match, context)):
        return ()
    namespace, pod, *container = words
    options = [f"--context={word}" for word in context] + [f"--container={word}" for word in container]
    return ("kubectl", "exec", "-i", f"--namespace={namespace}", *options, pod, "--")


def _refused(name: str, reason: str, remedy: str) -> HostUnavailable:
    shown = name if len(name) <= _SHOWN_MAX else name[:_SHOWN_MAX] + "..."
    return HostUnavailable(shown, "not_allowed", reason, remedy=remedy)


def hosts_path(environ: Mapping[str, str]) -> Path:
    """`$MUXWIRE_HOSTS`, else `muxwire/hosts.toml` in the configuration directory."""
    if given := environ.get("MUXWIRE_HOSTS"):
        return Path(given)
    home = Path(environ.get("HOME") or Path.home())
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "muxwire" / "hosts.toml"


def read_hosts(environ: Mapping[str, str]) -> HostsFile:
    """Read the file; one that is not there allows nothing. Never an exception: a fault shows when a host is asked."""
    path = hosts_path(environ)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno())
            if mode.st_uid not in (0, os.getuid()) or mode.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return HostsFile(path, fault="other users can write it")
            import tomllib  # late: most people have no such file

            document = tomllib.load(file)
        return _parsed(path, document)
    except FileNotFoundError:
        return HostsFile(path)
    except OSError as error:
        return HostsFile(path, fault=error.strerror or str(error))
    except (TypeError, ValueError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        return HostsFile(path, fault=str(error))


def _parsed(path: Path, document: Mapping[str, object]) -> HostsFile:
    _known(document, ("allow", "hosts"), "the file")
    hosts = document.get("hosts", {})
    if not isinstance(hosts, dict):
        raise TypeError("`hosts` must be tables: [hosts.NAME]")
    return HostsFile(
        path,
        tuple(_words(document.get("allow", []), "allow")),
        {name: _entry(name, row) for name, row in hosts.items()},
    )


def _entry(name: str, row: object) -> Carrier:
    if not isinstance(row, dict):
        raise TypeError(f"hosts.{name} must be a table")
    _known(row, ("via", "login_shell", "user", "env", "cwd", "keep", "spool"), f"hosts.{name}")
    argv = host_argv(name)
    if not argv:
        raise ValueError(f"{name!r} cannot be the name of a host: use letters, digits, '.', '_' and '-'")
    via = _via(row.get("via", list(argv)), f"hosts.{name}.via")
    if not via:
        raise ValueError(f"hosts.{name} needs `via`, the words of a command")
    joins = row.get("login_shell")
    if not isinstance(joins, bool | None):
        raise TypeError(f"hosts.{name}.login_shell must be true or false")
    env = row.get("env", {})
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        raise TypeError(f"hosts.{name}.env must be a table of strings")
    try:
        return Carrier(
            via,
            user=_text(row.get("user", ""), f"hosts.{name}.user"),
            env=env,
            cwd=_text(row.get("cwd", ""), f"hosts.{name}.cwd"),
            login_shell=joins,
            keep=_seconds(row.get("keep", KEEP_SECONDS), f"hosts.{name}.keep"),
            spool=_size(row.get("spool", SPOOL_BYTES), f"hosts.{name}.spool"),
        )
    except InvalidArgument as error:
        raise ValueError(f"hosts.{name}: {error}") from error


def _via(value: object, where: str) -> list[str] | list[list[str]]:
    """The words of a command, or a list of such lists."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return [_words(hop, where) for hop in value]
    return _words(value, where)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{where} must be a string")
    return value


def _known(row: Mapping[str, object], keys: tuple[str, ...], where: str) -> None:
    if strange := set(row) - set(keys):
        raise ValueError(f"{where} has unknown keys: {', '.join(sorted(strange))}; it takes {', '.join(keys)}")


def _words(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) and "\0" not in word for word in value):
        raise TypeError(f"{where} must be a list of strings")
    return value


def _seconds(value: object, where: str) -> int:
    found = _TIME.match(value) if isinstance(value, str) else None
    if found is not None:
        return int(found[1]) * UNITS[found[2]]
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f'{where} must be a time, as "90s", "10m", "24h" or "7d"')


def _size(value: object, where: str) -> int:
    found = _SIZE.match(value) if isinstance(value, str) else None
    if found is not None:
        return int(found[1]) * _BYTES[found[2]]
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise ValueError(f'{where} must be a size, as "512K", "64M" or "1G"')
