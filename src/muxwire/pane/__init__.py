"""One live pane: what its shell is doing, what is typed into it, and the commands that run in it."""

from __future__ import annotations
