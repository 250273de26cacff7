"""A real tmux passes the scenarios of which the transcripts are the recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doubles.private import open_private_tmux
from tests.transcripts.scenarios import SCENARIOS

TRANSCRIPTS = Path(__file__).resolve().parent.parent / "transcripts"
# They are read at every change; a megabyte of them would be a burden to everyone who clones.
MAX_TRANSCRIPT_BYTES = 200_000


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_tmux_passes_the_scenario(name: str) -> None:
    async with open_private_tmux() as tmux:
        await SCENARIOS[name](tmux.client, tmux.observer)


def test_every_scenario_has_its_transcript_and_all_are_small() -> None:
    found = {path.stem: path.stat().st_size for path in TRANSCRIPTS.glob("*.ctl")}
    assert found.keys() == SCENARIOS.keys()
    assert sum(found.values()) < MAX_TRANSCRIPT_BYTES
