"""What a pane shows and takes: snapshots, keys, recordings."""

from __future__ import annotations
