"""Where a command's output begins and ends: the same for its result and for its part of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire.logs.store import LogStore
from muxwire.pane.output import output_range
from muxwire.pane.stream import PaneStream
from muxwire.shell.execution import Ending, Execution

pytestmark = pytest.mark.anyio

ECHO, OUTPUT = b"line\r\n", b"one\r\ntwo"


@pytest.mark.parametrize(
    ("begun", "written", "ending", "found"),
    [
        (False, b"", "", b""),  # what is there is the echo of its line
        (True, OUTPUT, "", OUTPUT),
        (True, OUTPUT + b"\r", "", OUTPUT),  # perhaps the beginning of a line end
        (True, OUTPUT + "é".encode()[:1], "", OUTPUT),  # of a character
        (True, OUTPUT, "completed", OUTPUT),
        (True, OUTPUT + b"\r", "completed", OUTPUT + b"\r"),
        (True, OUTPUT, "lost", OUTPUT),
        (False, OUTPUT, "lost", b""),
        (False, b"", "never_ran", b""),
        (False, OUTPUT, "shell_exited", ECHO + OUTPUT),  # nobody knows where it began
    ],
)
async def test_the_output_of_a_command_in_every_phase(
    tmp_path: Path, begun: bool, written: bytes, ending: Ending, found: bytes
) -> None:
    async with LogStore() as store:
        stream = PaneStream(store.open(tmp_path / "pane.log"), lambda _: None)
        stream.feed(b"before" + ECHO)
        command = Execution(command_id="", command=b"", prompt_seq=1, typed_at=len(b"before"), typed_time=1.0)
        if begun:
            command.start(stream.end, 2.0)
        stream.feed(written)
        if ending:
            command.finish(ending, 3.0, end=stream.end, exit_code=None)
        begin, end = output_range(command, stream, None)
        assert stream.ring.read(begin, end) == found
