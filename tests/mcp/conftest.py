"""What the tests of the server share: a directory for each, and the two ways in which a client is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp import child_client


@pytest.fixture(params=["alone", "pump"])
def folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    """A directory whose server owns its terminals, or passes on to the process that owns the instance."""
    monkeypatch.setattr(child_client, "WAY", ("--name", "n") if request.param == "pump" else ())
    return home
