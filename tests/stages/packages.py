"""Installs what is compared with from its registry, in an exact version, into a folder of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tests.stages import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

# npm takes a minute for Desktop Commander's 700 packages where nothing else runs, and a slow registry ten times that.
INSTALL_SECONDS = 1200
_ADDRESS = re.compile(r"( - GET)?\s*https?://\S+")
# Says in a folder that what it is named after was installed there to the end.
DONE = "installed"


@dataclass(frozen=True, slots=True)
class FromPyPI:
    """Requirements, the first of which is what it is about; they get a virtual environment.

    `python` is a version in place of the Python that runs this.
    """

    registry: ClassVar[str] = "PyPI"
    requirements: tuple[str, ...]
    python: str = ""

    @property
    def label(self) -> str:
        """Name and version."""
        return self.requirements[0].replace("==", " ")

    def steps(self, folder: Path) -> list[list[str]]:
        """The programs that install it there: an environment, then pip in it; or uv, which is quicker."""
        python = str(folder / "bin" / "python")
        if shutil.which("uv"):
            version = ["--python", self.python or sys.executable]
            return [
                ["uv", "venv", "--quiet", "--allow-existing", *version, str(folder)],
                ["uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *self.requirements],
            ]
        made = [f"python{self.python}" if self.python else sys.executable, "-m", "venv", str(folder)]
        return [made, [python, "-m", "pip", "install", "--quiet", "--no-input", *self.requirements]]


@dataclass(frozen=True, slots=True)
class FromNpm:
    """A package `name@version`."""

    registry: ClassVar[str] = "npm"
    package: str

    @property
    def label(self) -> str:
        """Name and version."""
        return " ".join(self.package.rsplit("@", 1))

    def steps(self, folder: Path) -> list[list[str]]:
        """No script of any package is run."""
        return [["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error",
                 "--prefix", str(folder), self.package]]  # fmt: skip


Package = FromPyPI | FromNpm


def install(package: Package, root: Path) -> Path:
    """Its folder in `root`, where it is installed unless it is already. Unavailable."""
    folder = root / package.label.replace("/", "-").replace(" ", "-")
    done = folder / DONE
    if not (done.exists() and done.read_text() == package.label):
        folder.mkdir(parents=True, exist_ok=True)
        for step in package.steps(folder):
            try:
                said = subprocess.run(
                    step, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise Unavailable(f"{package.label}: {error}") from error
            if said.returncode:
                complaints = [_ADDRESS.sub("", line).strip() for line in said.stderr.splitlines() if "rror" in line]
                raise Unavailable(f"{package.label} cannot be installed: {'; '.join(complaints[:2])}")
        done.write_text(package.label)
    return folder
