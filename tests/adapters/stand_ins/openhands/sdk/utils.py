"""openhands-sdk 1.49: what the adapter uses of it, with its types."""

from __future__ import annotations


def maybe_truncate(content: str, truncate_after: int | None = None) -> str:
    return content if truncate_after is None else content[:truncate_after]
