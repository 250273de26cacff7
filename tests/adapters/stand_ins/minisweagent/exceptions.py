"""mini-swe-agent 2.4: what the adapter uses of it, with its types."""

from __future__ import annotations


class Submitted(Exception):
    pass
