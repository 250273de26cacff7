"""Machines with no tmux, or an old one: this machine's own is brought. They are root directories, as images have."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import muxwire
from muxwire import Carrier, HostUnavailable, Terminals
from muxwire.far.bundle import own_bundle
from tests.deadline import DEADLINE
from tests.stages.containers import put
from tests.users import program

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0
        or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0,
        reason="only root can have root directories",
    ),
]
# Not every user has its directory in PATH.
CHROOT = "/usr/sbin/chroot"
# What debian-slim has of what we use; busybox is one program.
DEBIAN = (
    "bash", "cat", "chmod", "cut", "dd", "dirname", "env", "grep", "gzip", "head", "id", "kill", "ls", "mkdir",
    "mkfifo", "mv", "printf", "readlink", "rm", "rmdir", "sed", "seq", "sleep", "sort", "stty", "tail", "tr", "uname",
    "wc",
)  # fmt: skip


def made(root: Path, kind: str) -> Path:
    for name in ("bin", "dev", "proc", "root", "etc"):
        (root / name).mkdir(parents=True)
    (root / "tmp").mkdir(mode=0o777)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    if kind == "busybox":
        applets = subprocess.run(["busybox", "--list"], capture_output=True, text=True, check=True).stdout.split()
        put(root, "busybox", *applets, hard=True)
    else:
        put(root, "dash", "sh")
        for name in DEBIAN:
            put(root, name)
        program(root / "bin" / "tmux", "#!/bin/sh\necho tmux 3.2a\n")
    return root


def into(root: Path, more: str = ":", path: str = "/bin") -> Carrier:
    """What `docker exec -i` does; `more` is done before it."""
    mounts = f"mount --rbind /dev {root}/dev && mount -t proc proc {root}/proc && {more}"
    enter = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        f'{mounts} && exec {CHROOT} {root} "$@"',
        "sh",
    ]
    return Carrier([*enter, "/bin/env", "-i", "HOME=/root", f"PATH={path}"])


@pytest.fixture(scope="module")
def roots(folder: Path) -> dict[str, Path]:
    if not shutil.which("busybox"):
        pytest.skip("no busybox")
    return {kind: made(folder / kind, kind) for kind in ("debian", "busybox")}


@pytest.fixture(scope="module")
async def opened(folder: Path, environ: dict[str, str]) -> AsyncIterator[Terminals]:
    async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as terminals:
        yield terminals


@pytest.mark.parametrize("kind", ["debian", "busybox"])
async def test_a_tab_works_as_any_other(opened: Terminals, roots: dict[str, Path], kind: str) -> None:
    carrier = into(roots[kind])
    tab = await opened.create_tab(host=carrier)
    told = await tab.execute('seq 1 3; echo "<$LOCPATH>"; cd /etc; (exit 7)')
    assert (told.output, told.exit_code, told.cwd) == ("1\n2\n3\n<>\n", 7, "/etc"), told
    asked = await tab.execute("printf 'name: '; read -r name; echo $name", timeout=DEADLINE)
    assert (asked.state, asked.running) == ("interactive", True), asked
    await opened.close_host(carrier)
    # It was kept, by its hash, and is not packed again.
    assert own_bundle(os.environ["PATH"]) is own_bundle(os.environ["PATH"])
    (kept,) = (roots[kind] / "tmp").glob("muxwire-*/tmux-*")
    before = (kept / "tmux.bin").stat().st_mtime_ns
    assert (await (await opened.create_tab(host=carrier, shell="sh")).execute("echo again")).output == "again\n"
    assert (kept / "tmux.bin").stat().st_mtime_ns == before
    await opened.close_host(carrier)


@pytest.mark.parametrize(
    ("options", "path", "why"),
    [
        ("noexec", "/bin", "is mounted noexec"),
        ("size=3m", "/bin", "no room for one in /tmp/muxwire-0"),
        ("size=99m", "/strange:/bin", r"is for \S+, this one is other"),
        ("size=99m", "/few", "no wc to unpack one with"),
    ],
    ids=["noexec", "room", "processor", "no wc"],
)
async def test_where_it_cannot_run_the_reason_is_given(
    opened: Terminals, roots: dict[str, Path], options: str, path: str, why: str
) -> None:
    root = roots["debian"]
    program(root / "strange" / "uname", "#!/bin/sh\necho other\n")
    if not (root / "few").exists():
        shutil.copytree(root / "bin", root / "few", copy_function=os.link, ignore=shutil.ignore_patterns("wc"))
    carrier = into(root, f"mount -t tmpfs -o {options} none {root}/tmp", path)
    with pytest.raises(HostUnavailable, match=why) as caught:
        await opened.create_tab(host=carrier)
    assert (caught.value.stage, not caught.value.remedy) == ("tmux_missing", False)
