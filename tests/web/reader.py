"""A reader of frames, as `muxwire observe` prints them: the rule of web/frames.py in a few lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any


def read(shown: dict[str, Any], line: str) -> dict[str, Any]:
    """What is shown after one more line."""
    told = json.loads(line)
    if told["frame"] == "full":
        return {name: value for name, value in told.items() if name not in ("frame", "schema_version")}
    lines = shown["lines"][told.pop("up", 0) :]
    count = told.pop("count")
    lines = [*lines, *([""] for _ in range(len(lines), count))][:count]
    for y, *row in told.pop("lines"):
        lines[y] = row
    del told["frame"]
    return {**shown, **told, "lines": lines}


async def shown_when(
    lines: AsyncIterator[str], holds: Callable[[dict[str, Any]], bool], before: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What is shown as soon as that holds; `before` is what the lines before these have shown."""
    shown = before or {}
    async for line in lines:
        assert '"frame":"end"' not in line, line
        shown = read(shown, line)
        if holds(shown):
            return shown
    raise AssertionError(shown)


def text_of(shown: dict[str, Any]) -> str:
    return "\n".join(row[0] for row in shown["lines"])
