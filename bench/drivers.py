"""Runs `true` by one road each time a line comes on standard input: for libraries that muxwire does not depend on.

`python drivers.py libtmux|pexpect SOCKET`, with a Python that has that library; a line comes back when it has ended.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Road = tuple[Callable[[], None], Callable[[], Any]]


def libtmux_road(socket: str) -> Road:
    """send_keys, then capture_pane in a loop."""
    import libtmux  # type: ignore[import-not-found]

    server = libtmux.Server(socket_path=socket, config_file="/dev/null")
    pane = server.new_session(session_name="bench", window_command="bash --norc", x=200, y=50).active_pane
    count = 0

    def run() -> None:
        nonlocal count
        count += 1
        pane.send_keys(f"true; echo end-''{count}-$?")
        while f"end-{count}-0" not in pane.capture_pane():
            pass

    return run, server.kill


def pexpect_road(socket: str) -> Road:
    """A bash of its own on a pty, and a marker behind the command."""
    import pexpect  # type: ignore[import-untyped]

    del socket
    shell = pexpect.spawn("bash", ["--norc"], echo=False, encoding="utf-8")
    shell.delaybeforesend = None
    count = 0

    def run() -> None:
        nonlocal count
        count += 1
        shell.sendline(f"true; echo end-''{count}-$?")
        shell.expect_exact(f"end-{count}-0")

    return run, lambda: shell.close(force=True)


def main() -> None:
    """Serve until standard input ends."""
    run, end = {"libtmux": libtmux_road, "pexpect": pexpect_road}[sys.argv[1]](sys.argv[2])
    try:
        run()
        print("ready", flush=True)
        for _ in sys.stdin:
            run()
            print("done", flush=True)
    finally:
        end()


if __name__ == "__main__":
    main()
