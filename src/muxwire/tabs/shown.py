"""What a person would have read of a part of a pane's output: marks, typed lines of ours and escape sequences cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.shell import TYPED_LINES
from muxwire.shell.visible import SEQUENCE_END, lookbehind, visible_range
from muxwire.vt.readable import Readable, on_alternate, readable

if TYPE_CHECKING:
    from muxwire.pane.stream import PaneStream

_LOOKBEHIND = lookbehind(TYPED_LINES)


async def shown_text(stream: PaneStream, begin: int, end: int, columns: int) -> Readable:
    """The text between two raw offsets, in a pane of that many columns."""
    first = max(0, begin - _LOOKBEHIND)
    data, lost = await stream.read(first, end)
    start = max(first + lost, begin)
    seen = visible_range(data, first + lost, start, end, TYPED_LINES, grows=True, joint=SEQUENCE_END)
    alternate = on_alternate(data[: start - first - lost]) or False
    return readable(seen.decode("utf-8", "replace"), columns=columns, alternate=alternate)
