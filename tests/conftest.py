"""What every test shares: the event loop's backend, the tmux under test, and hypothesis without a clock."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.users import tmux_folders

# How fast inputs are made is the machine's affair: the tests share it with shells, tmux and each other.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

# Before any test module is imported: those that ask for tmux themselves, or start programs, do so with this path.
os.environ["PATH"] = os.pathsep.join((*tmux_folders(), os.environ["PATH"]))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
