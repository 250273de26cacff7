"""A carrier that can be cut: `proxy.py PIDFILE PROGRAM...` passes on what goes to the program and what comes from it.

It refuses while there is a file PIDFILE.down. SIGUSR1: of the next bytes half are passed on, and both ends are closed.
SIGSTOP is a network that falls silent.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
from pathlib import Path

_BYTES = 65536


def main() -> None:
    if Path(sys.argv[1] + ".down").exists():
        sys.exit("proxy: the connection was refused")
    closing = []
    signal.signal(signal.SIGUSR1, lambda *_: closing.append(True))
    Path(sys.argv[1]).write_text(str(os.getpid()))
    program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdin is not None
    assert program.stdout is not None
    ways = {0: program.stdin.fileno(), program.stdout.fileno(): 1}
    with selectors.DefaultSelector() as ready:
        for source in ways:
            ready.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                data = os.read(key.fd, _BYTES)
                rest = data[: len(data) // 2] if closing else data
                while rest:
                    rest = rest[os.write(ways[key.fd], rest) :]
                if closing or not data:
                    return


main()
