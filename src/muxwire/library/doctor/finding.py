"""What a check of the doctor found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

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
