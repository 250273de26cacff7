"""Tools for eyes and hands: seeing a screen, typing into programs, waiting for them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from muxwire.mcp.arguments import Arguments, InTab, Milliseconds, Target, seconds
from muxwire.mcp.registry import Call, Hints, Result, tool
from muxwire.mcp.schemas import ARRAY, BOOLEAN, INTEGER, STRING, object_of

# What a build's step or a server's start takes; a longer wait is better said in so many words.
DEFAULT_WAIT_MS = 30_000

SNAPSHOT = {
    "schema_version": INTEGER,
    "pane": STRING,
    "cols": INTEGER,
    "rows": INTEGER,
    "cursor": {"type": "object"},
    "lines": ARRAY,
    "title": STRING,
    "alternate_screen": BOOLEAN,
    "soft_wrap": ARRAY,
    "scrollback": ARRAY,
    "cells": ARRAY,
    "next_byte": INTEGER,
    "source": STRING,
}


class TakeSnapshot(InTab):
    """What `snapshot` takes."""

    scrollback: Annotated[int, Field(ge=-1)] = Field(default=-1, description="also N rows above; 0: all")
    cells: bool = Field(default=False, description="styled runs too")
    unwrap: bool = Field(default=False, description="join wrapped rows")


class SendKeys(InTab):
    """What `send_keys` takes."""

    keys: list[str] = Field(min_length=1, description="key names (Enter, C-c, M-x, Up, F5) or literal text")
    paste: bool = Field(default=False, description="texts as pasted blocks")


class WaitFor(Arguments):
    """What `wait_for` takes."""

    window_ids: list[Target] = Field(min_length=1)
    until: str = Field(default="", description="text")
    regex: str = ""
    idle_ms: Milliseconds = Field(default=0, description="no output for so long")
    exit: bool = Field(default=False, description="the tab's program ends")
    prompt: bool = Field(default=False, description="the shell is ready")
    bell: bool = False
    from_byte: Annotated[int, Field(ge=-1)] = Field(default=-1, description="look at output from there on")
    timeout_ms: Milliseconds = DEFAULT_WAIT_MS


@tool(
    TakeSnapshot,
    returns=object_of(SNAPSHOT),
    hints=Hints(read_only=True),
    toolset="screen",
    large_result=True,
)
async def snapshot(call: Call, given: TakeSnapshot) -> Result:
    """See what a tab's screen shows now, as full-screen programs draw it. For plain output read the log."""
    tab = await call.terminals.tab(given.window_id)
    taken = await tab.snapshot(
        given.scrollback if given.scrollback >= 0 else None, cells=given.cells, unwrap=given.unwrap
    )
    told = {name: getattr(taken, name) for name in SNAPSHOT if name not in ("cursor", "cells", "scrollback")}
    told["cursor"] = asdict(taken.cursor)
    if taken.scrollback is not None:
        told["scrollback"] = taken.scrollback
    if taken.cells is not None:
        told["cells"] = [run.told() for run in taken.cells]
    if taken.scrollback_cells is not None:
        told["scrollback_cells"] = [run.told() for run in taken.scrollback_cells]
    return told


@tool(
    SendKeys,
    returns=object_of({"sent": INTEGER, "pane": STRING, "next_byte": INTEGER, "note": STRING}),
    hints=Hints(destructive=True, open_world=True),
    toolset="screen",
)
async def send_keys(call: Call, given: SendKeys) -> Result:
    """Type into the program that runs in a tab: REPL, editor, prompt. Then wait_for from next_byte, or snapshot."""
    tab = await call.terminals.tab(given.window_id)
    sent = await tab.send_keys(given.keys, paste=given.paste)
    fields: dict[str, object] = {"sent": sent.sent, "pane": sent.pane, "next_byte": sent.next_byte}
    return fields | ({"note": sent.note} if sent.note else {})


@tool(
    WaitFor,
    returns=object_of(
        {
            "outcome": {"enum": ["met", "timed_out", "closed"]},
            "which": STRING,
            "match": STRING,
            "matched_at_entry": BOOLEAN,
            "next_byte": INTEGER,
            "tail": STRING,
        }
    ),
    hints=Hints(read_only=True),
    toolset="screen",
)
async def wait_for(call: Call, given: WaitFor) -> Result:
    """Wait until one of these tabs meets any condition. Text is matched without escape sequences, from the
    last command on, or from_byte: with next_byte of send_keys the echo does not count.
    """
    outcome = await call.progress.during(
        call.terminals.wait_for(
            given.window_ids,
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
    return asdict(outcome)
