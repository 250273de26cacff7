"""How a text names a verb, so that each front end prints its own spelling.

A remedy says "`list_tabs` shows every tab": the id of a verb between backticks, or of a parameter, `close_tab.force`.
The MCP server prints the tool's name in its place, the command line `muxwire ls`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MENTION = re.compile(r"`([a-z_]+(?:\.[a-z_]+)?)`")


def spelled(text: str, words: Mapping[str, str]) -> str:
    """The text with these words for the verbs that it names; other things between backticks stay as they are."""
    return MENTION.sub(lambda found: words.get(found[1], found[0]), text)
