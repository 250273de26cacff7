"""Which instances of this user run now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.host.folders import folders_for
from muxwire.host.local import LocalHost
from muxwire.tmux.program import server_runs

if TYPE_CHECKING:
    from collections.abc import Mapping

_SOCKET = ".sock"


def running_instances(environ: Mapping[str, str]) -> list[str]:
    """The names of the instances whose tmux server runs, in the runtime folder of this environment, sorted."""
    runtime, host = folders_for("", environ).runtime, LocalHost(environ)
    try:
        sockets = sorted(path for path in runtime.iterdir() if path.suffix == _SOCKET)
    except OSError:
        return []
    return [path.stem for path in sockets if server_runs(host, path)]
