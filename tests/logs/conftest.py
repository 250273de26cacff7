"""What the tests of logs share: the path of a log that is not there yet."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pane-@1.log"
