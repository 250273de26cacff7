"""The tmux servers that play screens of the past: private, several at once, gone with us, and clear when they fail."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire.errors import TmuxUnavailable
from muxwire.tmux import past
from muxwire.tmux.past import played, scene
from tests.library.screens.stage import DEADLINE
from tests.processes import gone

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.client.client import ControlClient

# What a terminal answers: device attributes, the cursor's place, its version, a colour.
QUESTIONS = b"\x1b[c\x1b[6n\x1b[>q\x1b]11;?\x07"


async def lines_of(data: bytes, environ: dict[str, str]) -> tuple[str, ...]:
    with anyio.fail_after(DEADLINE):
        return (await played(scene(data, 0, []), environ)).lines


async def test_what_is_asked_of_a_terminal_is_answered_to_nobody(environ: dict[str, str]) -> None:
    assert await lines_of(b"before\r\n" + QUESTIONS * 10_000 + b"after", environ) == ("before", "after")


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
    with subprocess.Popen([sys.executable, "-c", _PLAYS], env=place, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        server = int(started.stdout.readline())
        started.kill()
    await gone([server])
    assert list(tmp_path.iterdir()) == []


async def test_a_player_ends_with_its_answer_and_leaves_no_file(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    servers: list[int] = []
    write = past._write

    async def noted(client: ControlClient, descriptor: int, data: bytes, came: bytearray) -> None:
        (answer,) = await client.command("display-message", "-p", "#{pid}")
        servers.append(int(answer))
        await write(client, descriptor, data, came)

    monkeypatch.setattr(past, "_write", noted)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert await lines_of(b"text", environ) == ("text",)
    await gone(servers)
    assert servers
    assert list(tmp_path.iterdir()) == []


async def test_a_tmux_that_dies_is_an_error(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def killed(client: ControlClient, *_: object) -> None:
        (answer,) = await client.command("display-message", "-p", "#{pid}")
        os.kill(int(answer), signal.SIGKILL)
        await client.command("display-message", "-p", "")

    monkeypatch.setattr(past, "_write", killed)
    with pytest.raises(TmuxUnavailable, match="the tmux that plays the log failed: ") as failed:
        await lines_of(b"text", environ)
    assert failed.value.remedy == "call it again"


async def test_no_tmux_and_no_room_are_errors(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TmuxUnavailable, match="not installed") as missing:
        await lines_of(b"text", environ | {"PATH": "/nowhere"})
    assert "install tmux" in missing.value.remedy

    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(TmuxUnavailable, match="No space left") as failed:
        await lines_of(b"text", environ)
    assert "make room" in failed.value.remedy
