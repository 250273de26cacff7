"""The tool that tells what happens in tabs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from muxwire.mcp.arguments import Arguments, Milliseconds, Target, seconds
from muxwire.mcp.registry import Call, Hints, Result, tool
from muxwire.mcp.schemas import ARRAY, INTEGER, object_of
from muxwire.mcp.tools.screen import DEFAULT_WAIT_MS
from muxwire.tabs.event_log import DEFAULT_LIMIT, KINDS

# Milliseconds: nobody needs to order events by their time, they have a sequence.
TIME_DIGITS = 3


class WatchEvents(Arguments):
    """What `watch_events` takes."""

    window_ids: list[Target] = Field(default=[], description="[]: all")
    kinds: list[str] = Field(default=[], description=" ".join(KINDS))
    since: Annotated[int, Field(ge=-1)] = Field(default=-1, description="next of the last answer; 0: all kept")
    max_events: Annotated[int, Field(ge=1)] = DEFAULT_LIMIT
    timeout_ms: Milliseconds = DEFAULT_WAIT_MS


@tool(
    WatchEvents,
    returns=object_of({"events": ARRAY, "next": INTEGER, "dropped": INTEGER}),
    hints=Hints(read_only=True),
    toolset="screen",
)
async def watch_events(call: Call, given: WatchEvents) -> Result:
    """Wait for events in tabs, by programs and people; tells those after since. Output only if in kinds."""
    batch = await call.progress.during(
        call.terminals.watch_events(
            given.window_ids,
            kinds=given.kinds,
            since=given.since if given.since >= 0 else None,
            max_events=given.max_events,
            timeout=seconds(given.timeout_ms),
        )
    )
    events: list[dict[str, object]] = [
        {
            "sequence": event.sequence,
            "time": round(event.time, TIME_DIGITS),
            "kind": event.kind,
            "window_id": event.window_id,
        }
        | dict(event.details)
        for event in batch.events
    ]
    return {"events": events, "next": batch.next, "dropped": batch.dropped}
