"""The tmux server of an instance: its program, start, sessions and status line. It knows no tab."""

from __future__ import annotations
