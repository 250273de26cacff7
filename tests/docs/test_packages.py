"""What describes muxwire to registries and installers says the same as the code."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

import muxwire
from muxwire.mcp.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = Path(__file__).resolve().parent.parent.parent / "packaging"
SERVER = json.loads((PACKAGES / "server.json").read_text())
MANIFEST = json.loads((PACKAGES / "manifest.json").read_text())


def semantic(version: str) -> str:
    """PEP 440's `0.1.0.dev0` as Semantic Versioning writes it."""
    return re.sub(r"\.dev(\d+)$", r"-dev.\1", version)


def test_every_version_is_the_one_of_the_code() -> None:
    assert SERVER["version"] == muxwire.__version__
    assert [package["version"] for package in SERVER["packages"]] == [muxwire.__version__]
    assert MANIFEST["version"] == semantic(muxwire.__version__)


def test_what_they_start_is_the_server() -> None:
    (package,) = SERVER["packages"]
    assert [argument["value"] for argument in package["packageArguments"]] == ["serve"]
    arguments = MANIFEST["server"]["mcp_config"]["args"]
    assert arguments[-2:] == ["muxwire", "serve"]
    assert "--no-dev" in arguments  # else uv installs what the tests need too
    assert (PACKAGES.parent / MANIFEST["server"]["entry_point"]).is_file()
    assert 'ENTRYPOINT ["muxwire"]\nCMD ["serve"]' in (PACKAGES / "Dockerfile").read_text()


PLUGIN = PACKAGES / "claude-plugin"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Where packages come from is the business of whoever installs them.
REGISTRIES = ("pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".", "docker" + ".io", "ghcr" + ".io", "quay" + ".io")


def test_the_bundle_is_built_and_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no npx: its check needs the network
    bundle = runpy.run_path(str(PACKAGES / "build.py"))["bundle"]
    made = bundle(tmp_path)
    with zipfile.ZipFile(made) as archive:
        names = set(archive.namelist())
        assert json.loads(archive.read("manifest.json")) == MANIFEST
    assert {MANIFEST["server"]["entry_point"], "pyproject.toml", "README.md", "LICENSE"} <= names
    assert {"src/muxwire/shell/scripts/zshenv", "src/muxwire/py.typed"} <= names
    before = made.read_bytes()
    assert bundle(tmp_path).read_bytes() == before


def test_the_plugin_starts_the_server() -> None:
    plugin = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())
    assert (plugin["name"], plugin["version"]) == ("muxwire", semantic(muxwire.__version__))
    servers = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]
    assert servers == {"muxwire": {"command": "uvx", "args": ["muxwire", "serve"]}}
    skill = (PLUGIN / "skills/muxwire/SKILL.md").read_text()
    assert re.match(r"---\nname: muxwire\ndescription: .+\n---\n", skill)
    tools = {tool.name for tool in TOOLS}
    words = re.findall(r"`([a-z]+(?:_[a-z]+)+)`", skill)
    assert set(words) - tools <= {"window_id", "idle_ms"}


def test_the_registry_is_told_where_the_source_is() -> None:
    assert SERVER["repository"]["url"] == PROJECT["project"]["urls"]["Homepage"]


def test_the_formula_and_the_flake_are_of_this_project() -> None:
    formula, flake = (PACKAGES / "muxwire.rb").read_text(), (ROOT / "flake.nix").read_text()
    assert f'homepage "{PROJECT["project"]["urls"]["Homepage"]}"' in formula
    assert f'license "{PROJECT["project"]["license"]}"' in formula
    assert f'description = "{PROJECT["project"]["description"]}";' in flake
    least = PROJECT["project"]["requires-python"].removeprefix(">=3.")
    for python in (*re.findall(r"python@3[.]([0-9]+)", formula), *re.findall(r"python3[.]([0-9]+)", flake)):
        assert int(python) >= int(least)


WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_nothing_that_can_change_and_may_only_read(path: Path) -> None:
    text = path.read_text()
    assert (used := re.findall(r"uses: (.*)", text))
    assert not [one for one in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)]
    assert "\npermissions:\n  contents: read\n" in text
    assert text.count("runs-on:") == text.count("timeout-minutes:")
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_the_registry_of_mcp_servers_finds_its_name_in_the_readme() -> None:
    assert f"mcp-name: {SERVER['name']}" in (ROOT / "README.md").read_text()


def test_no_registry_is_named() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    paths = [ROOT / name for name in listed.split("\0") if name] or [*ROOT.glob("docs/**/*.md")]
    for path in paths:
        if os.path.lexists(path):  # a link out of the tree, such as one's own .venv, is an error here
            text = path.read_bytes().decode("utf-8", "replace")
            assert not [host for host in REGISTRIES if host in text], path
