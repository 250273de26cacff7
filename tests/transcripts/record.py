"""Record the transcripts beside this file from a real tmux: `python tests/transcripts/record.py [SCENARIO...]`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio

from muxwire.client.client import ControlClient
from muxwire.client.process import TmuxProcess, clean_environment
from muxwire.testing import SCENARIOS, Observer, RecordingTransport
from muxwire.testing.conformance import HUB, HUB_COMMAND

HERE = Path(__file__).resolve().parent

# A scenario takes a second at most.
DEADLINE_S = 30


async def record(name: str, version: str) -> None:
    with tempfile.TemporaryDirectory(prefix="mw") as folder:
        socket = f"{folder}/s"
        argv = ["tmux", "-u", "-S", socket, "-f", "/dev/null", "-C", "new-session", "-s", HUB, HUB_COMMAND]
        environment = {**clean_environment(os.environ), "SHELL": "/bin/sh"}
        transport = RecordingTransport(TmuxProcess(argv, socket=socket, env=environment, ephemeral=True))
        observer = Observer()
        with anyio.fail_after(DEADLINE_S):
            async with ControlClient(transport, on_notification=observer.notify, on_chunk=observer.wake) as client:
                await SCENARIOS[name](client, observer)
    transcript = transport.transcript(f"{name}, {version}")
    (HERE / f"{name}.ctl").write_bytes(transcript.format())


async def main(names: list[str]) -> None:
    version = subprocess.run(["tmux", "-V"], capture_output=True, check=True, text=True).stdout.strip()
    for name in names:
        await record(name, version)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:] or list(SCENARIOS))
