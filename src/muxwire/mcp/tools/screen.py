"""Tools for eyes and hands: typing into programs, waiting for them."""

from __future__ import annotations

from pydantic import Field

from muxwire.mcp.arguments import InTab
from muxwire.mcp.registry import Call, Hints, Result, tool
from muxwire.mcp.schemas import INTEGER, STRING, object_of


class SendKeys(InTab):
    """What `send_keys` takes."""

    keys: list[str] = Field(min_length=1, description="key names (Enter, C-c, M-x, Up, F5) or literal text")
    paste: bool = Field(default=False, description="texts as pasted blocks")


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
