"""The debugging REPL: one prompt on a control connection, and everything that tmux says above it."""

from __future__ import annotations
