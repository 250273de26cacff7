"""What the tests of the command line share: a user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.user import Place
from tests.users import short_folder, write_rc_files


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with short_folder() as home:
        (home / "run").mkdir(mode=0o700)
        write_rc_files(home)
        yield Place(home)
