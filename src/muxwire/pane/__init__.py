"""What a pane's bytes mean: pure, bytes in and values out."""

from __future__ import annotations
