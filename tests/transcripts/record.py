"""Record the transcripts beside this file from a real tmux: `python -m tests.transcripts.record [SCENARIO...]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio

from muxwire.client.transport import Transport
from muxwire.repl.recording import RecordingTransport
from muxwire.repl.transcript import Record, Transcript
from tests.doubles.private import open_private_tmux
from tests.transcripts.scenarios import SCENARIOS

HERE = Path(__file__).resolve().parent

# A scenario takes a second at most.
DEADLINE_S = 30


async def record(name: str, version: str) -> None:
    records: list[Record] = []

    def wrap(transport: Transport) -> RecordingTransport:
        return RecordingTransport(transport, records.extend)

    with anyio.fail_after(DEADLINE_S):
        async with open_private_tmux(wrap=wrap) as tmux:
            await SCENARIOS[name](tmux.client, tmux.observer)
    transcript = Transcript(tuple(records), (f"{name}, {version}",))
    (HERE / f"{name}.ctl").write_bytes(transcript.format())


async def main(names: list[str]) -> None:
    version = subprocess.run(["tmux", "-V"], capture_output=True, check=True, text=True).stdout.strip()
    for name in names:
        await record(name, version)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:] or list(SCENARIOS))
