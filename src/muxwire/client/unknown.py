"""Output of panes that nobody has claimed yet.

Under load tmux sends the first bytes of a new pane before the reply with its id (15 of 40 trials with four
flooding panes), so they are kept until the pane is attached or given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from muxwire.ids import PaneId

# A pane is claimed within milliseconds of its first byte, and tmux 3.7 emits 40 MB/s at most.
MAX_BYTES_PER_PANE = 4 * 1024 * 1024

# A person's windows on the same server are never claimed if the owner forgets to say so.
MAX_BYTES = 32 * 1024 * 1024

# Ids of panes that were given up. Ids are never used twice, so the oldest are of dead panes.
MAX_DISCARDED = 4096


@final
class UnknownOutput:
    """Keeps the first bytes of each unknown pane, in order and without a gap; what comes later is counted.

    If it is too much of all panes together, the one that has been unknown for longest is given up: nobody asks for it.
    """

    __slots__ = ("_discarded", "_dropped", "_kept", "kept_bytes")

    def __init__(self) -> None:
        self._kept: dict[PaneId, bytearray] = {}
        self._dropped: dict[PaneId, int] = {}
        self._discarded: dict[PaneId, None] = {}
        self.kept_bytes = 0

    def keep(self, pane: PaneId, data: bytes) -> None:
        """Keep output of a pane, unless it is known that nobody will ask."""
        if pane in self._discarded:
            return
        kept = self._kept.setdefault(pane, bytearray())
        if pane in self._dropped or len(kept) + len(data) > MAX_BYTES_PER_PANE:
            self._dropped[pane] = self._dropped.get(pane, 0) + len(data)
            return
        kept += data
        self.kept_bytes += len(data)
        while self.kept_bytes > MAX_BYTES:
            oldest = next(pane for pane, kept in self._kept.items() if kept)
            data, dropped = self.take(oldest)
            self._dropped[oldest] = len(data) + dropped

    def take(self, pane: PaneId) -> tuple[bytes, int]:
        """Return what was kept of a pane and how many bytes after that were dropped, and forget both."""
        self._discarded.pop(pane, None)
        data = bytes(self._kept.pop(pane, b""))
        self.kept_bytes -= len(data)
        return data, self._dropped.pop(pane, 0)

    def discard(self, pane: PaneId) -> None:
        """Forget a pane, and what it will still write."""
        self.take(pane)
        self._discarded[pane] = None
        if len(self._discarded) > MAX_DISCARDED:
            del self._discarded[next(iter(self._discarded))]
