"""Showing a person the tabs that an instance has on another machine.

They belong to the process that opened them. A further connection runs tmux there, at this terminal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muxwire.errors import InstanceUnavailable, InvalidArgument
from muxwire.far.hosts_file import read_hosts
from muxwire.far.links import links
from muxwire.host.folders import folders_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What the name of a server's directory may hold, since it becomes part of a script.
_DIRECTORY = re.compile(r"[A-Za-z0-9._@-]+\Z")
# The terminal's name is known there only if its entry is installed there, which tmux says before it does anything else.
_IN_ITS_DIRECTORY = (
    "PATH=${PATH:-/usr/bin:/bin}:/usr/local/bin; d=${TMPDIR:-/tmp}/muxwire-$(id -u)/%s; "
    't=tmux; [ ! -r "$d/program" ] || read -r t <"$d/program"; '
    'TERM=${TERM:-%s}; export TERM; "$t" -S "$d/s" has-session -t =hub 2>/dev/null || TERM=xterm-256color; '
    'exec "$t" -u -S "$d/s" '
)


def words_on(host: str, instance: str, environ: Mapping[str, str], tmux: Sequence[str]) -> list[str]:
    """The words that run tmux at this terminal, for an instance on a host, or for the only one there.

    No word of `tmux` holds a single quote. HostUnavailable, InstanceUnavailable, InvalidArgument.
    """
    carrier = read_hosts(environ).carrier(host)
    known = [one for one in links(folders_for("main", environ).state, "*") if one.host == host]
    meant = [one for one in known if _DIRECTORY.match(one.name) and instance in ("", one.instance)]
    if not meant:
        raise InstanceUnavailable(
            f"the instance {instance} has no tabs on {host}", remedy=f"muxwire new --host {host} opens one"
        )
    driven = {one.instance for one in meant if one.driven}
    if len(driven) > 1:
        raise InvalidArgument(
            f"several instances have tabs on {host}: {', '.join(sorted(driven))}", remedy="choose one with --name NAME"
        )
    newest = max(meant, key=lambda one: one.driven)
    term = environ.get("TERM", "")
    script = _IN_ITS_DIRECTORY % (newest.name, term if _DIRECTORY.match(term) else "xterm")
    quoted = ('"{}"'.format(word.replace('"', '\\"')) for word in tmux)
    return list(carrier.at_terminal(script + " ".join(quoted)))
