"""A transcript's file holds its records exactly, and is played as it was recorded."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from hypothesis import given, strategies as st

from muxwire.repl.recording import RecordingTransport
from muxwire.repl.transcript import Ended, Passed, Received, Record, Sent, Transcript
from tests.doubles.transports import MemoryTransport, ScriptedTmux, said

LINES = st.binary().map(lambda data: data.replace(b"\n", b""))
RECORDS = st.one_of(
    LINES.map(Sent),
    LINES.map(Received),
    st.integers(min_value=0, max_value=10_000).map(lambda milliseconds: Passed(milliseconds / 1000)),
    st.text("abc %").map(Ended),
)


@given(st.lists(RECORDS), st.lists(st.text("abc %")))
def test_a_file_gives_its_records_back(records: list[Sent | Received | Passed | Ended], comments: list[str]) -> None:
    transcript = Transcript(tuple(records), tuple(comments))
    assert Transcript.parse(transcript.format()) == transcript


def test_an_example() -> None:
    transcript = Transcript.parse(b"# by hand\n> list-windows\n+ 0.012\n< %begin 1 1 1\n<\n< %end 1 1 1\n>\n=\n")
    assert transcript.comments == ("by hand",)
    assert said(transcript, Sent) == b"list-windows\n\n"
    assert said(transcript, Received) == b"%begin 1 1 1\n\n%end 1 1 1\n"
    assert transcript.records[1] == Passed(0.012)
    assert transcript.records[-1] == Ended("")


@pytest.mark.parametrize("line", ["no record", "", ">no space", "+ soon"])
def test_another_line_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 2|could not convert"):
        Transcript.parse(f"> x\n{line}\n> y\n".encode())


def test_a_file_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "x.ctl"
    path.write_bytes(b"< \xff\n")
    assert Transcript.load(path).records == (Received(b"\xff"),)


async def test_each_part_waits_for_what_was_sent_before_it() -> None:
    tmux = ScriptedTmux(Transcript((Received(b"a"), Sent(b"one"), Received(b"b"), Sent(b"two"), Ended("over"))))
    assert await tmux.receive() == b"a\n"
    with anyio.move_on_after(0) as scope:
        await tmux.receive()
    assert scope.cancelled_caught
    assert tmux.send_nowait(b"one\ntw") == 6
    assert await tmux.receive() == b"b\n"
    await tmux.send(b"o\n")
    assert await tmux.receive() == b""
    assert await tmux.receive() == b""
    assert tmux.finished
    assert tmux.ending() == "over"


async def test_another_line_than_the_recorded_one_ends_the_stream() -> None:
    tmux = ScriptedTmux(Transcript((Sent(b"one"), Received(b"a"))))
    tmux.send_nowait(b"other\n")
    assert await tmux.receive() == b""
    assert tmux.ending() == "the transcript has b'one' here, and b'other' was sent"
    assert not tmux.finished


async def test_closing_ends_a_player_that_waits() -> None:
    tmux = ScriptedTmux(Transcript((Sent(b"one"),)))
    heard: list[bytes] = []

    async def hear() -> None:
        heard.append(await tmux.receive())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hear)
        await anyio.wait_all_tasks_blocked()
        await tmux.aclose()
    assert heard == [b""]


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
