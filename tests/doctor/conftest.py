"""What the tests of the doctor share: a user with nothing set up, and what a person does with a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire.host.folders import Folders, folders_for
from tests.users import environ_of


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return environ_of(home, runtime=home / "run") | {"MUXWIRE_STATE_DIR": str(home / "state")}


@pytest.fixture
def where(environ: dict[str, str]) -> Folders:
    """The folders of an instance that ran before."""
    found = folders_for("main", environ)
    found.runtime.mkdir(mode=0o700)
    found.state.mkdir(mode=0o700)
    return found
