"""What every test shares: the event loop's backend, and hypothesis without a clock."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# How fast inputs are made is the machine's affair: the tests share it with shells, tmux and each other.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
