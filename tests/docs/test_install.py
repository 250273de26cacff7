"""The wheel and the sdist are built, are what a registry takes, and can be installed by uv and by pipx."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import muxwire

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("build", "hatchling", "twine", "uv", "pipx")
BIN = Path(sys.executable).parent
# What uv says where the registry cannot be reached: it does not read pip's settings, which may name another one.
UNREACHABLE = ("Failed to fetch", "error sending request", "dns error", "network was disabled")


def run(*command: str | Path, **environ: str) -> str:
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"} | environ,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode and any(words in done.stderr for words in UNREACHABLE):
        pytest.skip("uv reaches no registry")
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in TOOLS), reason=f"needs {', '.join(TOOLS)}: the group `dist`"
)
def test_what_is_built_is_installed_by_uv_and_by_pipx(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, ".")
    wheel, sdist = (next(dist.glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    places = {"UV_TOOL_DIR": tmp_path / "uv", "UV_TOOL_BIN_DIR": tmp_path / "bin"}
    places |= {"PIPX_HOME": tmp_path / "pipx", "PIPX_BIN_DIR": tmp_path / "pipx-bin"}
    environ = {name: str(path) for name, path in places.items()}
    run("uv", "tool", "install", "--quiet", "--python", sys.executable, wheel, **environ)
    # uv makes the environment here too: pip takes four times as long.
    run("pipx", "install", "--backend", "uv", "--python", sys.executable, wheel, **environ)
    for made in ("bin", "pipx-bin"):
        assert run(tmp_path / made / "muxwire", "version").startswith(f"muxwire {muxwire.__version__}, ")
