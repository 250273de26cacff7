"""Other machines, as far as the rest of muxwire knows of them: by name, the package `muxwire.far`, if it is there.

Nothing imports that package. What is needed of it is looked for here when it is needed, so all that happens on this
machine happens without it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, final

from muxwire.errors import HostUnavailable

if TYPE_CHECKING:
    from pathlib import Path

_FAR = "muxwire.far"


@final
@dataclass(frozen=True, slots=True)
class Linked:
    """A server on a host: the name of its directory there, the instance that it belongs to, whether that still runs.

    `client` is the MCP client of the process that used the server last, `cwd` the directory of that process; `began` is
    when the server was first used, in Unix seconds. An older muxwire noted none of the three.
    """

    host: str
    name: str
    instance: str
    driven: bool
    client: str = ""
    cwd: str = ""
    began: float | None = None


def far(module: str) -> Any:  # noqa: ANN401 - a module, which no type checker is to look for
    """That module of the package for other machines; None where there is no such package."""
    try:
        return import_module(f"{_FAR}.{module}")
    except ModuleNotFoundError as error:
        if error.name != _FAR:
            raise
        return None


def missing(host: object) -> HostUnavailable:
    """What to raise where a machine is asked for, and the package is not there."""
    reason = f"the package {_FAR}, which reaches other machines, is not there"
    return HostUnavailable(str(host), "not_installed", reason, remedy="install muxwire whole, or leave out the host")


def links(state: Path, instance: str = "*") -> list[Linked]:
    """The servers on other machines of an instance, or of each one, with that state directory."""
    found = far("links")
    return found.links(state, instance) if found is not None else []
