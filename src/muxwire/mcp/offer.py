"""What one server offers its clients, and what the requests of one of their connections may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.mcp.channel import Channel
    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.mcp.registry import Catalogue, Told
    from muxwire.mcp.resources import Updates


@final
@dataclass(frozen=True, slots=True)
class Offer:
    """What one server offers its clients."""

    catalogue: Catalogue
    instructions: str | None
    experimental: Mapping[str, dict[str, Any]] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Connection:
    """What every request of one connection may use."""

    terminals: LazyTerminals
    updates: Updates
    channel: Channel | None  # is given every result; None unless ends are sent into the session
    told: Told
