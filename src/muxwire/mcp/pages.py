"""The page that clients with MCP Apps (SEP-1865) show inside the conversation: the live terminal of `show_terminal`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from muxwire.library.pages import page_of

# mcp.server.apps has these names too, with a server of its own that takes 25 ms to import.
UI_EXTENSION: Final = "io.modelcontextprotocol/ui"
PAGE_TYPE: Final = "text/html;profile=mcp-app"
TERMINAL_PAGE: Final = "ui://muxwire/terminal"

_FILE = Path(__file__).parent / "terminal.html"


@cache
def terminal_page() -> str:
    """The page, as one text."""
    return page_of(_FILE)
