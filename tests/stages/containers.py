"""A container of a real engine, made without a network: a file system of this machine's own programs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.stages import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

# All that muxwire and Harbor need there, and what is measured and tested with it.
PROGRAMS = (
    "sh", "bash", "tmux", "stty", "dd", "ls", "id", "mkdir", "cat", "rm", "rmdir", "readlink", "mkfifo", "sleep", "wc",
    "sort", "tail", "base64", "tr", "env", "seq", "touch", "timeout", "clear",
)  # fmt: skip
# The limits of a container's processes: a daemon may set some that a container of ours may not have.
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")
# An engine that does not answer within this is not there.
ENGINE_SECONDS = 60.0
# The container lives as long as it is used, and no longer than this if nobody ends it.
_LIFE_SECONDS = "3600"


def answer(*words: str) -> str:
    """What a program prints; Unavailable if it fails, with its first line as the reason."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=ENGINE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{words[0]}: {error}") from error
    if done.returncode:
        raise Unavailable(f"{words[0]} does not work here: {(done.stderr.strip().splitlines() or ['?'])[0]}")
    return done.stdout


def put(root: Path, program: str, *names: str, hard: bool = False) -> None:
    """Copy a program with what it loads to its place there, and link it in /bin: by its own name if none is given.

    `hard`: as the applets of the busybox image. What is there stays. Unavailable if it is not here.
    """
    found = shutil.which(program)
    if found is None:
        raise Unavailable(f"there is no {program} here")
    found = os.path.realpath(found)
    libraries = subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout
    for path in (found, *re.findall(r"/\S+", libraries)):
        there = root / path[1:]
        there.parent.mkdir(parents=True, exist_ok=True)
        if not there.exists():
            shutil.copy(path, there)
    for name in names or (program,):
        link = root / "bin" / name
        if hard:
            link.hardlink_to(root / found[1:])
        elif not os.path.lexists(link):  # sh is a link to a shell, by whose name it is known
            link.symlink_to(found)


def make_root(root: Path) -> None:
    """A file system with PROGRAMS and what they load. Unavailable if one is not here."""
    for name in ("bin", "tmp", "proc", "sys", "dev", "etc", "root", "run", "usr/lib/locale", "lib"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        put(root, name)
    for folder in ("/lib/terminfo", "/usr/share/terminfo", "/usr/lib/locale/C.utf8"):
        if Path(folder).is_dir() and not (root / folder[1:]).exists():  # another engine may have been tried there
            shutil.copytree(folder, root / folder[1:], symlinks=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")


@contextmanager
def container(engine: str, folder: Path, name: str) -> Iterator[None]:
    """Run a container of that name. Unavailable."""
    root = folder / "root"
    make_root(root)
    answer(engine, "info")
    # An image and not a root directory: containers that share one share muxwire's private directory in it.
    image, archive = f"{name}-image", folder / "root.tar"
    answer("tar", "-C", str(root), "-cf", str(archive), ".")
    answer(engine, "import", str(archive), image)
    words, what = ["run", "-d", "--init"], ["--network", "none", *LIMITS, image]
    if engine == "podman":
        words = ["--runtime", "runc", "--cgroup-manager", "cgroupfs", "run", "-d", "--privileged"]
    # What is no init ignores SIGTERM, and podman would wait ten seconds for it.
    at_once = ["-t", "0"] if engine == "podman" else []
    try:
        answer(engine, *words, "--name", name, *what, "sleep", _LIFE_SECONDS)
        yield
    finally:
        _quietly(engine, "rm", "-f", *at_once, name)
        _quietly(engine, "rmi", "-f", image)


def _quietly(*words: str) -> None:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(words, capture_output=True, timeout=ENGINE_SECONDS, check=False)
