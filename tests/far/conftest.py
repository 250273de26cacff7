"""What the tests of other machines share: a machine that is this one, behind a program that leaves no environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.far.hosts import user_of, words_there
from tests.users import program


@pytest.fixture(scope="module")
def environ(folder: Path, environ: dict[str, str]) -> dict[str, str]:
    """A user of this machine and of `box`: the same home, other temporary files.

    `brief` keeps programs for 4 s; the user's shell on `odd` is none that we know.
    """
    (folder / "there").mkdir(mode=0o700)
    words = words_there(environ, folder / "there")
    tcsh = program(folder / "tcsh", "#!/bin/sh\nexec cat\n")
    odd = {"via": [*words, f"SHELL={tcsh}"]}
    brief = {"via": words, "keep": "4s"}
    return user_of(environ, folder / "hosts.toml", box={"via": words}, odd=odd, brief=brief)
