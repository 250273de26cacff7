"""The tool that reports what happens in tabs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from muxwire.mcp.arguments import Arguments, Milliseconds, Target, seconds
from muxwire.mcp.registry import Call, Hints, tool
from muxwire.mcp.tools.screen import DEFAULT_WAIT_MS
from muxwire.tabs.event_log import KINDS

if TYPE_CHECKING:
    from muxwire.tabs.event_log import TabEvent

# Milliseconds: nobody needs to order events by their time, they have a sequence.
TIME_DIGITS = 3
# About 3 kB: an answer that a model reads at once, and asks for the next one if it wants more.
DEFAULT_EVENTS = 25


@dataclass(frozen=True, slots=True)
class Events:
    """What happened after a cursor; `next` is the one to ask with again."""

    events: list[dict[str, Any]]
    next: int
    dropped: int = 0


class WatchEvents(Arguments):
    window_ids: list[Target] = Field(default=[], description="[]: all")
    kinds: list[str] = Field(default=[], description=" ".join(KINDS))
    since: Annotated[int, Field(ge=-1)] = Field(default=-1, description="next of the last answer; 0: all kept")
    max_events: Annotated[int, Field(ge=1)] = DEFAULT_EVENTS
    timeout_ms: Milliseconds = DEFAULT_WAIT_MS


@tool(WatchEvents, returns=Events, hints=Hints(read_only=True), toolset="screen")
async def watch_events(call: Call, given: WatchEvents) -> Events:
    """Wait for events in tabs, by programs and people, after since. Output only if in kinds."""
    batch = await call.progress.during(
        call.terminals.watch_events(
            given.window_ids,
            kinds=given.kinds,
            since=given.since if given.since >= 0 else None,
            max_events=given.max_events,
            timeout=seconds(given.timeout_ms),
        )
    )
    return Events([_event(event) for event in batch.events], batch.next, batch.dropped)


def _event(event: TabEvent) -> dict[str, str | int | float]:
    """Return an event with its details among its fields; which there are depends on its kind."""
    details = {name: value for name, value in event.details.items() if value is not None}
    time = round(event.time, TIME_DIGITS)
    return {"sequence": event.sequence, "time": time, "kind": event.kind, "window_id": event.window_id, **details}
