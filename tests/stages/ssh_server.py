"""A server for ssh of our own, on this machine, with keys of its own: nobody's configuration is read.

Not the start-up files of who runs it either: whom it lets in is at home in the server's directory.
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

from tests.stages import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

# A server answers within a moment; on a machine that does much else, within this.
START_SECONDS = 60.0
_ASK_SECONDS = 0.01
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
# By default sshd drops connections at random while ten others log in (MaxStartups, sshd_config(5)).
CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PidFile none
MaxStartups 100
PrintMotd no
SetEnv HISTFILE=/dev/null HOME={folder}
"""


def free_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


def _gives_terminal(options: list[str]) -> bool:
    """Whether a login gets a terminal: without root chown(2) of one to the group `tty` may be refused."""
    login = ["ssh", "-tt", *options, "127.0.0.1", "true"]
    return not subprocess.run(login, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode


@contextmanager
def ssh_server(folder: Path) -> Iterator[list[str]]:
    """Run a server, and give the options with which ssh reaches it. Unavailable."""
    if SSHD is None:
        raise Unavailable("sshd is not installed")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    port = free_port()
    (folder / "config").write_text(CONFIG.format(port=port, folder=folder))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where sshd locks itself in while a client is unknown
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "config")], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_SECONDS
        while not answers(port):
            if server.poll() is not None or time.monotonic() > end:
                raise Unavailable("sshd does not start here")
            time.sleep(_ASK_SECONDS)
        options = (
            f"-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes "
            f"-i {folder}/user -p {port}"
        ).split()
        if os.geteuid() and not _gives_terminal(options):
            raise Unavailable("sshd cannot open a terminal here without root")
        yield options
    finally:
        server.terminate()
        server.wait()
