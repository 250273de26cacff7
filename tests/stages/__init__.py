"""What tests and the benchmark set up on this machine: a server for ssh, containers, relays, a person, a slow link.

Each is there for as long as it is used, and leaves nothing behind. Nothing in here imports pytest: who cannot have a
stage is told `Unavailable`, and skips a test, or a row of a table.
"""

from __future__ import annotations


class Unavailable(Exception):
    """Something that is needed does not work on this machine; why."""
