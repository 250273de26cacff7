"""Which tmux servers of ours run on other machines: a small file beside the logs of each.

It holds the name of the host, the server's directory there, and who drives it. By it the next process of a named
instance finds its tabs again, and whoever wants to look at them.
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
    from collections.abc import Iterable
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


def note_link(logs: Path, host: str, name: str) -> None:
    """We drive the server of that directory on a host, whose logs are in `logs`; OSError."""
    replace_private(logs / _FILE, json.dumps({"host": host, "directory": name, "pid": os.getpid()}).encode())


def forget_link(logs: Path) -> None:
    """It was ended."""
    (logs / _FILE).unlink(missing_ok=True)


def link_in(logs: Path) -> Linked | None:
    """The server whose logs are there, if it was not ended."""
    return next(iter(_read([logs / _FILE])), None)


def links_of(instance: Path) -> list[Linked]:
    """The servers on other machines of the instance with that state directory."""
    return _read(instance.glob(f"hosts/*/{_FILE}"))


def all_links(state: Path) -> list[Linked]:
    """The servers on other machines of every instance with that state directory."""
    return _read(state.glob(f"*/hosts/*/{_FILE}"))


def links_to(host: str, state: Path) -> list[Linked]:
    """The servers on that host of every instance with that state directory; first those that are still driven."""
    found = [one for one in all_links(state) if one.host == host]
    return sorted(found, key=lambda one: not one.driven)


def _read(paths: Iterable[Path]) -> list[Linked]:
    found = []
    for path in paths:
        with suppress(OSError, ValueError, KeyError, TypeError):  # gone meanwhile, or not of our making
            said = json.loads(path.read_bytes())
            host, name, driver = str(said["host"]), str(said["directory"]), int(said["pid"])
            found.append(Linked(host, name, path.parents[2].name, bool(started(driver))))
    return found
