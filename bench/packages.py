"""Installs a contender from its registry, in an exact version, into a folder of its own; nothing is guessed at."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bench.processes import finished

if TYPE_CHECKING:
    from pathlib import Path

# npm takes a minute for Desktop Commander's 700 packages where nothing else runs, and a slow registry ten times that.
INSTALL_SECONDS = 1200
# Says in a folder that what it is named after was installed there to the end.
DONE = "installed"


class Package(Protocol):
    """What can be installed."""

    @property
    def label(self) -> str:
        """Name and version."""

    @property
    def registry(self) -> str:
        """Where it comes from."""

    def missing(self) -> str:
        """Why it cannot even be tried here, or nothing."""

    def steps(self, folder: Path) -> list[list[str]]:
        """The programs that install it there."""


@dataclass(frozen=True, slots=True)
class FromPyPI:
    """Requirements, the first of which is what it is about; they get a virtual environment.

    `python` is a program of that name in place of the Python that runs this.
    """

    requirements: tuple[str, ...]
    python: str = ""

    @property
    def label(self) -> str:
        """Name and version."""
        return self.requirements[0].replace("==", " ")

    @property
    def registry(self) -> str:
        """Where it comes from."""
        return "PyPI"

    def missing(self) -> str:
        """There is always a Python: this one; another may be missing."""
        return f"{self.python} is not here" if self.python and shutil.which(self.python) is None else ""

    def steps(self, folder: Path) -> list[list[str]]:
        """An environment, then pip in it."""
        return [
            [shutil.which(self.python) or sys.executable, "-m", "venv", str(folder)],
            [str(folder / "bin" / "pip"), "install", "--quiet", "--no-input", "--disable-pip-version-check",
             *self.requirements],
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ByUv(FromPyPI):
    """Requirements that uv resolves, for a Python that it finds or fetches; pip takes minutes for some of them."""

    python: str = "3.12"

    def missing(self) -> str:
        """Whether uv is here."""
        return "" if shutil.which("uv") else "uv is not here"

    def steps(self, folder: Path) -> list[list[str]]:
        """An environment, then uv's pip in it."""
        return [
            ["uv", "venv", "--quiet", "--allow-existing", "--python", self.python, str(folder)],
            [
                "uv",
                "pip",
                "install",
                "--quiet",
                "--compile-bytecode",
                "--python",
                str(folder / "bin" / "python"),
                *self.requirements,
            ],
        ]


@dataclass(frozen=True, slots=True)
class FromNpm:
    """A package `name@version`."""

    package: str

    @property
    def label(self) -> str:
        """Name and version."""
        name, _, version = self.package.rpartition("@")
        return f"{name} {version}"

    @property
    def registry(self) -> str:
        """Where it comes from."""
        return "npm"

    def missing(self) -> str:
        """Whether node and npm are here."""
        return next((f"{program} is not here" for program in ("node", "npm") if shutil.which(program) is None), "")

    def steps(self, folder: Path) -> list[list[str]]:
        """No script of any package is run."""
        return [["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error",
                 "--prefix", str(folder), self.package]]  # fmt: skip


def installed(package: Package, folder: Path) -> str:
    """Install it, unless the folder has it; return why it cannot be had, or nothing."""
    if missing := package.missing():
        return missing
    done = folder / DONE
    if done.exists() and done.read_text() == package.label:
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    for argv in package.steps(folder):
        if failed := finished(argv, INSTALL_SECONDS):
            return f"not installed: {failed}"
    done.write_text(package.label)
    return ""
