"""Layout strings as tmux prints them (`#{window_layout}`), read before tmux does: a broken one must not reach it.

    CHECKSUM,WIDTHxHEIGHT,X,Y[,PANE] or [...] above each other, {...} next to each other

The checksum is that of `layout_checksum` in tmux's layout-custom.c.
"""

from __future__ import annotations

import re

from muxwire.errors import InvalidArgument

NAMES = ("even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled")

_CELL = re.compile(r"[0-9]{1,5}x[0-9]{1,5},[0-9]{1,5},[0-9]{1,5}")
_PANE = re.compile(r",[0-9]{1,10}(?![0-9x])")
# tmux's own windows stop at a few dozen panes; a deeper nesting than this is no layout of theirs.
_DEPTH_MAX = 64


def check_layout(layout: str) -> None:
    """InvalidArgument for a name that tmux does not know, and for a string that it would not have printed."""
    if layout in NAMES:
        return
    checksum, _, cells = layout.partition(",")
    if not re.fullmatch(r"[0-9a-f]{4}", checksum) or _cell(cells, 0, 0) != len(cells):
        raise InvalidArgument(
            f"{layout!r} is no layout", remedy=f"use {', '.join(NAMES)}, or a whole #{{window_layout}} of tmux"
        )
    if f"{checksum_of(cells):04x}" != checksum:
        raise InvalidArgument("the layout's checksum is wrong", remedy="use a whole #{window_layout}, unchanged")


def checksum_of(cells: str) -> int:
    """What tmux writes in front of a layout."""
    total = 0
    for sign in cells.encode():
        total = ((total >> 1) + ((total & 1) << 15) + sign) & 0xFFFF
    return total


def _cell(text: str, at: int, depth: int) -> int:
    """Where the cell that begins at `at` ends; -1 if there is none."""
    found = _CELL.match(text, at)
    if found is None or depth > _DEPTH_MAX:
        return -1
    at = found.end()
    if pane := _PANE.match(text, at):
        return pane.end()
    closing = {"[": "]", "{": "}"}.get(text[at : at + 1], "")
    while closing:
        at = _cell(text, at + 1, depth + 1)
        if at < 0 or text[at : at + 1] not in (",", closing):
            return -1
        if text[at] == closing:
            return at + 1
    return at
