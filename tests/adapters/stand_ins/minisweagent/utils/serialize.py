"""mini-swe-agent 2.4: what the adapter uses of it, with its types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def recursive_merge(*dictionaries: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for one in dictionaries for name, value in one.items()}
