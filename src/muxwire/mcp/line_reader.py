"""Lines of a byte stream, however it was cut; a line over the limit costs that line, not the stream."""

from __future__ import annotations

from typing import final


class LineTooLong(Exception):
    """A line exceeded the limit; its bytes were dropped, the next line is intact."""


@final
class LineBuffer:
    """Bytes in, complete lines out; no byte is searched twice."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self._searched = 0
        self._dropping = False

    def __len__(self) -> int:
        return len(self._data)

    def feed(self, data: bytes) -> None:
        self._data += data

    def has_line(self) -> bool:
        return self._newline() >= 0

    def next_line(self) -> bytes | None:
        """Return the next complete line without its end, None if there is none yet; raises LineTooLong."""
        end = self._newline()
        if end < 0:
            if len(self._data) > self._limit:
                self._drop(len(self._data))
                self._dropping = True
            return None
        line = bytes(self._data[:end])
        self._drop(end + 1)
        if self._dropping or len(line) > self._limit:
            self._dropping = False
            raise LineTooLong
        return line

    def _newline(self) -> int:
        end = self._data.find(b"\n", self._searched)
        self._searched = len(self._data) if end < 0 else end
        return end

    def _drop(self, count: int) -> None:
        del self._data[:count]  # from the front: CPython moves a pointer, not the rest
        self._searched = 0
