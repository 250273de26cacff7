"""Which tmux servers of an instance run on other machines: a small file next to the logs of each.

It holds the name of the host, the server's directory there, and the process that drives it. By it the next process of
a named instance finds its tabs again, and so does a person who wants to see them.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from muxwire.host.elsewhere import Linked
from muxwire.host.folders import replace_private
from muxwire.host.locks import named_process
from muxwire.host.processes import started
from muxwire.shell.quoting import os_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FILE = "link"
_ENDED = "ended"


def note_link(logs: Path, host: str, name: str, client: str, cwd: str) -> None:
    """Note in the server's `logs` that this process drives it, in which directory `name`; and `client` and `cwd`."""
    before = link_in(logs)
    began = before.began if before is not None and before.name == name else None
    noted = {"host": host, "directory": name, **named_process(os.getpid()), "client": client, "cwd": cwd}
    replace_private(logs / _FILE, json.dumps({**noted, "began": began or time.time()}).encode())
    (logs / _ENDED).unlink(missing_ok=True)


def forget_link(logs: Path, why: str = "") -> None:
    """Remove the note: the server has ended. `why` is kept for later processes, until there is another server."""
    (logs / _FILE).unlink(missing_ok=True)
    with suppress(OSError):
        if why:
            replace_private(logs / _ENDED, os_bytes(why))
        else:
            (logs / _ENDED).unlink(missing_ok=True)


def why_ended(logs: Path) -> str:
    """Why the server whose logs are there has ended; "" where that is not known, or another one was used since."""
    try:
        return (logs / _ENDED).read_text(errors="replace")
    except OSError:
        return ""


def link_in(logs: Path) -> Linked | None:
    """The server whose logs are there, if it was not ended."""
    return next(iter(_read([logs / _FILE])), None)


def links(state: Path, instance: str) -> list[Linked]:
    """The servers on other machines of that instance (`*`: of each) with that state directory."""
    return _read(state.glob(f"{instance}/hosts/*/{_FILE}"))


def _read(paths: Iterable[Path]) -> list[Linked]:
    found = []
    for path in paths:
        with suppress(OSError, ValueError, KeyError, TypeError):  # gone meanwhile, or not of our making
            said = json.loads(path.read_bytes())
            host, name, driver = str(said["host"]), str(said["directory"]), started(int(said["pid"]))
            began = float(said["began"]) if "began" in said else None
            client, cwd = str(said.get("client", "")), str(said.get("cwd", ""))
            # An older muxwire noted the driver's pid alone.
            driven = driver != "" and said.get("started", driver) == driver
            found.append(Linked(host, name, path.parents[2].name, driven, client, cwd, began))
    return found
