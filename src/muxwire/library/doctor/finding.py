"""What a check of the doctor found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, final

from muxwire.values import NAMES_VERBS

# broken: muxwire does not work, or not with this shell; warning: it works, and something is worth mending.
Level = Literal["ok", "warning", "broken"]


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """`message` is what was found, `remedy` what to do, a command where one does it; never empty unless all is well."""

    check: str
    level: Level
    message: str
    remedy: str = field(default="", metadata=NAMES_VERBS)
