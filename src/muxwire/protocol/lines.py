"""Bytes to complete lines, with a bound on the line that is still open."""

from __future__ import annotations

from typing import final

# %output lines stay under 11 KB, but a reply may hold one line of any length (300 KB were seen; a paste
# buffer can be one line). Beyond this the far side is not tmux.
MAX_LINE_BYTES = 64 * 1024 * 1024


@final
class LineBuffer:
    """Collects bytes; never looks twice at a byte that is already known not to end a line."""

    __slots__ = ("max_line_bytes", "open_line")

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.max_line_bytes = max_line_bytes
        self.open_line = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, without their newline."""
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and self.open_line:
            lines[0] = bytes(self.open_line) + lines[0]
            self.open_line.clear()
        self.open_line += rest
        return lines

    @property
    def too_long(self) -> bool:
        """Whether the open line has outgrown the bound."""
        return len(self.open_line) > self.max_line_bytes

    def close(self) -> bytes:
        """Return the line that the end of the stream left open (empty: none)."""
        rest = bytes(self.open_line)
        self.open_line.clear()
        return rest
