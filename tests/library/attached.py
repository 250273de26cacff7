"""Somebody who attaches to a server of ours with tmux, at a terminal that a test made."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire import Terminals


@contextmanager
def person(terminals: Terminals, session: str) -> Iterator[int]:
    """Attach to a session; yield the descriptor of the keyboard. What tmux shows is read, and nobody sees it."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    environ = os.environ | {"TERM": "xterm-256color"}
    environ.pop("TMUX", None)
    argv = ["tmux", "-u", "-S", str(terminals.folders.socket_path), "attach-session", "-t", f"={session}"]

    def drain() -> None:
        with suppress(OSError):
            while os.read(ours, 65536):
                pass

    with subprocess.Popen(
        argv, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, start_new_session=True
    ) as tmux:
        os.close(theirs)
        reader = threading.Thread(target=drain)
        reader.start()
        try:
            yield ours
        finally:
            tmux.kill()
            tmux.wait()
            reader.join()
            os.close(ours)
