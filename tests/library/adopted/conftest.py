"""What the tests of a person's server share: the person."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.library.adopted.person import Person


@pytest.fixture
def person(environ: dict[str, str]) -> Iterator[Person]:
    """Somebody at a server of their own, which ends with the test."""
    folder = Path(tempfile.mkdtemp(prefix="mw"))
    made = Person(folder, environ)
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(folder, ignore_errors=True)
