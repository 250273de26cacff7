"""A container of a real engine, made without a network: a file system of this machine's own programs.

docker is asked through the daemon that runs, or through one of our own (as root), which is ended again.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.stages import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# All that muxwire and Harbor need there, and what is measured and tested with it.
PROGRAMS = (
    "sh", "bash", "tmux", "stty", "dd", "ls", "id", "mkdir", "cat", "rm", "rmdir", "readlink", "mkfifo", "sleep", "wc",
    "sort", "tail", "base64", "tr", "env", "seq", "touch", "timeout", "clear",
)  # fmt: skip
# The limits of a container's processes: a daemon may set some that a container of ours may not have.
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")
# An engine that does not answer within this is not there.
ENGINE_SECONDS = 60.0
# From one question to a daemon that starts to the next.
_ASK_SECONDS = 0.2
# The container lives as long as it is used, and no longer than this if nobody ends it.
_LIFE_SECONDS = "3600"


def answer(*words: str, env: Mapping[str, str] | None = None) -> str:
    """What a program prints; Unavailable if it fails, with its first line as the reason."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=ENGINE_SECONDS, check=False, env=env)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{words[0]}: {error}") from error
    if done.returncode:
        raise Unavailable(f"{words[0]} does not work here: {(done.stderr.strip().splitlines() or ['?'])[0]}")
    return done.stdout


def make_root(root: Path) -> None:
    """A file system with PROGRAMS and what they load. Unavailable if one is not here."""
    for name in ("bin", "tmp", "proc", "sys", "dev", "etc", "root", "run", "usr/lib/locale", "lib"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is None:
            raise Unavailable(f"there is no {name} here")
        program = Path(found).resolve()
        shutil.copy(program, root / "bin" / program.name)
        link = root / "bin" / name
        if program.name != name and not link.is_symlink():  # sh is a link to a shell, by whose name it is known
            link.symlink_to(program.name)
        libraries = subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"/\S+", libraries):
            place = root / library[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    for folder in ("/lib/terminfo", "/usr/share/terminfo", "/usr/lib/locale/C.utf8"):
        if Path(folder).is_dir() and not (root / folder[1:]).exists():  # another engine may have been tried there
            shutil.copytree(folder, root / folder[1:], symlinks=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")


@contextmanager
def container(engine: str, folder: Path, name: str, *, more: int = 0) -> Iterator[dict[str, str]]:
    """Run a container of that name; yield the environment in which the engine finds it. Unavailable.

    So many `more` are named NAME-1, NAME-2 and so on.
    """
    names = [name, *(f"{name}-{number}" for number in range(1, more + 1))]
    root = folder / "root"
    make_root(root)
    with _engine(engine, folder) as env:
        # An image and not a root directory: containers that share one share muxwire's private directory in it.
        image, archive = f"{name}-image", folder / "root.tar"
        answer("tar", "-C", str(root), "-cf", str(archive), ".")
        answer(engine, "import", str(archive), image, env=env)
        words, what = ["run", "-d", "--init"], ["--network", "none", *LIMITS, image]
        if engine == "podman":
            words = ["--runtime", "runc", "--cgroup-manager", "cgroupfs", "run", "-d", "--privileged"]
        # What is no init ignores SIGTERM, and podman would wait ten seconds for each.
        at_once = ["-t", "0"] if engine == "podman" else []
        try:
            for one in names:
                answer(engine, *words, "--name", one, *what, "sleep", _LIFE_SECONDS, env=env)
            yield env
        finally:
            _quietly(engine, "rm", "-f", *at_once, *names, env=env)
            _quietly(engine, "rmi", "-f", image, env=env)


def _quietly(*words: str, env: Mapping[str, str]) -> None:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(words, capture_output=True, timeout=ENGINE_SECONDS, check=False, env=env)


@contextmanager
def _engine(engine: str, folder: Path) -> Iterator[dict[str, str]]:
    env = dict(os.environ)
    try:
        answer(engine, "info", env=env)
    except Unavailable as reason:
        if engine != "docker" or os.geteuid() or shutil.which("dockerd") is None or shutil.which("docker") is None:
            raise
        with _own_daemon(folder, str(reason)) as address:
            yield env | {"DOCKER_HOST": address}
    else:
        yield env


@contextmanager
def _own_daemon(folder: Path, reason: str) -> Iterator[str]:
    """A docker daemon of our own, which touches no network and no other daemon's files."""
    address = f"unix://{folder}/docker.sock"
    words = [
        "dockerd", "--host", address, "--data-root", str(folder / "data"), "--exec-root", str(folder / "exec"),
        "--pidfile", str(folder / "docker.pid"), "--bridge", "none", "--iptables=false", "--ip6tables=false",
        "--storage-driver", "vfs",
    ]  # fmt: skip
    with (folder / "dockerd.log").open("wb") as log:
        daemon = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + ENGINE_SECONDS
        while True:
            try:
                answer("docker", "--host", address, "version")
            except Unavailable:
                if daemon.poll() is not None or time.monotonic() > deadline:
                    said = (folder / "dockerd.log").read_text(errors="replace").strip().splitlines()
                    raise Unavailable(f"{reason}; dockerd: {(said or ['?'])[-1]}") from None
                time.sleep(_ASK_SECONDS)
            else:
                break
        yield address
    finally:
        daemon.terminate()
        daemon.wait(ENGINE_SECONDS)
