"""What the tests of other machines share: a machine that is this one, behind a program that leaves no environment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.far.proxied import environ_there


@pytest.fixture(scope="module")
def environ(folder: Path, environ: dict[str, str]) -> dict[str, str]:
    """A user of this machine and of `box`: the same home, other temporary files.

    `brief` keeps programs for 4 s; the user's shell on `odd` is none that we know.
    """
    (folder / "there").mkdir(mode=0o700)
    there = environ_there(environ, folder / "there")
    words = ["env", "-i", *(f"{name}={value}" for name, value in there.items())]
    hosts = folder / "hosts.toml"
    via = f"via = {json.dumps(words)}"
    (folder / "tcsh").write_text("#!/bin/sh\nexec cat\n")
    (folder / "tcsh").chmod(0o700)
    odd = f"via = {json.dumps([*words, f'SHELL={folder}/tcsh'])}"
    hosts.write_text(f'[hosts.box]\n{via}\n[hosts.odd]\n{odd}\n[hosts.brief]\n{via}\nkeep = "4s"\n')
    return environ | {"MUXWIRE_HOSTS": str(hosts)}
