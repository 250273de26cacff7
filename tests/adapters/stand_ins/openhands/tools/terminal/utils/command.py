"""openhands-tools 1.49: what the adapter uses of it, with its types."""

from __future__ import annotations


def split_bash_commands(commands: str) -> list[str]:
    """One for each line; the real one parses."""
    return commands.splitlines()
