"""What clients read that never changes: the live terminal of `show_terminal`, and the skill for agents with a shell.

Clients with MCP Apps (SEP-1865) show the page inside the conversation. Clients with skills (SEP-2640, by its stable
specification) find the text that `muxwire skill` prints; the specification has no declaration of a client, so the skill
is offered to all, and is a resource for those that know nothing of skills.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from muxwire.library.pages import page_of

# mcp.server.apps has these names too, with a server of its own that takes 25 ms to import.
UI_EXTENSION: Final = "io.modelcontextprotocol/ui"
PAGE_TYPE: Final = "text/html;profile=mcp-app"
TERMINAL_PAGE: Final = "ui://muxwire/terminal"

SKILLS_EXTENSION: Final = "io.modelcontextprotocol/skills"
SKILL: Final = "skill://muxwire-cli/SKILL.md"
SKILL_TYPE: Final = "text/markdown"

_PAGE_FILE = Path(__file__).parent / "terminal.html"
_SKILL_FILE = Path(__file__).parent.parent / "cli" / "SKILL.md"


def fixed(uri: str) -> dict[str, Any] | None:
    """What a resource holds that never changes; None for another URI.

    The page is in no list: nothing but its tool is to open it.
    """
    if uri == TERMINAL_PAGE:
        return {"mimeType": PAGE_TYPE, "text": page_of(_PAGE_FILE), "uri": uri}
    if uri == SKILL:
        return {"mimeType": SKILL_TYPE, "text": _SKILL_FILE.read_bytes().decode(), "uri": uri}
    return None


def skill() -> dict[str, Any]:
    """The skill as an entry of `skills/list`: what stands above its text, and the digest of the whole."""
    whole = _SKILL_FILE.read_bytes()
    above = whole.decode().split("---\n")[1].splitlines()  # each is `key: value`, without quotes
    return {
        "frontmatter": dict(line.split(": ", 1) for line in above),
        "resources": [{"digest": f"sha256:{sha256(whole).hexdigest()}", "size": len(whole), "uri": SKILL}],
        "uri": SKILL,
    }
