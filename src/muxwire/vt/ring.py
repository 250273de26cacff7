"""The last bytes of a pane's output, addressed by absolute offset."""

from __future__ import annotations

from typing import final

# So little is copied twice in less time than it takes to make a view of it.
_SMALL = 4096


@final
class RingBuffer:
    """Keeps the newest `capacity` bytes; offsets count every byte ever appended and never go back.

    `start` and `end` are the offsets of the first byte kept and of the byte that comes next.
    A resumed log begins at `start=N`.
    """

    __slots__ = ("_buffer", "_first", "_slack", "capacity", "end")

    def __init__(self, capacity: int, *, start: int = 0) -> None:
        if capacity < 1:
            raise ValueError("a ring keeps at least one byte")
        self.capacity = capacity
        self.end = start
        self._first = start
        self._buffer = bytearray()
        # Trimming moves what is kept, so it waits for a quarter of the capacity: each byte moves at most four times.
        self._slack = max(1, capacity // 4)

    @property
    def start(self) -> int:
        """Return the offset of the first byte kept: a function of what was appended, not of how it was cut."""
        return max(self._first, self.end - self.capacity)

    def append(self, data: bytes) -> None:
        """Append `data`; the oldest bytes beyond the capacity go."""
        self.end += len(data)
        buffer = self._buffer
        if len(data) >= self.capacity:
            buffer[:] = data[-self.capacity :]
            return
        buffer += data
        if len(buffer) > self.capacity + self._slack:
            del buffer[: len(buffer) - self.capacity]

    def read(self, from_offset: int, to_offset: int | None = None) -> bytes:
        """Return the bytes of a range, as far as they are kept; compare with `start` to see what is missing."""
        end, base = self.end, self.end - len(self._buffer)
        first = max(from_offset, self._first, end - self.capacity) - base
        last = (end if to_offset is None or to_offset > end else to_offset) - base
        if first >= last:
            return b""
        if last - first <= _SMALL:
            return bytes(self._buffer[first:last])
        with memoryview(self._buffer) as view:  # one copy instead of two
            return bytes(view[first:last])

    def find(self, needle: bytes, from_offset: int) -> int:
        """Return the offset of the first `needle` that lies wholly at or after `from_offset`, or -1."""
        base = self.end - len(self._buffer)
        index = self._buffer.find(needle, max(from_offset, self.start) - base)
        return index if index < 0 else base + index

    def rfind(self, needle: bytes, from_offset: int) -> int:
        base = self.end - len(self._buffer)
        index = self._buffer.rfind(needle, max(from_offset, self.start) - base)
        return index if index < 0 else base + index
