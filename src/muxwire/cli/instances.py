"""The instances that run, as a table and as documents."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from muxwire.cli.printing import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.cli.printing import Colours
    from muxwire.instance.faces import Face

_HEAD = ("INSTANCE", "CLIENT", "DIRECTORY", "AGE", "TABS", "STATE")
_STATES = {"driven": "green", "silent": "red"}
# Each unit of an age in seconds, the largest first.
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def rows_of(faces: Sequence[Face], colours: Colours | None = None) -> list[str]:
    """The table of instances: its head, and a line for each."""
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
    return table(_HEAD, rows, colours, {"STATE": lambda state: _STATES.get(state, "")})


def age(seconds: float) -> str:
    """How long ago, in its largest unit: `3h`."""
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= size), _UNITS[-1])
    return f"{max(int(seconds), 0) // size}{unit}"
