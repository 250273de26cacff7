"""The connection: one `tmux -C` process or another transport, its always-draining reader, its callers."""

from __future__ import annotations
