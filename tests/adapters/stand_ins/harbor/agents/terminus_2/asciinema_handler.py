"""harbor 0.26: what the adapter uses of it, with its types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class AsciinemaHandler:
    def __init__(self, markers: list[tuple[float, str]], recording_path: Path) -> None:
        self._markers, self._path = markers, recording_path

    def merge_markers(self) -> None:
        """At the end; the real one puts them in order."""
        with self._path.open("a") as file:
            file.writelines(json.dumps([at, "m", label]) + "\n" for at, label in self._markers)
