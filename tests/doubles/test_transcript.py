"""A transcript's file holds its records exactly, and is played as it was recorded."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from muxwire.repl.recording import RecordingTransport
from muxwire.repl.transcript import Ended, Passed, Received, Record, Sent, Transcript
from tests.doubles.transports import MemoryTransport

LINES = st.binary().map(lambda data: data.replace(b"\n", b""))
SECONDS = st.integers(min_value=0, max_value=10_000).map(lambda milliseconds: b"%.3f" % (milliseconds / 1000))
RECORDS = st.one_of(
    st.builds(Record, st.sampled_from((COMMENT, SENT, RECEIVED, ENDED)), LINES),
    st.builds(Record, st.just(PASSED), SECONDS),
)


@given(st.lists(RECORDS))
def test_a_file_gives_its_records_back(records: list[Record]) -> None:
    assert read(written(records)) == records


@pytest.mark.parametrize("line", ["no record", "", ">no space", "+ soon"])
def test_another_line_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 2|could not convert"):
        read(f"> x\n{line}\n> y\n".encode())


async def test_a_recording_has_lines_of_both_directions() -> None:
    transport = MemoryTransport(room=3)
    kept: list[Record] = []
    recording = RecordingTransport(transport, kept.extend)
    transport.feed(b"a\nb")
    await recording.receive()
    assert recording.send_nowait(b"one\n") == 3
    transport.make_room(None)
    await recording.send(b"\ntwo\n")
    transport.feed(b"c\n")
    await recording.receive()
    transport.feed_eof("over")
    await recording.receive()
    await recording.receive()
    records = [record for record in kept if not isinstance(record, Passed)]
    assert records == [Received(b"a"), Sent(b"one"), Sent(b"two"), Received(b"bc"), Ended("over")]
    await recording.aclose()
    assert transport.closed


async def test_a_recording_goes_on_when_the_connection_begins_again() -> None:
    class Again:
        """A transport whose stream ends once in the middle of a line."""

        def __init__(self) -> None:
            self.parts = [b"one\ncut", b"", b"", b"two\n", b""]

        async def receive(self) -> bytes:
            return self.parts.pop(0)

        def ending(self) -> str:
            return "over"

    kept: list[Record] = []
    recording = RecordingTransport(Again(), kept.extend)  # type: ignore[arg-type]  # the rest is not called
    for _ in range(5):
        await recording.receive()
    records = [record for record in kept if not isinstance(record, Passed)]
    assert records == [Received(b"one"), Ended("over"), Received(b"two"), Ended("over")]
