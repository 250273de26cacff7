"""Terminals that agents and people can trust, over one tmux control-mode connection."""

from __future__ import annotations

__version__ = "0.1.0.dev0"
