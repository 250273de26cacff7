"""What the tests of the server share: a directory for each, and the two ways in which a client is served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp import child_client
from tests.users import short_folder


@pytest.fixture(params=["alone", "pump"])
def folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory whose server owns its terminals, or passes on to the process that owns the instance."""
    with short_folder() as made:
        monkeypatch.setattr(child_client, "WAY", ("--name", "n") if request.param == "pump" else ())
        yield made
