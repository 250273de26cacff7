"""RingBuffer against a plain bytes object that keeps everything."""

from __future__ import annotations

from hypothesis import given, strategies as st

from muxwire.vt.ring import RingBuffer


@given(
    capacity=st.integers(1, 12),
    start=st.integers(0, 5),
    chunks=st.lists(st.text("ab", max_size=20).map(str.encode), max_size=12),
    needle=st.text("ab", min_size=1, max_size=3).map(str.encode),
    first=st.integers(0, 80),
    last=st.none() | st.integers(0, 80),
)
def test_ring_is_the_tail_of_everything(
    capacity: int, start: int, chunks: list[bytes], needle: bytes, first: int, last: int | None
) -> None:
    ring = RingBuffer(capacity, start=start)
    whole = b""
    for chunk in chunks:
        ring.append(chunk)
        whole += chunk
        kept = max(0, len(whole) - capacity)
        assert (ring.start, ring.end) == (start + kept, start + len(whole))
        low = max(first - start, kept)
        high = len(whole) if last is None else max(0, last - start)
        assert ring.read(first, last) == whole[low:high]
        found = whole.find(needle, low)
        assert ring.find(needle, first) == (found if found < 0 else start + found)
