"""The bytes of a terminal: the ring buffer, text, cells, screens. Pure: bytes in, values out."""

from __future__ import annotations
