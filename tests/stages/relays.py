"""Programs that give another program a terminal of its own, and pass on what is typed and written: relays.

Each is a word list in front of a command. What they need (a line for sudo, a server for ssh, a container) is set up
for as long as it is used, and removed.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from tests.stages import Unavailable
from tests.stages.containers import LIMITS, answer
from tests.stages.ssh_server import ssh_server

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from contextlib import AbstractContextManager

SUDOERS = Path("/etc/sudoers.d")
# What Debian's own sudoers says since version 12.
DROP_IN = "Defaults use_pty\n"
_SPAWN = "import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
# Links of a merged /usr, in a container that has this machine's.
_MERGED = ("bin", "sbin", "lib", "lib64")
_LIFE_SECONDS = "7200"

# From a command of bash, and the directory that it runs in, to the line that runs it through a relay.
Wrap = Callable[[str, Path], str]


@final
@dataclass(frozen=True, slots=True)
class Relay:
    """`wrap` makes its lines; `shown`: the kernel of this machine shows what waits in its inner terminal, and who."""

    name: str
    wrap: Wrap
    shown: bool = True


def gives_pty() -> bool:
    """Whether sudo gives commands a terminal of their own here, without a question."""
    if os.geteuid() or shutil.which("sudo") is None:
        return False
    listed = subprocess.run(["sudo", "-n", "-l"], capture_output=True, text=True, check=False)
    return "use_pty" in listed.stdout and "!use_pty" not in listed.stdout


@contextmanager
def use_pty() -> Iterator[None]:
    """Have sudo give commands a terminal of their own, where it does not yet. Unavailable."""
    if os.geteuid():
        raise Unavailable("sudo asks everyone but root for a password")
    checker = shutil.which("visudo", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if checker is None or shutil.which("sudo") is None:
        raise Unavailable("sudo is not installed")
    if gives_pty():
        yield
        return
    path = SUDOERS / f"zz_muxwire_bench_{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "sudoers"
        draft.write_text(DROP_IN)
        draft.chmod(0o440)
        answer(checker, "-q", "-c", "-f", str(draft))  # with a file that sudo cannot read it would refuse everything
        shutil.move(draft, path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def podman_container(folder: Path, name: str) -> Iterator[str]:
    """A container of podman with this machine's /usr and that directory in it; yield its name. Unavailable."""
    if shutil.which("podman") is None:
        raise Unavailable("podman is not installed")
    root = folder / "root"
    for place in ("tmp", "proc", "sys", "dev", "etc", "root", "run", "var", "usr"):
        (root / place).mkdir(parents=True)
    for place in _MERGED:
        (root / place).symlink_to(f"usr/{place}")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
    words = ["podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs", "run", "-d", "--name", name]
    words += ["--network", "host", "--privileged", *LIMITS]
    words += ["-v", "/usr:/usr:ro", "-v", "/etc/alternatives:/etc/alternatives:ro", "-v", f"{folder}:{folder}"]
    try:
        answer(*words, "--rootfs", str(root), "sleep", _LIFE_SECONDS)
        yield name
    finally:
        subprocess.run(["podman", "rm", "-f", "-t", "0", name], check=False, capture_output=True)


def _bash(command: str) -> str:
    return f"bash -c {shlex.quote(command)}"


def _script(command: str, _: Path) -> str:
    return f"script -qec {shlex.quote(_bash(command))} /dev/null"


def _sudo(command: str, _: Path) -> str:
    return f"sudo {_bash(command)}"


def _su(command: str, _: Path) -> str:
    return f"su -P -c {shlex.quote(_bash(command))}"


def _spawn(command: str, _: Path) -> str:
    return f"/usr/bin/python3 -c {shlex.quote(_SPAWN)} {_bash(command)}"


@contextmanager
def _by_spawn(_: Path) -> Iterator[Wrap]:
    yield _spawn


@contextmanager
def _by_script(_: Path) -> Iterator[Wrap]:
    if shutil.which("script") is None:
        raise Unavailable("script is not installed")
    yield _script


@contextmanager
def _by_su(_: Path) -> Iterator[Wrap]:
    if os.geteuid():
        raise Unavailable("su asks everyone but root for a password")
    yield _su


@contextmanager
def _by_sudo(_: Path) -> Iterator[Wrap]:
    with use_pty():
        yield _sudo


@contextmanager
def _by_script_in_sudo(folder: Path) -> Iterator[Wrap]:
    with _by_script(folder), use_pty():
        yield lambda command, work: _sudo(_script(command, work), work)


@contextmanager
def _by_ssh(folder: Path) -> Iterator[Wrap]:
    with tempfile.TemporaryDirectory(dir=folder) as keys, ssh_server(Path(keys)) as options:
        words = " ".join(["ssh -q -t", *options, "127.0.0.1"])
        yield lambda command, work: f"{words} {shlex.quote(f'cd {work}; exec {_bash(command)}')}"


@contextmanager
def _by_podman(folder: Path) -> Iterator[Wrap]:
    with podman_container(folder, f"muxwire-relay-{os.getpid()}") as name:
        yield lambda command, work: f"podman exec -it -w {work} {name} {_bash(command)}"


# By its name: what sets it up for commands whose directories lie in that folder, and whether the kernel of this machine
# shows what waits in its inner terminal. docker's container would be held by a daemon in the same way as podman's.
RELAYS: dict[str, tuple[Callable[[Path], AbstractContextManager[Wrap]], bool]] = {
    "script -qc": (_by_script, True),
    "sudo, use_pty": (_by_sudo, True),
    "script in sudo": (_by_script_in_sudo, True),
    "su -P -c": (_by_su, True),
    "pty.spawn": (_by_spawn, True),
    "ssh -t": (_by_ssh, False),
    "podman exec -t": (_by_podman, False),
}


@contextmanager
def relays(folder: Path, names: Collection[str]) -> Iterator[tuple[list[Relay], dict[str, str]]]:
    """Set up those of the names that work here; yield them, and why the others do not."""
    found, missing = list[Relay](), dict[str, str]()
    with ExitStack() as ends:
        for name, (made, shown) in RELAYS.items():
            if name in names:
                try:
                    found.append(Relay(name, ends.enter_context(made(folder)), shown))
                except Unavailable as reason:
                    missing[name] = str(reason)
        yield found, missing
