"""Tools that open, show and close tabs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from muxwire.mcp.arguments import Arguments, Environment, InTab
from muxwire.mcp.registry import Call, Hints, Result, tool
from muxwire.mcp.schemas import ARRAY, BOOLEAN, STRING, object_of

TAB = dict.fromkeys(("window_id", "name", "pane_id", "session", "log_path"), STRING)
SUCCESS = object_of({"success": BOOLEAN})

Size = Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2, max_length=2)]


class CreateTab(Arguments):
    """What `create_tab` takes."""

    name: str = ""
    cwd: str = ""
    env: Environment = Field(default={})
    login: bool = False
    shell: str = ""
    command: list[str] = Field(default=[], description="argv to run in place of a shell")
    session: str = ""
    size: Size = Field(default=[], description="columns, rows")


class CloseTab(InTab):
    """What `close_tab` takes."""

    force: bool = Field(default=False, description="even if something runs")


@tool(
    CreateTab,
    returns=object_of(TAB),
    hints=Hints(destructive=True, open_world=True),  # `command` may be anything
)
async def create_tab(call: Call, given: CreateTab) -> Result:
    """Open a terminal tab with a shell; it lives until closed."""
    tab = await call.terminals.create_tab(
        name=given.name,
        cwd=given.cwd or None,
        env=given.env or None,
        login=given.login,
        shell=given.shell or None,
        command=given.command or None,
        session=given.session or None,
        size=(given.size[0], given.size[1]) if given.size else None,
    )
    return {
        "window_id": tab.window_id,
        "name": tab.name,
        "pane_id": tab.pane_id,
        "session": tab.session,
        "log_path": str(tab.log_path),
    }


@tool(
    Arguments,
    returns=object_of({"tabs": ARRAY, "sessions": ARRAY}),
    hints=Hints(read_only=True),
)
async def list_tabs(call: Call, _given: Arguments) -> Result:
    """List tabs (closed ones too: logs stay readable) and sessions with attached clients. state "prompt": ready."""
    listed = await call.terminals.list_tabs()
    return {"tabs": [asdict(tab) for tab in listed.tabs], "sessions": [asdict(session) for session in listed.sessions]}


@tool(CloseTab, returns=SUCCESS, hints=Hints(destructive=True))
async def close_tab(call: Call, given: CloseTab) -> Result:
    """Close a tab and end what runs in it. Its log stays."""
    await call.terminals.close_tab(given.window_id, force=given.force)
    return {"success": True}
