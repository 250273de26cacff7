"""The server for ssh of the tests: skipped where there is none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.stages import Unavailable, ssh_server as started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def ssh_server(folder: Path) -> Iterator[list[str]]:
    """Run a server, and give the options with which ssh reaches it."""
    try:
        with started.ssh_server(folder) as options:
            yield options
    except Unavailable as reason:
        pytest.skip(str(reason))
