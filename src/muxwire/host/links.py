"""Which tmux servers of ours run on other machines: a small file beside the logs of each, for whoever wants to look.

It holds the name of the host and who drives the server; where that is follows from the name of the logs' directory.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, final

from muxwire.host.folders import replace_private
from muxwire.host.processes import started
from muxwire.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

_FILE = "link"


@final
@dataclass(frozen=True, slots=True)
class Linked:
    """A server on a host: the name of its directory there, the instance that it belongs to, whether that still runs."""

    host: str
    name: str
    instance: str
    driven: bool


def note_link(logs: Path, host: str) -> None:
    """We drive a server on that host, whose logs are in this directory; OSError."""
    replace_private(logs / _FILE, json.dumps({"host": host, "pid": os.getpid()}).encode())


def forget_link(logs: Path) -> None:
    """It was ended."""
    (logs / _FILE).unlink(missing_ok=True)


def links_to(host: str, state: Path) -> list[Linked]:
    """The servers on that host of every instance with that state directory; first those that are still driven."""
    found = []
    for path in state.glob(f"*/hosts/*/{_FILE}"):
        with suppress(OSError, ValueError, KeyError, TypeError):  # gone meanwhile, or not of our making
            said = json.loads(path.read_bytes())
            if said["host"] == host:
                found.append(Linked(host, path.parent.name, path.parents[2].name, bool(started(int(said["pid"])))))
    return sorted(found, key=lambda one: not one.driven)
