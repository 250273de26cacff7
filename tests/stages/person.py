"""A person who attaches to a tmux server, at a terminal that is made for that."""

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


@contextmanager
def person(socket: str, target: str, *, rows: int = 24, columns: int = 80) -> Iterator[int]:
    """Attach to a session or window; yield the descriptor of the keyboard. What tmux draws is read and thrown away."""
    keyboard, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (rows, columns))
    environ = os.environ | {"TERM": "xterm-256color"}
    environ.pop("TMUX", None)
    argv = ["tmux", "-u", "-S", socket, "attach-session", "-t", target]

    def drain() -> None:
        with suppress(OSError):
            while os.read(keyboard, 65536):
                pass

    with subprocess.Popen(
        argv, stdin=terminal, stdout=terminal, stderr=terminal, env=environ, start_new_session=True
    ) as tmux:
        os.close(terminal)
        reader = threading.Thread(target=drain)
        reader.start()
        try:
            yield keyboard
        finally:
            tmux.kill()
            tmux.wait()
            reader.join()
            os.close(keyboard)
