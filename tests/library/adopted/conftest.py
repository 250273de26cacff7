"""What the tests of a person's server share: the person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.library.adopted.person import Person
from tests.users import short_folder


@pytest.fixture
def person(environ: dict[str, str]) -> Iterator[Person]:
    """Somebody at a server of their own, which ends with the test."""
    with short_folder() as folder, closing(Person(folder, environ)) as made:
        yield made
