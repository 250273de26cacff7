"""A person who attaches to a server of a test."""

from __future__ import annotations

from contextlib import AbstractContextManager

from muxwire import Terminals
from tests.stages import person as attached


def person(terminals: Terminals, session: str) -> AbstractContextManager[int]:
    """Attach to a session; yield the descriptor of the keyboard."""
    return attached.person(str(terminals.folders.socket_path), f"={session}")
