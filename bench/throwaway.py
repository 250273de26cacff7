"""A throw-away copy of this machine for commands that were recorded elsewhere: nothing that they do gets out of it.

All that is written goes to memory over a view of this machine's files, and is gone with the last process. There is no
network, no other process, no device and no home in it. bubblewrap shuts it; the view needs root.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.machine import ROOT
from tests.stages import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where the commands run; the programs that run them have the other one.
WORK, OWN = Path("/app"), Path("/tmp/own")
MEMORY = "1g"
# As a login shell has it, so that every way finds the same programs.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What a container has of root's rights, without the making of devices.
RIGHTS = ("chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "net_bind_service",
          "sys_chroot", "setfcap")  # fmt: skip
# Made empty, so that nothing of the person at this machine is in it.
HIDDEN = (Path("/tmp"), Path("/run"), Path("/mnt"), Path("/media"))


@contextmanager
def throwaway(python: Path) -> Iterator[list[str]]:
    """The words to put before a program, for one time; `python` is to be found in it. Unavailable."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("bwrap", "unshare"))):
        raise Unavailable("a throw-away root needs root, bwrap (bubblewrap) and unshare (util-linux)")
    hidden = (*HIDDEN, Path.home(), Path("/home"))
    needed = {ROOT, python.parent.parent, python.resolve().parent.parent}
    shut = ["bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc",
            "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]  # fmt: skip
    shut += [word for right in RIGHTS for word in ("--cap-add", f"CAP_{right.upper()}")]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        shut += ["--bind", f"{folder}/root", "/", "--dev", "/dev", "--proc", "/proc"]
        shut += ["--ro-bind", "/proc/sys", "/proc/sys"]
        shut += [word for path in hidden if path.is_dir() for word in ("--perms", "1777", "--tmpfs", str(path))]
        for path in sorted(needed):
            if any(path.is_relative_to(over) for over in hidden):
                shut += ["--ro-bind", str(path), str(path)]
        shut += ["--dir", str(OWN), "--dir", str(WORK), "--chdir", str(ROOT)]
        lay = (
            f"mount -t tmpfs -o size={MEMORY} none {folder} && mkdir {folder}/upper {folder}/work {folder}/root && "
            f"mount -t overlay none -o lowerdir=/,upperdir={folder}/upper,workdir={folder}/work {folder}/root && "
            f'exec {shlex.join(shut)} -- "$@"'
        )
        yield ["nice", "unshare", "--mount", "sh", "-c", lay, "throwaway"]
