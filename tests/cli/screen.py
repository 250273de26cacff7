"""A person's terminal: what they see and type, in a pane of another tmux."""

from __future__ import annotations

import itertools
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tests.cli.user import SECONDS

_NUMBERS = itertools.count()

COLUMNS, ROWS = 90, 14


@final
@dataclass(frozen=True, slots=True)
class Screen:
    """What the person sees and types, in a tmux of their own."""

    tmux: tuple[str, ...]

    def rows(self) -> list[str]:
        shown = subprocess.run([*self.tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True)
        return shown.stdout.split("\n")[:ROWS]

    def types(self, *keys: str) -> None:
        subprocess.run([*self.tmux, "send-keys", *keys], check=True)

    def shows(self, *texts: str, status: bool = False) -> list[str]:
        """Wait until the screen, or its last row, shows all of `texts`; tmux has no way to be waited for."""
        deadline = time.monotonic() + SECONDS
        while True:
            rows = self.rows()
            where = rows[-1] if status else "\n".join(rows)
            if all(text in where for text in texts):
                return rows
            assert time.monotonic() < deadline, "\n".join(rows)
            time.sleep(0.05)

    def resize(self, columns: int, rows: int) -> None:
        subprocess.run([*self.tmux, "resize-window", "-x", str(columns), "-y", str(rows)], check=True)


@contextmanager
def a_tmux(
    home: Path, environ: Mapping[str, str], command: str, columns: int = COLUMNS, rows: int = ROWS
) -> Iterator[tuple[str, ...]]:
    """A person's tmux whose one pane runs a command; what to call to use it."""
    # A server of its own for each: the last one may still be ending.
    tmux = ("tmux", "-u", "-S", str(home / f"outer-{next(_NUMBERS)}"), "-f", os.devnull)
    size = ("-x", str(columns), "-y", str(rows))
    begin = [*tmux, "new-session", "-d", *size, "-c", str(home), command, ";", "set", "-g", "status", "off"]
    subprocess.run(begin, env=environ, check=True)
    try:
        yield tmux
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


@contextmanager
def at_terminal(home: Path, environ: Mapping[str, str], *words: str, settings: str = "") -> Iterator[Screen]:
    """Somebody who runs a verb of muxwire at a terminal of their own."""
    verb = shlex.join([sys.executable, "-m", "muxwire", *words])
    with a_tmux(home, environ, f"{settings} {verb}; echo left with $?; exec sleep 1000") as tmux:
        yield Screen(tmux)
