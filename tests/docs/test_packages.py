"""What describes muxwire to registries and installers says the same as the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import muxwire
from muxwire.mcp.tools import TOOLS

PACKAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "packages"
SERVER = json.loads((PACKAGES / "server.json").read_text())
MANIFEST = json.loads((PACKAGES / "manifest.json").read_text())


def semantic(version: str) -> str:
    """PEP 440's `0.1.0.dev0` as Semantic Versioning writes it."""
    return re.sub(r"\.dev(\d+)$", r"-dev.\1", version)


def test_every_version_is_the_one_of_the_code() -> None:
    assert SERVER["version"] == muxwire.__version__
    assert [package["version"] for package in SERVER["packages"]] == [muxwire.__version__]
    assert MANIFEST["version"] == semantic(muxwire.__version__)


def test_the_bundle_names_every_tool_and_no_other() -> None:
    assert [tool["name"] for tool in MANIFEST["tools"]] == [tool.name for tool in TOOLS]


def test_what_they_start_is_the_server() -> None:
    (package,) = SERVER["packages"]
    assert [argument["value"] for argument in package["packageArguments"]] == ["serve"]
    assert MANIFEST["server"]["mcp_config"]["args"][-2:] == ["muxwire", "serve"]
    assert (PACKAGES.parent.parent / MANIFEST["server"]["entry_point"]).is_file()
    assert 'ENTRYPOINT ["muxwire"]\nCMD ["serve"]' in (PACKAGES / "Dockerfile").read_text()
