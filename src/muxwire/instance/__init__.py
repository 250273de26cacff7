"""An instance over time: connecting, reattaching, followers, handoff, adopted servers."""

from __future__ import annotations
