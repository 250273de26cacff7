"""Build what is published into a directory: the MCP bundle, and with `--all` the wheel and the sdist.

python packaging/build.py DIRECTORY [--all]
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = Path(__file__).resolve().parent
ROOT = PACKAGES.parent
# What `uv run` needs of the tree to build the package on the user's machine.
SOURCE = ("pyproject.toml", "README.md", "LICENSE", "src")
# The fields that version 0.4 of the format requires, and what a bundle of type uv must have.
REQUIRED = ("manifest_version", "name", "version", "description", "author", "server")
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?\Z")
# A fixed time, so that the same tree gives the same bytes: the first that a zip can hold.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def faults(manifest: dict[str, object], names: set[str]) -> list[str]:
    """What is wrong with a bundle of these files."""
    found = [f"{field} is missing" for field in REQUIRED if not manifest.get(field)]
    if not _SEMANTIC.match(str(manifest.get("version"))):
        found.append(f"version {manifest.get('version')} is not semantic")
    server = manifest.get("server")
    if not isinstance(server, dict) or server.get("type") != "uv":
        return [*found, "server.type is not uv"]
    if server.get("entry_point") not in names:
        found.append(f"entry_point {server.get('entry_point')} is not in the bundle")
    return found + [f"{name} is not in the bundle" for name in ("pyproject.toml", "manifest.json") if name not in names]


def files() -> dict[str, Path]:
    """The bundle's files by their names in it."""
    found = {"manifest.json": PACKAGES / "manifest.json"}
    for name in SOURCE:
        path = ROOT / name
        for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if one.is_file() and "__pycache__" not in one.parts:
                found[str(one.relative_to(ROOT))] = one
    return found


def bundle(directory: Path) -> Path:
    """Write and check `muxwire.mcpb`; ValueError if it could not be installed."""
    content = files()
    wrong = faults(json.loads((PACKAGES / "manifest.json").read_text()), set(content))
    if wrong:
        raise ValueError("; ".join(wrong))
    made = directory / "muxwire.mcpb"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in content.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED)
    if shutil.which("npx"):  # the format's own tool, where Node.js is there to run it
        npx = ["npx", "--yes", "@anthropic-ai/mcpb", "validate", str(PACKAGES / "manifest.json")]
        subprocess.run(npx, check=True)
    return made


def main(arguments: list[str]) -> int:
    """Build into the directory that is named."""
    directory = Path(arguments[0])
    directory.mkdir(parents=True, exist_ok=True)
    if "--all" in arguments[1:]:
        subprocess.run([sys.executable, "-m", "build", "--outdir", directory, ROOT], check=True)
    print(bundle(directory))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
