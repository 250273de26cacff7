"""Tabs in a container of a real engine, where one runs on this machine."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

import muxwire
from muxwire import HostUnavailable
from tests.remote.test_link import children

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio

DEADLINE = 60.0
NAME = f"muxwire-test-{os.getpid()}"
# All that muxwire needs there, and what the test itself starts.
PROGRAMS = (
    "sh", "bash", "tmux", "stty", "dd", "ls", "id", "mkdir", "cat", "rm", "rmdir", "readlink", "mkfifo", "sleep", "wc",
    "sort", "tail", "base64", "tr", "env", "seq", "touch",
)  # fmt: skip
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")


def answer(*words: str) -> str:
    """What a program says; the test is skipped if it fails, with its last line as the reason."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"{words[0]}: {error}")
    if done.returncode:
        pytest.skip(f"{words[0]} does not work here: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return done.stdout


def make_root(root: Path) -> None:
    """A file system with these programs and what they load."""
    for name in ("bin", "tmp", "proc", "sys", "dev", "etc", "root", "run", "usr/lib/locale", "lib"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"there is no {name} here")
        shutil.copy(found, root / "bin" / name)
        libraries = subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"/\S+", libraries):
            place = root / library[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    for folder in ("/lib/terminfo", "/usr/share/terminfo", "/usr/lib/locale/C.utf8"):
        if Path(folder).is_dir():
            shutil.copytree(folder, root / folder[1:], symlinks=True, dirs_exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")


@pytest.fixture(scope="module", params=["podman"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An engine in which a container of that name runs."""
    program: str = request.param
    answer(program, "info")
    root = tmp_path_factory.mktemp("root")
    make_root(root)
    run = ["--runtime", "runc", "--cgroup-manager", "cgroupfs", "run", "-d", "--name", NAME, "--network", "none"]
    words = [*run, *LIMITS, "--privileged", "--rootfs", str(root)]
    try:
        answer(program, *words, "sleep", "600")
        yield program
    finally:
        subprocess.run([program, "rm", "-f", NAME], capture_output=True, timeout=DEADLINE, check=False)


async def test_a_tab_in_a_container_is_exact_and_outlives_its_carrier(
    engine: str, environ: dict[str, str], folder: Path
) -> None:
    hosts = folder / "engines.toml"
    hosts.write_text(f'allow = ["{engine}:*"]\n')
    # The engine finds its containers by the person's own variables.
    user = {**os.environ, "MUXWIRE_HOSTS": str(hosts), "XDG_RUNTIME_DIR": environ["XDG_RUNTIME_DIR"]}
    with anyio.fail_after(DEADLINE):
        async with muxwire.open_terminals(state_dir=folder / "state", environ=user) as opened:
            tab = await opened.create_tab(host=f"{engine}:{NAME}")
            assert tab.key == f"{engine}:{NAME}/@1"
            one = await tab.execute("echo 'a  b'; cd /tmp; false")
            assert (one.output, one.exit_code, one.cwd) == ("a  b\n", 1, "/tmp"), one
            running = await tab.execute("sleep 0.5; seq 1 20000", wait=False)
            for carrier in children(b"printf %b"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(carrier, signal.SIGKILL)
            ended = await opened.command_result(running.command_id, wait=DEADLINE, max_chars=None)
            whole = "".join(f"{line}\n" for line in range(1, 20001))
            assert (ended.output == whole, ended.exit_code, ended.note) == (True, 0, ""), ended
            with pytest.raises(HostUnavailable) as caught:
                await opened.create_tab(host=f"{engine}:{NAME}-of-nobody")
            assert caught.value.stage == "connect", caught.value
