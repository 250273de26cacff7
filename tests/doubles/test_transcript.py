"""A transcript's file holds its records exactly, and is played as it was recorded."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from muxwire.client.client import ENDED, RECEIVED, SENT
from muxwire.repl.recording import Recorder
from muxwire.repl.transcript import COMMENT, PASSED, Record, read, written

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


def test_a_recording_has_lines_of_both_directions_and_goes_on_after_an_end() -> None:
    recorder = Recorder(10.0)
    told = [(10.0, RECEIVED, b"a\nb"), (10.5, SENT, b"one\n"), (10.501, SENT, b"two\nth"), (10.501, RECEIVED, b"c\n")]
    told += [(11.0, ENDED, b"over\nnow"), (11.0, RECEIVED, b"d\n"), (11.0, SENT, b"four\n")]
    made = [record for piece in told for record in recorder.records(*piece)]
    assert written(made) == b"< a\n+ 0.500\n> one\n> two\n< bc\n+ 0.499\n= over now\n< d\n> four\n"
