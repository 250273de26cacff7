"""Running commands in a pane: whose turn it is, who listens, what is typed, how it ends, what is told."""

from __future__ import annotations
