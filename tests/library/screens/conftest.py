"""What the tests of screens share: a stage."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muxwire.library.terminals import Terminals
from tests.deadline import DEADLINE
from tests.library.screens.stage import ACTOR, Stage


@pytest.fixture
async def stage(terminals: Terminals, tmp_path: Path) -> AsyncIterator[Stage]:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    tab = await terminals.create_tab(
        command=[sys.executable, "-I", "-S", "-c", ACTOR, str(path)], size=(Stage.columns, Stage.rows)
    )
    await terminals.wait_for([tab.window_id], until="READY", from_byte=0, timeout=DEADLINE)
    fifo = os.open(path, os.O_WRONLY)
    yield Stage(terminals, tab, fifo)
    os.close(fifo)
    await tab.close(force=True)
