"""All checks in order; what one of them cannot examine is a finding too."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from muxwire.errors import MuxwireError
from muxwire.host.folders import folders_for
from muxwire.host.local import LocalHost
from muxwire.library.doctor import Finding, broken, leftovers, machine, ok, trials

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
        findings.append(ok("shells", "not tried: what is broken above comes first"))
        return tuple(findings)
    try:
        findings += await trials.shells(environ)
    except MuxwireError as error:
        findings.append(broken("trial", str(error), error.remedy or "mend what the message names"))
    return tuple(findings)


def _checks(environ: Mapping[str, str]) -> dict[str, Check]:
    where, host = folders_for(_INSTANCE, environ), LocalHost(environ)
    return {
        "tmux": lambda: machine.tmux(host),
        "XDG_RUNTIME_DIR": lambda: machine.runtime_variable(environ),
        "directories": lambda: machine.directories(where),
        "socket path": lambda: machine.socket_path(where),
        "room": lambda: machine.room(where),
        "locale": lambda: machine.locale(environ),
        "open files": machine.open_files,
        "pipe size": machine.pipe_size,
        "terminals": machine.terminals,
        "server version": lambda: machine.servers(where, host),
        "servers elsewhere": lambda: machine.unreachable(where),
        "sockets": lambda: leftovers.sockets(where),
        "directories left": lambda: leftovers.folders(where),
        "clients left": lambda: leftovers.clients(where),
        "shim lock": lambda: leftovers.shim_locks(environ),
    }


def outcome(name: str, check: Check) -> list[Finding]:
    """What a check found, or that the system did not let it look."""
    try:
        found = check()
        return [found] if isinstance(found, Finding) else list(found)
    except OSError as error:
        said = f"could not be checked: {error.filename or ''} {error.strerror or error}".replace("  ", " ")
        return [broken(name, said, "see to the permissions of what is named")]
