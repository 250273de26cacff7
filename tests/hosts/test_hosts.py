"""The library works under whatever runs the event loop, and beside whatever else is installed.

anyio asks sniffio which library runs, where sniffio can be imported (openai and others bring it), and looks itself
where it cannot: so each host runs with and without it. trio needs sniffio, and so does the oldest anyio.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.host import HOSTS

ROOT = Path(__file__).parents[2]
SECONDS = 50
BESIDE = [*((host, "with") for host in HOSTS), *((host, "without") for host in HOSTS if host != "trio")]


def run_host(host: str, home: Path, sniffio: str, *, path: Path | None = None) -> str:
    """What the host printed last; with the packages in `path` in place of those installed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.hosts.host", host, home, sniffio],
        cwd=ROOT,
        env=os.environ | ({"PYTHONPATH": str(path)} if path is not None else {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{done.stdout}\n{done.stderr}"
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(("host", "sniffio"), BESIDE)
def test_a_host_with_and_without_sniffio(host: str, home: Path, sniffio: str) -> None:
    assert run_host(host, home, sniffio).startswith("exact ")


@pytest.fixture(scope="session")
def oldest() -> Iterator[tuple[Path, str]]:
    """The oldest anyio that pyproject.toml allows, and its version."""
    found = re.search(r'"anyio>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert found is not None
    with tempfile.TemporaryDirectory(prefix="mw") as made:
        install = ["install", "--quiet", "--no-deps", "--target", made, f"anyio=={found[1]}"]
        subprocess.run([sys.executable, "-m", "pip", *install], check=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
        yield Path(made), found[1]


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_with_the_oldest_anyio(host: str, home: Path, oldest: tuple[Path, str]) -> None:
    path, version = oldest
    assert run_host(host, home, "with", path=path) in (f"exact {version}", f"exact {version}.0")
