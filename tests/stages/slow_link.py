"""Stand in for another machine: it is this one, behind a link with a round trip of so many milliseconds.

`slow_link.py MILLISECONDS PROGRAM...` passes on what goes to the program and what comes from it, each half a round trip
later.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping

_BYTES = 65536
# What a login there would set.
_THERE = ("HOME", "PATH", "SHELL", "TMPDIR", "LANG", "ENV")


def carrier(environ: Mapping[str, str], milliseconds: float) -> list[str]:
    """The program that reaches this machine as another one, by a link of that round trip."""
    there = [f"{name}={environ[name]}" for name in _THERE if name in environ]
    delay = [sys.executable, __file__, str(milliseconds)] if milliseconds else []
    return [*delay, "env", "-i", *there]


def main() -> None:
    """Pass on, until the program has ended and all that it wrote is through."""
    late = float(sys.argv[1]) / 2000
    program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdin is not None
    assert program.stdout is not None
    ways = {0: program.stdin.fileno(), program.stdout.fileno(): 1}
    held: deque[tuple[float, int, bytes]] = deque()  # all wait equally long, so their order is that of time
    # epoll rounds what it waits up to a millisecond.
    with selectors.SelectSelector() as ready:
        for source in ways:
            ready.register(source, selectors.EVENT_READ)
        while True:
            found = ready.select(max(0.0, held[0][0] - time.monotonic()) if held else None)
            for key, _ in found:
                data = os.read(key.fd, _BYTES)
                held.append((time.monotonic() + late, ways[key.fd], data))
                if not data:
                    ready.unregister(key.fd)
            while held and held[0][0] <= time.monotonic():
                _, target, data = held.popleft()
                if not data and target == 1:
                    return
                if not data:
                    program.stdin.close()
                while data:
                    data = data[os.write(target, data) :]


if __name__ == "__main__":
    main()
