"""Tools that open, show and close tabs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from muxwire.mcp.arguments import Arguments, Environment, InTab, Milliseconds, seconds
from muxwire.mcp.registry import Call, Hints, tool
from muxwire.results import TabList

# Columns and rows.
SIZE_LENGTH = 2


def _nothing(given: object) -> object:
    """Return no size for one of zeros: so strict clients say that there is none."""
    if not isinstance(given, list):
        return given
    if len(given) not in (0, SIZE_LENGTH):
        raise ValueError("must be columns and rows")
    return given if any(given) else []


Size = Annotated[
    list[Annotated[int, Field(ge=1)]],
    BeforeValidator(_nothing),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}, "description": "columns, rows"}),
]


@dataclass(frozen=True, slots=True)
class NewTab:
    window_id: str
    name: str
    pane_id: str
    session: str
    log_path: str


@dataclass(frozen=True, slots=True)
class Success:
    """It was done; else there is an error."""

    success: bool


class CreateTab(Arguments):
    name: str = ""
    cwd: str = ""
    env: Environment = Field(default={})
    login: bool = False
    shell: str = ""
    command: list[str] = Field(default=[], description="argv to run in place of a shell")
    session: str = ""
    size: Size = Field(default=[])
    strip_ansi: bool = Field(default=False, description="default of all reads of it")
    idle_timeout_ms: Milliseconds = Field(default=0, description="close when unused so long")
    host: str = Field(default="", description="as hosts.toml allows")


class CloseTab(InTab):
    force: bool = Field(default=False, description="even if something runs")
    session: str = Field(default="", description="all its tabs instead")


class ListTabs(Arguments):
    closed: bool = Field(default=False, description="closed tabs too")
    session: str = ""


@tool(
    CreateTab,
    returns=NewTab,
    hints=Hints(destructive=True, open_world=True),  # `command` may be anything
)
async def create_tab(call: Call, given: CreateTab) -> NewTab:
    """Open a tab with a shell; it lives until closed."""
    tab = await call.terminals.create_tab(
        name=given.name,
        cwd=given.cwd or None,
        env=given.env or None,
        login=given.login,
        shell=given.shell or None,
        command=given.command or None,
        session=given.session or None,
        size=(given.size[0], given.size[1]) if given.size else None,
        strip_ansi=given.strip_ansi,
        idle_timeout=seconds(given.idle_timeout_ms) or None,
        host=given.host,
    )
    return NewTab(tab.key, tab.name, tab.prefix + tab.pane_id, tab.session, str(tab.log_path))


@tool(ListTabs, returns=TabList, hints=Hints(read_only=True))
async def list_tabs(call: Call, given: ListTabs) -> TabList:
    """List tabs and sessions. state "prompt": ready."""
    return await call.terminals.list_tabs(closed=given.closed, session=given.session)


@tool(CloseTab, returns=Success, hints=Hints(destructive=True))
async def close_tab(call: Call, given: CloseTab) -> Success:
    """Close a tab and end what runs in it. Its log stays."""
    if given.session and not given.window_id:
        await call.terminals.close_session(given.session, force=given.force)
    else:
        await call.terminals.close_tab(given.target, force=given.force)
    return Success(success=True)
