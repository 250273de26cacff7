"""The instances that run, as a table."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from muxwire.cli.printing import table
from muxwire.verbs.types import UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.cli.printing import Paint
    from muxwire.instance.faces import Face

_HEAD = ("INSTANCE", "CLIENT", "DIRECTORY", "AGE", "TABS", "STATE")
_STATES = {"driven": "green", "silent": "red"}


def instance_lines(faces: Sequence[Face], paint: Paint) -> list[str]:
    """The table of instances."""
    now = time.time()
    rows = [
        (
            face.name,
            face.client or "-",
            " ".join(filter(None, (face.directory, f"on {', '.join(face.hosts)}" if face.hosts else ""))) or "-",
            "-" if face.started is None else age(now - face.started),
            "-" if face.tabs is None else str(face.tabs),
            face.state,
        )
        for face in faces
    ]
    return table(_HEAD, rows, paint, {"STATE": lambda state: _STATES.get(state, "")})


def age(seconds: float) -> str:
    """How long ago, in its largest unit: `3h`."""
    unit, size = next(((unit, size) for unit, size in reversed(UNITS.items()) if seconds >= size), ("s", 1))
    return f"{max(int(seconds), 0) // size}{unit}"
