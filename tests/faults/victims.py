"""Starting `victim.py` and hearing what it says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread

from muxwire.logs.store import BACKLOG_MAX

VICTIM = Path(__file__).with_name("victim.py")


class Victim:
    """The process, and what it says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    async def says(self) -> Any:
        assert self.process.stdout is not None
        line = await anyio.to_thread.run_sync(self.process.stdout.readline, abandon_on_cancel=True)
        assert line, "the victim died"
        return json.loads(line)

    async def stops(self) -> None:
        """Return when it has stopped itself."""
        await anyio.to_thread.run_sync(os.waitpid, self.process.pid, os.WUNTRACED, abandon_on_cancel=True)

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@asynccontextmanager
async def victim(
    environ: dict[str, str],
    panes: int,
    amount: int,
    kind: str,
    *,
    cwd: Path | None = None,
    stop_at: int = 0,
    waiting: int = BACKLOG_MAX,
) -> AsyncIterator[Victim]:
    argv = [sys.executable, str(VICTIM), str(panes), str(amount), kind, str(stop_at), str(waiting)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, cwd=cwd, text=True)
    with process:
        try:
            yield Victim(process)
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()
