"""What the machine of the panes is asked: processes, ttys, folders, locks, environments."""

from __future__ import annotations
