"""Closing tabs that were not used for a time, if the caller has asked for that.

A tab is used by every call that names it, for as long as the call lasts, by what runs in it, by its output, and by a
person's keys. A use stores its time and starts no timer: only when the tab may be due are the times compared.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import MuxwireError
from muxwire.tabs.closing import check_idle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from muxwire.tabs.tab import Tab


async def close_when_unused(tab: Tab, seconds: float, window: Callable[[], Sequence[Tab]]) -> None:
    """Close a tab, with all panes of its `window`, when none of them was used for `seconds`.

    `window` returns nothing when the tab is closed.
    """
    while panes := window():
        if (left := _last_use(panes) + seconds - time.monotonic()) > 0:
            tab.pane.use.woken = anyio.Event()
            with anyio.move_on_after(min(left, seconds)):
                await tab.pane.use.woken.wait()
            continue
        try:
            for one in panes:
                await check_idle(one.pane, one.runner, one.key)
            if _last_use(panes) + seconds <= time.monotonic():  # it was not used meanwhile
                for one in reversed(panes):
                    await one.close(reason=f"it was not used for {seconds:g} s")
        except (
            MuxwireError,
            OSError,
        ):  # something runs in it, which is a use; or its machine does not answer, so that this is not known
            tab.pane.use.note()


def _last_use(panes: Iterable[Tab]) -> float:
    return max(max(one.pane.use.last, one.pane.stream.last_output) for one in panes)
