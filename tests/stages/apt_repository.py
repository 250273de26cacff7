"""A Debian repository of this machine, and an installation that apt-get can install its packages into.

Nothing of the machine is changed: apt-get reads a configuration of its own, and dpkg installs into a directory.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from tests.stages import Unavailable
from tests.users import program

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# What a package's configuration does: takes its time without a word, asks, or does nothing.
PACKAGES: Mapping[str, tuple[str, str]] = {
    "quick": ("", ""),
    "slow": ("", "sleep 4"),
    "asks": ("", "printf 'Which one? '; read -r x"),
    "wants": ("Depends: quick\n", ""),  # apt-get asks before it installs more than was named
}
CONTROL = """\
Package: {name}
Version: 1
Architecture: all
Maintainer: muxwire <muxwire@example.org>
{more}Description: {name}
"""
CONFIGURATION = """\
Dir "{root}";
Dir::Etc "{root}/etc/apt";
Dir::State::status "{root}/var/lib/dpkg/status";
Dir::Bin::methods "/usr/lib/apt/methods";
Dir::Bin::dpkg "/usr/bin/dpkg";
DPkg::Options {{ "--root={root}"; "--force-script-chrootless"; "--force-unsafe-io"; }};
APT::Sandbox::User "root";
"""
FOLDERS = (
    "var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/dpkg/triggers", "var/lib/apt/lists/partial",
    "var/cache/apt/archives/partial", "var/log/apt", "etc/apt/apt.conf.d", "etc/apt/preferences.d",
    "etc/apt/trusted.gpg.d", "etc/apt/sources.list.d",
)  # fmt: skip


def make_repository(folder: Path) -> Path:
    """Make the packages and their index in `folder`, and an installation that has read it. Unavailable."""
    if os.geteuid():
        raise Unavailable("dpkg installs for root only")
    for name in ("dpkg-deb", "apt-get"):
        if shutil.which(name) is None:
            raise Unavailable(f"{name} is not installed")
    repository = folder / "repository"
    repository.mkdir()
    index = []
    for name, (more, configure) in PACKAGES.items():
        tree = folder / "package"
        (tree / "DEBIAN").mkdir(parents=True)
        control = CONTROL.format(name=name, more=more)
        (tree / "DEBIAN/control").write_text(control)
        program(tree / "DEBIAN/postinst", f"#!/bin/sh\nset -e\n{configure}\n")
        package = repository / f"{name}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, package], check=True, capture_output=True)
        content = package.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        index.append(f"{control}Filename: ./{package.name}\nSize: {len(content)}\nSHA256: {digest}\n")
        shutil.rmtree(tree)
    (repository / "Packages").write_text("\n".join(index))
    template = folder / "installation"
    for place in FOLDERS:
        (template / place).mkdir(parents=True)
    (template / "var/lib/dpkg/status").touch()
    (template / "etc/apt/sources.list").write_text(f"deb [trusted=yes] file:{repository} ./\n")
    done = subprocess.run(
        ["apt-get", "-c", configuration(template), "update"], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise Unavailable(f"apt-get does not read a local repository here: {done.stderr.strip().splitlines()[-1]}")
    return template


def configuration(root: Path) -> Path:
    """Write the configuration with which apt-get uses that installation; `apt-get -c` takes it."""
    path = root / "apt.conf"
    path.write_text(CONFIGURATION.format(root=root))
    return path


def installation(template: Path, place: Path) -> Path:
    """A fresh installation at that place; return its configuration."""
    shutil.copytree(template, place)
    return configuration(place)
