"""What the panes wrote, kept and read again: segments on disk, limits, tails, pieces, searches."""

from __future__ import annotations
