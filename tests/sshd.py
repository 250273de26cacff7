"""A server for ssh of the test's own, on this machine, with keys of its own: nobody's configuration is read.

Not the start-up files of who runs the tests either: whom it lets in is at home in the server's directory.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

DEADLINE = 60.0
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PidFile none
PrintMotd no
SetEnv HISTFILE=/dev/null HOME={folder}
"""


def answers(port: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def ssh_server(folder: Path) -> Iterator[list[str]]:
    """Run a server, and give the options with which ssh reaches it; skipped where there is no sshd."""
    if SSHD is None:
        pytest.skip("sshd is not installed")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "config").write_text(CONFIG.format(port=port, folder=folder))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where sshd locks itself in while a client is unknown
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "config")], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + DEADLINE
        while not answers(port):
            assert server.poll() is None
            assert time.monotonic() < end
        yield (
            f"-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes "
            f"-i {folder}/user -p {port}"
        ).split()
    finally:
        server.terminate()
        server.wait()
