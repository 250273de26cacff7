"""What the machine of the panes is asked: processes, ttys, directories, locks, environments."""

from __future__ import annotations
