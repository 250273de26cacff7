"""How fast muxwire is, measured side by side with what it stands on: `python -m bench`."""

from __future__ import annotations
