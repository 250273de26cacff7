"""openhands-sdk 1.49: what the adapter uses of it, with its types."""

from __future__ import annotations

from typing import Generic, TypeVar

ActionT = TypeVar("ActionT")
ObservationT = TypeVar("ObservationT")


class ToolExecutor(Generic[ActionT, ObservationT]):
    pass
