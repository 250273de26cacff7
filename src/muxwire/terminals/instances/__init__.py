"""An instance: its folders, its lock, its tmux server, and how it is taken up again, joined or adopted."""

from __future__ import annotations
