"""What is wrong with this machine, as far as muxwire needs it: small checks, each with its remedy.

1. What muxwire needs of the machine (machine.py), and what instances that have ended left behind (leftovers.py).
2. If nothing of that is broken, every installed shell is tried in an instance of its own (shells.py).
3. Nothing is changed; each fault has a remedy, which is a command where one does it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from muxwire.errors import MuxwireError
from muxwire.host.folders import folders_for
from muxwire.host.local import LocalHost
from muxwire.library.doctor import leftovers, machine, shells
from muxwire.library.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Check = Callable[[], Finding | Iterable[Finding]]


async def examine(environ: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """Examine everything, and try every shell if nothing is broken that they need. Nothing is changed."""
    environ = dict(os.environ if environ is None else environ)
    places = folders_for("doctor", environ)  # any name does: nothing of that instance is examined
    checks: dict[str, Check] = {
        "tmux": lambda: machine.tmux(LocalHost(environ)),
        "state directory": lambda: machine.state_directory(places),
        "locale": lambda: machine.locale(environ),
        "servers elsewhere": lambda: machine.servers_elsewhere(places),
        "owner": lambda: machine.owners(places),
        "leftovers": lambda: leftovers.leftovers(places),
    }
    findings = [finding for name, check in checks.items() for finding in outcome(name, check)]
    if any(finding.level == "broken" for finding in findings):
        return (*findings, Finding("shells", "ok", "not tried: mend what is broken above first"))
    try:
        return (*findings, *await shells.every_shell(environ))
    except MuxwireError as error:
        return (*findings, Finding("trial", "broken", str(error), error.remedy or "mend what the message names"))


def outcome(name: str, check: Check) -> list[Finding]:
    """What a check found, or that it could not look."""
    try:
        found = check()
        return [found] if isinstance(found, Finding) else list(found)
    except MuxwireError as error:
        return [Finding(name, "broken", str(error), error.remedy)]
    except OSError as error:
        message = f"could not be checked: {error.filename or ''} {error.strerror or error}".replace("  ", " ")
        return [Finding(name, "broken", message, "correct the permissions of the file that is named")]
