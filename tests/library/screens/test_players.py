"""The tmux servers that play screens of the past: private, several at once, gone with us, and clear when they fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio

from muxwire.tmux.past import played, scene
from tests.deadline import DEADLINE
from tests.processes import gone, line_of

# What a terminal answers: device attributes, the cursor's place, its version, a colour.
QUESTIONS = b"\x1b[c\x1b[6n\x1b[>q\x1b]11;?\x07"


async def test_what_is_asked_of_a_terminal_is_answered_to_nobody(environ: dict[str, str]) -> None:
    with anyio.fail_after(DEADLINE):
        past = await played(scene(b"before\r\n" + QUESTIONS * 10_000 + b"after", 0, []), environ)
    assert past.lines == ("before", "after")


# Plays, and stands still in the middle.
_PLAYS = """
import anyio, os, time
from muxwire.tmux import past
async def stand(client, *_):
    (answer,) = await client.command("display-message", "-p", "#{pid}")
    print(answer.decode(), flush=True)
    time.sleep(1000)
past._write = stand
anyio.run(past.played, past.scene(b"x" * 100_000, 0, []), os.environ)
"""


async def test_a_player_ends_with_us_however_we_end(environ: dict[str, str], tmp_path: Path) -> None:
    place = environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", _PLAYS], env=place, stdout=subprocess.PIPE, text=True) as started:
        server = int(await line_of(started))
        started.kill()
    await gone([server])
    assert list(tmp_path.iterdir()) == []
