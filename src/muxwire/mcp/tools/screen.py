"""Tools that show a screen, type into programs, and wait for them and for events in tabs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from muxwire.mcp.arguments import ACTIVE, Arguments, InTab, Milliseconds, Target, seconds
from muxwire.mcp.registry import Call, Hints, tool
from muxwire.results import Cursor, KeysSent, Snapshot, WaitOutcome
from muxwire.tabs.event_log import KINDS
from muxwire.tabs.waits import Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.tabs.event_log import TabEvent
    from muxwire.vt.cells import Run

# What a build's step or a server's start takes; a longer wait is better said in so many words.
DEFAULT_WAIT_MS = 30_000
# Milliseconds: nobody needs to order events by their time, they have a sequence.
TIME_DIGITS = 3
# About 3 kB: an answer that a model reads at once, and asks for the next one if it wants more.
DEFAULT_EVENTS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    schema_version: int
    pane: str
    cols: int
    rows: int
    cursor: Cursor
    lines: tuple[str, ...]
    next_byte: int
    source: str
    title: str = ""
    alternate_screen: bool = False
    soft_wrap: tuple[int, ...] = ()
    scrollback: tuple[str, ...] | None = None
    cells: list[dict[str, Any]] | None = None
    scrollback_cells: list[dict[str, Any]] | None = None
    exact: bool = True


# All but the cells, which a model gets as flat objects.
_SAME = tuple(field.name for field in fields(Screen) if field.name not in ("cells", "scrollback_cells"))


class TakeSnapshot(InTab):
    at_byte: Annotated[int, Field(ge=-1)] = -1
    command_id: str = ""
    scrollback: Annotated[int, Field(ge=-1)] = Field(default=-1, description="also N rows above; 0: all")
    cells: bool = Field(default=False, description="styles")
    unwrap: bool = Field(default=False, description="join wrapped rows")


class SendKeys(InTab):
    keys: str | list[str] = Field(min_length=1, description="key names (Enter, C-c, M-x, Up, F5) or text, one or many")
    literal: bool = Field(default=False, description="no key names")
    paste: bool = Field(default=False, description="as pasted blocks")
    until: str = Field(default="", description="text to wait for")
    regex: str = ""
    idle_ms: Milliseconds = 0
    wait_ms: Milliseconds = Field(default=0, description="at most; alone: for the answer")


class WaitFor(Arguments):
    window_ids: list[Target] = Field(default=[], description="[]: the active tab")
    until: str = Field(default="", description="text")
    regex: str = ""
    idle_ms: Milliseconds = Field(default=0, description="no output for so long")
    exit: bool = Field(default=False, description="the tab's program ends")
    prompt: bool = Field(default=False, description="the shell is ready")
    bell: bool = False
    from_byte: Annotated[int, Field(ge=-1)] = -1
    timeout_ms: Milliseconds = DEFAULT_WAIT_MS


@tool(TakeSnapshot, returns=Screen, hints=Hints(read_only=True), toolset="screen", large_result=True)
async def snapshot(call: Call, given: TakeSnapshot) -> Screen:
    """See a tab's screen: now, at_byte of its output, or at command_id's end. For plain output read the log."""
    taken = await call.terminals.snapshot(
        given.target,
        given.scrollback if given.scrollback >= 0 else None,
        cells=given.cells,
        unwrap=given.unwrap,
        at_byte=given.at_byte if given.at_byte >= 0 else None,
        command_id=given.command_id,
    )
    return _screen(taken)


@tool(SendKeys, returns=KeysSent, hints=Hints(destructive=True, open_world=True), toolset="screen")
async def send_keys(call: Call, given: SendKeys) -> KeysSent:
    """Type into what runs in a tab: REPL, editor, prompt. With until, regex, idle_ms or wait_ms the new output, state
    and exit_code come in the same call; a command's own output is in command_result.
    """
    wanted = None
    if given.until or given.regex or given.idle_ms:
        idle = seconds(given.idle_ms) if given.idle_ms else None
        wanted = Wanted.checked(until=given.until, regex=given.regex, idle=idle)
    wait = seconds(given.wait_ms or (DEFAULT_WAIT_MS if wanted else 0))
    tab, _ = await call.terminals.tab_or_new(given.target, within=wait or inf)
    typed = tab.send_keys(given.keys, paste=given.paste, literal=given.literal, wanted=wanted, wait=wait)
    return await call.progress.during(typed)


@tool(WaitFor, returns=WaitOutcome, hints=Hints(read_only=True), toolset="screen")
async def wait_for(call: Call, given: WaitFor) -> WaitOutcome:
    """Wait until one of these tabs meets a condition. Text is matched without escape sequences, from the last
    command on, or from_byte: next_byte of send_keys leaves the echo out.
    """
    return await call.progress.during(
        call.terminals.wait_for(
            given.window_ids or [ACTIVE],
            until=given.until,
            regex=given.regex,
            idle=seconds(given.idle_ms) if given.idle_ms else None,
            exit=given.exit,
            prompt=given.prompt,
            bell=given.bell,
            from_byte=given.from_byte if given.from_byte >= 0 else None,
            timeout=seconds(given.timeout_ms),
        )
    )


def _screen(taken: Snapshot) -> Screen:
    same = {name: getattr(taken, name) for name in _SAME}
    return Screen(**same, cells=_runs(taken.cells), scrollback_cells=_runs(taken.scrollback_cells))


def _runs(cells: Sequence[Run] | None) -> list[dict[str, Any]] | None:
    return None if cells is None else [run.flat() for run in cells]


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
