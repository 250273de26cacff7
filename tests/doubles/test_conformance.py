"""The real tmux and the recordings of it pass the same scenarios, so tests may use either."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from muxwire.client.client import RECEIVED, SENT, ControlClient
from muxwire.errors import ConnectionClosed
from muxwire.repl.recording import Recorder
from muxwire.repl.transcript import Record, read
from tests.doubles.private import Observer, open_private_tmux
from tests.doubles.transports import ScriptedTmux, said
from tests.transcripts.scenarios import SCENARIOS

TRANSCRIPTS = Path(__file__).resolve().parent.parent / "transcripts"


Opened: TypeAlias = Callable[[str], AbstractAsyncContextManager[tuple[ControlClient, Observer]]]

# They are read at every change; a megabyte of them would be a burden to everyone who clones.
MAX_TRANSCRIPT_BYTES = 200_000


def recorded(name: str) -> list[Record]:
    return read((TRANSCRIPTS / f"{name}.ctl").read_bytes())


@asynccontextmanager
async def scripted(name: str) -> AsyncIterator[tuple[ControlClient, Observer]]:
    tmux, observer = ScriptedTmux(recorded(name)), Observer()
    async with ControlClient(tmux, on_notification=observer.notify, on_chunk=observer.wake) as client:
        yield client, observer
    assert tmux.finished, "the scenario ended before its transcript"


@asynccontextmanager
async def real(name: str) -> AsyncIterator[tuple[ControlClient, Observer]]:
    del name
    async with open_private_tmux() as tmux:
        yield tmux.client, tmux.observer


@pytest.mark.parametrize("opened", [scripted, real], ids=["scripted", "real"])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_tmux_passes_the_scenario(name: str, opened: Opened) -> None:
    async with opened(name) as (client, observer):
        await SCENARIOS[name](client, observer)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_recording_of_the_double_is_its_transcript(name: str) -> None:
    transcript = recorded(name)
    kept: list[Record] = []
    recorder, observer = Recorder(), Observer()
    client = ControlClient(ScriptedTmux(transcript), on_notification=observer.notify, on_chunk=observer.wake)
    client.taps.append(lambda kind, data: kept.extend(recorder.records(0.0, kind, data)))
    async with client:
        await SCENARIOS[name](client, observer)
    for kind in (SENT, RECEIVED):
        assert said(kept, kind) == said(transcript, kind)


def test_every_scenario_has_its_transcript_and_all_are_small() -> None:
    found = {path.stem: path.stat().st_size for path in TRANSCRIPTS.glob("*.ctl")}
    assert found.keys() == SCENARIOS.keys()
    assert sum(found.values()) < MAX_TRANSCRIPT_BYTES


async def test_a_scenario_can_fail() -> None:
    """Another client's words, or another tmux's answer, must not pass."""
    tmux, observer = ScriptedTmux(recorded("errors")), Observer()
    async with ControlClient(tmux, on_notification=observer.notify, on_chunk=observer.wake) as client:
        with pytest.raises(ConnectionClosed, match="the transcript has"):
            await SCENARIOS["window_lifecycle"](client, observer)
