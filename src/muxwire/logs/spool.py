"""What tmux itself keeps of a pane's output, for the time in which nobody writes its log: files in a directory.

The pane's pipe writes them (host/scripts/spool.sh), from the pane's first byte on: an offset there is one of the log.
Each is named by the offset of its first byte, and goes once the log holds its bytes. If the pipe was opened later, a
file next to the directory says how much is to be added; as long as that is not known, it is empty.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, final

from muxwire.host.folders import replace_private, write_private

if TYPE_CHECKING:
    from pathlib import Path

_GONE = ".gone"
# A spool is pruned whenever its log has grown by so much; one of its files holds as much at most.
PRUNE_BYTES = 16 << 20
# What is read at once.
_READ_BYTES = 4 << 20


def spools_beside(logs: Path) -> Path:
    """The directory of the spools of the panes whose logs are in `logs`."""
    return logs.with_name("spool")


def spooled(logs: Path) -> list[Path]:
    """The paths of the logs in `logs` that have a spool; what is left of one that was being removed goes."""
    found = []
    with suppress(OSError):
        for folder in spools_beside(logs).iterdir():
            if folder.suffix == _GONE:
                shutil.rmtree(folder, ignore_errors=True)
            elif folder.is_dir():
                found.append(logs / f"{folder.name}.log")
    return found


@final
class Spool:
    """The spool of the pane with that log."""

    def __init__(self, log: Path) -> None:
        self._folder = spools_beside(log.parent) / log.stem
        self._base_file = self._folder.with_name(f"{log.stem}.base")

    def read(self, offset: int) -> tuple[int, bytes]:
        """What is kept from an offset on, and its first offset: a later one if that is gone, -1 if nothing is kept.

        Not more than a piece of it; b"" behind the end.
        """
        with suppress(OSError):
            base = self._base()
            starts = self._starts()
            if base is not None and starts:
                place = max(offset - base, starts[0])
                start = max(one for one in starts if one <= place)
                with (self._folder / str(start)).open("rb") as file:
                    file.seek(place - start)
                    return base + place, file.read(_READ_BYTES)
        return -1, b""

    def prune(self, before: int) -> None:
        """Remove the files of which the log holds every byte: it holds all `before` that offset."""
        with suppress(OSError):
            base = self._base()
            for start, end in pairwise(self._starts()):
                if base is not None and base + end <= before:
                    (self._folder / str(start)).unlink()

    def remove(self) -> None:
        # Under another name its program, which may be about to begin a file, finds it no more.
        gone = self._folder.with_suffix(_GONE)
        with suppress(OSError):
            self._folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        self._base_file.unlink(missing_ok=True)

    def begin(self) -> None:
        """Another one is about to be made, for a pane that has written already: `align` comes next. OSError."""
        self.remove()
        write_private(self._base_file, b"")

    def align(self, mark: bytes, offset: int) -> bool:
        """The first `mark` that it holds is at that offset; return whether it holds one yet. OSError."""
        place, data = 0, b""
        with suppress(FileNotFoundError), (self._folder / "0").open("rb") as file:
            while more := file.read(_READ_BYTES):
                data = data[-len(mark) :] + more
                place += len(more)
                if (at := data.find(mark)) >= 0:
                    base = offset - (place - len(data) + at)
                    replace_private(self._base_file, str(base).encode())
                    return True
        return False

    def _base(self) -> int | None:
        try:
            text = self._base_file.read_text()
        except FileNotFoundError:
            return 0
        return int(text) if text else None

    def _starts(self) -> list[int]:
        return sorted(int(file.name) for file in self._folder.iterdir())
