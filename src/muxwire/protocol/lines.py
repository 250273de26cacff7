"""Bytes to complete lines, with a bound on the line that is still open."""

from __future__ import annotations

from typing import final

# %output lines stay under 11 KB, but a reply may hold one line of any length (300 KB were seen; a paste
# buffer can be one line). Beyond this the far side is not tmux.
MAX_LINE_BYTES = 64 * 1024 * 1024


@final
class LineBuffer:
    """Collects bytes; never looks twice at a byte that is already known not to end a line."""

    __slots__ = ("_open", "max_line_bytes")

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.max_line_bytes = max_line_bytes
        self._open = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, without their newline."""
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and self._open:
            lines[0] = bytes(self._open) + lines[0]
            self._open.clear()
        self._open += rest
        return lines

    @property
    def at_line_start(self) -> bool:
        return not self._open

    @property
    def too_long(self) -> bool:
        """Whether the open line has outgrown the bound."""
        return len(self._open) > self.max_line_bytes

    def close(self) -> bytes:
        """Return the line that the end of the stream left open (empty: none)."""
        rest = bytes(self._open)
        self._open.clear()
        return rest
