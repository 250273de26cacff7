"""Waits for a child process to end, without a thread where the system allows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    import subprocess


async def wait_process(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status of a child once it has ended, and reap it."""
    if process.poll() is None:
        await _wait_end(process)
    return process.wait()


async def _wait_end(process: subprocess.Popen[bytes]) -> None:
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # macOS; Linux before 5.3
        await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
        return
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)
