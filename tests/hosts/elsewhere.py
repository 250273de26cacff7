"""Reads a terminal in a file system of terminals of its own, as a container has; its number comes by standard input.

Run by `unshare -m` as the leader of a session; its argument is an empty directory.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import termios
from pathlib import Path

UNLOCK = 0x40045431  # TIOCSPTLCK, as unlockpt(3) has it (asm-generic/ioctls.h)

folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "devpts", "-o", "newinstance,ptmxmode=666", "devpts", folder], check=True)
inner = folder / sys.stdin.readline().strip()
while not inner.exists():  # they are counted from 0
    master = os.open(folder / "ptmx", os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(master, UNLOCK, b"\0\0\0\0")
terminal = os.open(inner, os.O_RDWR)
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
print("reads", flush=True)
os.read(terminal, 1)
