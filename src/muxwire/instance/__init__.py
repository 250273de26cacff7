"""An instance over time: connecting, reattaching, followers, spools, adopted servers."""

from __future__ import annotations
