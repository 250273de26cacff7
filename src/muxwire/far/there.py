"""A server of an instance on another machine, for a verb that has no need to open the instance.

Tabs on another machine belong to the process that opened them. Here the tmux there is asked over a further connection,
or shown in this terminal.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.errors import InstanceUnavailable, InvalidArgument
from muxwire.far.hosts_file import read_hosts
from muxwire.far.links import links
from muxwire.host.folders import folders_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.far.carriers import Carrier
    from muxwire.host.elsewhere import Linked

# A cold handshake over a slow link takes seconds; a person waits for no longer at a prompt.
_HANDSHAKE_SECONDS = 30
# What the name of a server's directory may hold, since it becomes part of a script.
_DIRECTORY = re.compile(r"[A-Za-z0-9._@-]+\Z")
_IN_ITS_DIRECTORY = (
    "PATH=${PATH:-/usr/bin:/bin}:/usr/local/bin; d=${TMPDIR:-/tmp}/muxwire-$(id -u)/%s; "
    't=tmux; [ ! -r "$d/program" ] || read -r t <"$d/program"; '
)


@final
@dataclass(frozen=True, slots=True)
class There:
    """A server on another machine, what reaches it, and the environment for that."""

    host: str
    carrier: Carrier
    server: Linked
    environ: Mapping[str, str]

    def listed(self, lists: Mapping[str, str]) -> dict[str, list[str]]:
        """The rows of its windows, as tmux prints them for each of these formats; InstanceUnavailable."""
        begin = f"muxwire:{os.urandom(8).hex()}"
        asked = " \\; ".join(f'list-windows -a -F "{kind} {what}"' for kind, what in lists.items())
        script = _IN_ITS_DIRECTORY % self.server.name + f'echo {begin}; exec "$t" -u -S "$d/s" {asked}\n'
        try:
            done = subprocess.run(
                self.carrier.command, input=script.replace("\\", "\\\\"), capture_output=True, text=True,
                errors="replace", timeout=_HANDSHAKE_SECONDS, check=False, env=dict(self.environ),
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self._unavailable(str(error)) from error
        _, began, said = done.stdout.partition(begin + "\n")
        if not began or done.returncode:
            last = (done.stderr.strip().splitlines() or ["the program that reaches it ended without a message"])[-1]
            raise self._unavailable(last)
        rows: dict[str, list[str]] = {kind: [] for kind in lists}
        for line in said.splitlines():
            kind, _, rest = line.partition(" ")
            rows.setdefault(kind, []).append(rest)
        return rows

    def shown(self, arguments: str) -> list[str]:
        """The words that run tmux there at this terminal; its arguments hold no single quote."""
        term = self.environ.get("TERM", "")
        known = term if _DIRECTORY.match(term) else "xterm"
        script = f'{_IN_ITS_DIRECTORY % self.server.name}TERM=${{TERM:-{known}}}; export TERM; exec "$t" -u -S "$d/s" '
        return list(self.carrier.at_terminal(script + arguments))

    def _unavailable(self, reason: str) -> InstanceUnavailable:
        remedy = f"muxwire doctor --host {self.host} says what is in the way"
        return InstanceUnavailable(f"{self.host}: {reason}", remedy=remedy)


def server_on(host: str, instance: str, environ: Mapping[str, str]) -> There:
    """The server of an instance on a host, or of the only one there; HostUnavailable, InstanceUnavailable,
    InvalidArgument.
    """
    carrier = read_hosts(environ).carrier(host)
    known = [one for one in links(folders_for("main", environ).state, "*") if one.host == host]
    meant = [one for one in known if _DIRECTORY.match(one.name) and instance in ("", one.instance)]
    if not meant:
        of = f"the instance {instance}" if instance else "no instance"
        raise InstanceUnavailable(
            f"{of} has {'no ' if instance else ''}tabs on {host}",
            remedy=f"muxwire new --host {host} opens one",
        )
    driven = {one.instance for one in meant if one.driven}
    if len(driven) > 1:
        raise InvalidArgument(
            f"several instances have tabs on {host}: {', '.join(sorted(driven))}", remedy="choose one with --name NAME"
        )
    return There(host, carrier, max(meant, key=lambda one: one.driven), environ)
