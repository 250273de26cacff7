"""Where a command's output begins and ends: the same for its result and for its part of the log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muxwire.logs.read import LogFileReader, View, is_alternate, read_readable
from muxwire.logs.segments import UNKNOWN_SIZE
from muxwire.logs.store import LogStore
from muxwire.pane.output import Reading, cut_middle, lost_words, output_range, read_output, shown_text, why_running
from muxwire.pane.stream import PART, PaneStream
from muxwire.shell.examine import waited_words
from muxwire.shell.execution import Ending, Execution
from muxwire.shell.look import Waiting

ECHO, OUTPUT = b"line\r\n", b"one\r\ntwo"


@pytest.fixture
async def stream(tmp_path: Path) -> AsyncIterator[PaneStream]:
    async with LogStore() as store:
        yield PaneStream(store.open(tmp_path / "pane.log"), lambda *_: None)


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
    stream: PaneStream, begun: bool, written: bytes, ending: Ending, found: bytes
) -> None:
    stream.feed(b"before" + ECHO)
    command = Execution(command_id="", command=b"", prompt_seq=1, typed_at=len(b"before"), typed_time=1.0)
    if begun:
        command.start(stream.end, 2.0)
    stream.feed(written)
    if ending:
        command.finish(ending, 3.0, end=stream.end, exit_code=None)
    begin, end = output_range(command, stream, None)
    assert stream.ring.read(begin, end) == found


@pytest.mark.parametrize(
    ("asked_at", "waiting", "silent_at", "resists", "why", "note"),
    [
        (9, "line", -1, ("", ""), "the program waits for a line of input", ": answer with `send_keys`"),
        (9, "password", -1, ("", ""), "the program waits for a password (echo is off)", ": leave it to a person"),
        (-1, "", 9, ("", ""), "silent for 3 s after 'a; b?'; whether it waits cannot be seen here", ": answer with"),
        (8, "line", 8, ("", ""), "", ""),  # it has written something since
        (-1, "", -1, ("no answer", "close the tab"), "no answer", "; close the tab"),
        (9, "line", -1, ("no answer", "close the tab"), "the program waits for a line of input", ": answer"),
    ],
    ids=["waits", "a password", "silent", "was answered", "resists", "resists, and waits"],
)
def test_why_a_command_still_runs_is_said_apart_from_what_can_be_done(
    asked_at: int, waiting: Waiting, silent_at: int, resists: tuple[str, str], why: str, note: str
) -> None:
    command = Execution(command_id="", command=b"", prompt_seq=1, typed_at=0, typed_time=1.0)
    command.asks(asked_at, waited_words(waiting))
    command.fell_silent(silent_at)
    command.resisted(*resists)
    known, notes = why_running(command, 9, lambda: repr("a; b?"))
    assert known == why
    assert not note or notes[0].startswith(why + note)
    assert len(notes) == bool(note) + (asked_at == 9 and bool(resists[0]))
    command.finish("completed", 2.0, end=9, exit_code=0)
    assert why_running(command, 9, str) == ("", [])


# What a line that is typed on the other screen draws there, down to the mark with which its output begins.
HIDDEN = b"\x1b]7770;B;%s;1\x07\x1b[?1049h \\. 'c'\r\n\x1b[?2004l\r\x1b[?1049l\x1b]7770;T;%s\x07\x1b]7770;S;%s\x07"
ID = b"0123456789abcdef"


@pytest.mark.parametrize(
    ("written", "shows"),
    [
        (b"\x1b[?25l\x1b[?7l\x1b[?7h\x1b[0m\x1b[?12l\x1b[?25h", False),
        (b"\x1b[1;31m", False),
        (b"\x1b[?25l \x1b[?25h", True),
        (b"\x1b[?2004h", True),  # an editor came
        (b"\x1b[?1049h", True),
        (b"\x1b[H", True),
    ],
)
async def test_what_shows_nothing_breaks_no_silence(stream: PaneStream, written: bytes, shows: bool) -> None:
    stream.feed(b"> ")
    end, spoken = stream.shown_end, stream.last_output
    stream.feed(written)
    assert (stream.shown_end > end, stream.last_output > spoken) == (shows, shows)
    stream.lose(9, reason="a test")
    assert stream.shown_end == stream.end
    await stream.log.flushed()


@pytest.mark.parametrize("drawn", [b"", b"\x1b[?1049h~\r\n~\x1b[?1049l"], ids=["lines", "a screen"])
async def test_an_output_after_a_line_on_the_other_screen_is_not_taken_for_drawn_there(
    stream: PaneStream, tmp_path: Path, drawn: bytes
) -> None:
    """Up to the next change of screens all was left out: the end of a wait began later than it should."""
    stream.feed(b"$ ls\r\n" + HIDDEN % (ID, ID, ID))
    begin = stream.end
    stream.feed(b"one\r\n" + drawn + b"two\r\n")
    for first in (begin, begin - 1, begin - len(ID)):
        assert (await shown_text(stream, first, stream.end, (80, 24))).text == "one\ntwo\n"
    await stream.log.flushed()
    view = View()
    assert read_readable(tmp_path / "pane.log", begin, 1000, view).data == b"one\ntwo\n"
    with LogFileReader(tmp_path / "pane.log") as log:
        inside = begin - len(b"\x1b[?1049l") - 3 * len(ID)
        assert [is_alternate(log, offset, view) for offset in (6, inside, begin)] == [False, False, False]


@pytest.mark.parametrize("split", range(len(b"\x1b[?1049h") + 1))
@pytest.mark.parametrize("kept", [1 << 16, 1 << 24], ids=["in the log", "in memory"])
async def test_a_large_output_is_read_in_parts_as_in_one(tmp_path: Path, kept: int, split: int) -> None:
    """Its parts end within characters and line ends, and within a switch to the alternate screen."""
    lines = "é\r\n".encode() * PART
    for switch, drawn in ((b"\x1b[?1049h", b"~"), (b"\x1b[1;31;40m", b"red")):
        output = lines[: PART - split] + switch + drawn + lines
        async with LogStore() as store:
            stream = PaneStream(store.open(tmp_path / f"{split}{drawn!r}.log"), lambda *_: None, capacity=kept)
            stream.feed(b"before")
            stream.feed(output)
            for drawing in (True, False):
                how = Reading(readable=False, drawing=drawing, since=len(b"before"))
                found = await read_output(stream, len(b"before"), stream.end, how, max_chars=None)
                whole = await how.text(output)
                assert hash(found.text) == hash(whole.text)  # not ==, whose message would be the text
                assert (found.note, found.lost_bytes) == (whole.note, 0)


@pytest.mark.parametrize(
    ("text", "most", "told"),
    [
        ("warn: a\n" * 9, 80, "warn: a\n" * 9),  # what is not too long is never changed
        ("warn: a\n" * 300 + "end\n", 80, "warn: a\n[299 more of this line]\nend\n"),
        ("a\n" + "=" * 60 + "\n" + "c\n" * 300, 80, "a\n[... 959 bytes left out; NOTE]\nc\n[299 more of this line]\n"),
        ("x" * 100 + "\n" + "y" * 200, 100, "x" * 20 + "\n[... 202 bytes left out; NOTE]\n" + "y" * 80),
        ("x" * 90 + "\n" + ("c" * 30 + "\n") * 9 + "end", 60, "x" * 12 + "\n[... 368 bytes left out; NOTE]\nend"),
    ],
)  # fmt: skip
def test_equal_lines_are_told_once_where_a_text_is_too_long(text: str, most: int, told: str) -> None:
    note = "read_logs_from_tab(command_id, grep) has them ..."
    assert cut_middle(text, most, 0, len(text) + text.count("\n")) == told.replace("NOTE", note)


@pytest.mark.parametrize(("size", "told"), [(50_000, "at least 50000 "), (UNKNOWN_SIZE, "some of the output may ")])
async def test_what_is_lost_in_the_middle_is_told_also_where_that_was_left_out(
    stream: PaneStream, size: int, told: str
) -> None:
    lines = b"line\r\n" * 1000
    stream.feed(lines)
    stream.lose(size)
    stream.feed(lines)
    how = Reading(readable=False, drawing=True, since=0)
    clipped = await read_output(stream, 0, stream.end, how, max_chars=200)
    whole = await read_output(stream, 0, stream.end, how, max_chars=None)
    assert (whole.lost_bytes, whole.omitted_bytes, lost_words(size)[: len(told)]) == (size, 0, told)
    assert "has what is left of them" in clipped.text
    assert clipped.lost_bytes == UNKNOWN_SIZE


@pytest.mark.parametrize(
    ("before", "piece", "text"),
    [
        (b"x\r\n10 %", b"\r20 %\r30 %\r\n", "\n30 %\n"),
        # The prompt of a REPL stands above a bar: the cursor is in the line of the prompt, where a key is shown.
        (b"x\r\n> \r\n\r\n[F3] off \x1b[2A\r\x1b[2C", b"5\r\n\r\n\x1b[6Gon \x1b[2A\r\x1b[3C", "> 5\n\n[F3] on\n"),
    ],
)
async def test_the_rest_of_an_output_goes_on_with_its_line(
    stream: PaneStream, before: bytes, piece: bytes, text: str
) -> None:
    """What was read before it is known, and where the beginning of that line was drawn over."""
    stream.feed(before)
    begin = stream.end
    stream.feed(piece)
    rest = await read_output(stream, begin, stream.end, Reading(readable=True, since=0), max_chars=None)
    assert rest.text == (await shown_text(stream, begin, stream.end, (80, 24))).text == text
