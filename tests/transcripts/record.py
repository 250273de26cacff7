"""Record the transcripts beside this file from a real tmux: `python -m tests.transcripts.record [SCENARIO...]`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import anyio

from muxwire.repl.recording import Recorder
from muxwire.repl.transcript import COMMENT, Record, written
from tests.doubles.private import open_private_tmux
from tests.transcripts.scenarios import SCENARIOS

HERE = Path(__file__).resolve().parent

# A scenario takes a second at most.
DEADLINE_S = 30


async def record(name: str, version: str) -> None:
    records = [Record(COMMENT, f"{name}, {version}".encode())]
    recorder = Recorder(time.monotonic())

    def tap(kind: bytes, data: bytes) -> None:
        records.extend(recorder.records(time.monotonic(), kind, data))

    with anyio.fail_after(DEADLINE_S):
        async with open_private_tmux(taps=[tap]) as tmux:
            await SCENARIOS[name](tmux.client, tmux.observer)
    (HERE / f"{name}.ctl").write_bytes(written(records))


async def main(names: list[str]) -> None:
    version = subprocess.run(["tmux", "-V"], capture_output=True, check=True, text=True).stdout.strip()
    for name in names:
        await record(name, version)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:] or list(SCENARIOS))
