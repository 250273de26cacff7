"""Identifiers as tmux prints them: sessions `$0`, windows `@1`, panes `%2` (tmux(1) COMMANDS)."""

from __future__ import annotations

import re
from typing import NewType

SessionId = NewType("SessionId", str)
WindowId = NewType("WindowId", str)
PaneId = NewType("PaneId", str)

# Targets: the tab used last, and the tab used before it. Which tabs they name changes from call to call.
LAST_USED, USED_BEFORE = ".", "="
_ID = re.compile(r"[$@%][0-9]{1,10}\Z")


def _checked(text: str, sigil: str, kind: str) -> str:
    if not (_ID.match(text) and text[0] == sigil):
        raise ValueError(f"{text!r} is not a {kind} id ({sigil} and a number)")
    return text


def session_id(text: str) -> SessionId:
    """Return `text` as a session id; ValueError if it is not `$` and a number."""
    return SessionId(_checked(text, "$", "session"))


def window_id(text: str) -> WindowId:
    """Return `text` as a window id; ValueError if it is not `@` and a number."""
    return WindowId(_checked(text, "@", "window"))


def pane_id(text: str) -> PaneId:
    """Return `text` as a pane id; ValueError if it is not `%` and a number."""
    return PaneId(_checked(text, "%", "pane"))


def host_of(target: str) -> tuple[str, str]:
    """The host in `HOST/@N`, and the id there; "" for what is on this machine.

    A number in place of the host is a generation of this machine's tmux server: the target is one of its logs.
    """
    host, _, rest = target.rpartition("/")
    return (host, rest) if host and not host.isdigit() and _ID.match(rest) and rest[0] != "$" else ("", target)
