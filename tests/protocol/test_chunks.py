"""The events are the same however the stream is cut, and no stream makes the parser raise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from muxwire.client.client import RECEIVED, SENT
from muxwire.protocol.commands import command, command_list
from muxwire.protocol.control import ControlProtocol
from muxwire.protocol.events import Event, Output
from muxwire.repl.transcript import Record, read
from tests.doubles.transports import said

TRANSCRIPTS = sorted((Path(__file__).resolve().parent.parent / "transcripts").glob("*.ctl"))

# What a stream is made of; random bytes alone would hardly ever form a guard.
PIECES = (
    *(b"%begin 1 2 1", b"%begin 1 2 0", b"%end 1 2 1", b"%end 1 2 0", b"%error 1 2 1"),
    *(b"%output %1 ", b"%output %2 ", b"%output %", b"%extended-output %1 2 : ", b"%pause %1", b"%exit", b"%"),
    *(b"\\", b"\\012", b"\\9", b"\r", b"\n", b"\n", b"\n", b" ", b"\xff\xfe", "é".encode(), b"\0", b"%window-add @1"),
    b"%begin 99999999999999999999 1 1",
    b"%x-y z",
)


def spoken(protocol: ControlProtocol, chunks: Iterable[bytes]) -> list[Event]:
    heard: list[Event] = []
    for chunk in chunks:
        protocol.receive_data(chunk)
        heard += protocol.events_received()
    protocol.receive_eof()
    return joined([*heard, *protocol.events_received()])


def joined(heard: list[Event]) -> list[Event]:
    """Output of a pane, up to the next event of another kind, may come in several events: that depends on the cuts.

    So does its place among that of other panes. Neither means anything.
    """
    merged: list[Event] = []
    panes: dict[str, int] = {}
    for event in heard:
        if not isinstance(event, Output):
            panes = {}
        elif (place := panes.setdefault(event.pane, len(merged))) < len(merged):
            before = merged[place]
            assert isinstance(before, Output)
            merged[place] = Output(event.pane, before.data + event.data)
            continue
        merged.append(event)
    return merged


def cut(data: bytes, places: Iterable[int]) -> Iterator[bytes]:
    start = 0
    for place in sorted({place % (len(data) + 1) for place in places}):
        yield data[start:place]
        start = place
    yield data[start:]


def asked() -> ControlProtocol:
    protocol = ControlProtocol()
    for _ in range(2):
        protocol.send_command(command_list(("refresh-client",), ("list-windows",)))
        protocol.send_command(command("list-windows"))
    return protocol


def replayed(transcript: list[Record]) -> ControlProtocol:
    """A protocol that has sent what the transcript's client did, as far as correlation is concerned."""
    protocol = ControlProtocol()
    for record in transcript:
        if record.kind == SENT and record.line:
            parts = [part.split(b" ") for part in record.line.split(b" ; ")]
            # The recording is from before what shows a pane had a fence.
            protocol.send_command(command_list(*([part[0].replace(b"capture-pane", b"list-panes")] for part in parts)))
    return protocol


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_is_read_alike_whole_and_byte_by_byte(path: Path) -> None:
    transcript = read(path.read_bytes())
    wire = said(transcript, RECEIVED)
    whole = spoken(replayed(transcript), [wire])
    for pieces in ((wire[place : place + 1] for place in range(len(wire))), wire.splitlines(keepends=True)):
        assert spoken(replayed(transcript), pieces) == whole


@given(st.binary() | st.lists(st.sampled_from(PIECES)).map(b"".join), st.lists(st.integers(min_value=0), max_size=5))
def test_no_bytes_and_no_nonsense_in_tmux_words_make_it_raise(data: bytes, places: list[int]) -> None:
    assert spoken(asked(), cut(data, places)) == spoken(asked(), [data])
