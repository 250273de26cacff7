"""What is wrong with this machine, as far as muxwire needs it: small checks, each with its remedy.

machine.py    tmux, directories, room, locale, limits of the system
leftovers.py  sockets, directories and processes of instances that are gone; locks that hold up every shell
trials.py     every shell that is there, tried in an instance of its own
examine.py    all of them, in order
"""

from __future__ import annotations

from typing import Literal, final

from muxwire.values import dataclass

# broken: muxwire does not work, or not with this shell; warning: it works, and something is worth mending.
Level = Literal["ok", "warning", "broken"]


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """`said` is what was found, `remedy` what to do, a command where one does it; never empty unless all is well."""

    check: str
    level: Level
    said: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if (self.level == "ok") == bool(self.remedy):
            raise ValueError(f"{self.check}: a remedy belongs to what is wrong, and to nothing else")


def ok(check: str, said: str) -> Finding:
    return Finding(check, "ok", said)


def warning(check: str, said: str, remedy: str) -> Finding:
    return Finding(check, "warning", said, remedy)


def broken(check: str, said: str, remedy: str) -> Finding:
    return Finding(check, "broken", said, remedy)
