"""What was seen, filtered and written: nothing that a terminal would obey, nothing lost without a word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from muxwire.errors import InvalidArgument
from muxwire.protocol.commands import command
from muxwire.repl.showing import Line, Shower, plain
from muxwire.repl.state import Session
from muxwire.repl.view import Filter, Seen
from muxwire.repl.words_stream import explain, play, record
from muxwire.repl.writers import Printer, Recorder
from muxwire.testing import Ended, Received, Sent, Transcript
from muxwire.testing.transcript import Record
from tests.repl.played import Played, seen_in

SENTINEL = b"muxwire-0123456789abcdef"


def seen_of(*lines: bytes) -> list[Seen]:
    return seen_in([Received(line) for line in lines])


def typed(line: bytes, *answers: bytes) -> list[Record]:
    """A line that was typed, with its answers and the sentinel's."""
    end = [b"%begin 9 99 1", SENTINEL, b"%end 9 99 1"]
    return [Sent(line), Sent(b"display-message -p " + SENTINEL), *map(Received, [*answers, *end])]


def shown(*lines: bytes) -> list[str]:
    shower = Shower()
    return [plain(line) for seen in seen_of(*lines) for line in shower.lines(seen)]


def test_output_is_decoded_and_harmless() -> None:
    assert shown(rb"%output %3 a\015\012\033[1m" + "é\x9b".encode() + b"\xff") == [
        r"+0.000 %output %3 a\r\n\e[1mé\x9b\xff"
    ]


def test_a_character_that_tmux_cut_is_shown_whole() -> None:
    shower, played = Shower(), Played([])
    first, second = "é".encode()[:1], "é".encode()[1:]
    texts: list[str] = []
    for part in (b"a" + first, second + b"b"):
        (seen,) = played.take([Received(b"%output %1 " + part)])
        texts += map(plain, shower.lines(seen))
    assert texts == ["+0.000 %output %1 a", "+0.000 %output %1 éb"]


def test_a_mark_is_told_from_what_the_program_wrote() -> None:
    mark = rb"\033]7770;E;0123456789abcdef;3;/tmp;0123456789abcdef" + b"\\007"
    assert shown(b"%output %1 out" + mark + b"$ ") == ["+0.000 %output %1 out<mark E 0123456789abcdef 3 /tmp>$ "]


def test_much_output_is_shortened_and_counted() -> None:
    (line,) = shown(b"%output %1 " + b"x" * 5000)
    assert line.endswith("xxx … 4000 bytes more")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"%window-renamed @1 two words", "%window-renamed @1 two words"),
        (b"%subscription-changed n $0 - - %1 : v", "%subscription-changed n $0 %1 v"),
        (b"%session-changed $0 \x1b]0;x", r"%session-changed $0 \e]0;x"),
        (b"%new-one a b", "%new-one a b"),
        (b"a bare line", "%stray a bare line"),
    ],
)
def test_a_notification_is_one_line(line: bytes, text: str) -> None:
    assert shown(line) == [f"+0.000 {text}"]


def test_a_block_is_its_lines_and_its_facts() -> None:
    shower = Shower()
    records = typed(b"x ; y", b"%begin 7 8 1", b"one\x1b", b"%end 7 8 1", b"%begin 7 9 1", b"%error 7 9 1")
    played = Played(records)
    played.take(records[:2], 0.0)
    lines = [plain(line) for seen in played.take(records[2:], 0.0123) for line in shower.lines(seen)]
    assert lines == [
        "one\\e", "-- block 8, flags 1, %end, 12.30 ms", "-- block 9, flags 1, %error, answer 2, 12.30 ms",
    ]  # fmt: skip
    assert played.view.answered == 1
    assert Shower(recorded=True).round_trip(0.004) == "< 5 ms"
    assert Shower(recorded=True).round_trip(0.0123) == "12 ms"


def test_the_wire_is_shown_as_a_transcript_has_it() -> None:
    shower = Shower()
    lines = [shower.raw(record) for record in (Sent(b"a\tb"), Received(b"%end\xff"), Ended("why"))]
    assert [plain(line) for line in lines if line] == ["> a\\tb", "< %end\\xff", "= why"]


# -- filtering


def test_filters_by_pane_and_kind() -> None:
    output, other, window = seen_of(b"%output %1 x", b"%output %2 x", b"%window-add @1")
    everything = Filter()
    assert all(map(everything.shows, (output, other, window)))
    pane = everything.changed(["%1"])
    assert [pane.shows(one) for one in (output, other, window)] == [True, False, False]
    kind = everything.changed(["window-add"])
    assert [kind.shows(one) for one in (output, other, window)] == [False, False, True]
    hidden = everything.changed(["-output"])
    assert [hidden.shows(one) for one in (output, other, window)] == [False, False, True]
    assert hidden.changed(["+output"]).shows(output)
    assert not everything.changed(["-%2"]).shows(other)
    assert kind.changed(["all"]) == Filter(hidden=frozenset())
    assert pane.changed(["-output"]).panes == frozenset(("%1",))


def test_what_was_typed_is_always_answered() -> None:
    (own,) = seen_in(typed(b"x", b"%begin 1 1 1", b"%end 1 1 1"))
    (other,) = seen_in([Sent(b"y"), Received(b"%begin 1 2 1"), Received(b"%end 1 2 1")])
    assert Filter().changed(["%7"]).shows(own)
    assert not Filter().shows(other)
    assert Filter().changed(["+block"]).shows(other)


def test_filters_by_a_pattern_of_what_is_shown() -> None:
    matching = Filter().changed(["build*ok"])
    assert matching.matches(["+0.1 %output %1 the build is ok now"])
    assert not matching.matches(["+0.1 %output %1 ok build"])
    assert matching.describe() == "shown: build*ok; hidden: block"
    assert Filter().matches(["anything"])
    hiding = Filter().changed(["-out*%2", "o*"])
    assert hiding.describe() == "shown: o*; hidden: block out*%2"
    assert hiding.matches(["+0.000 %output %1 a"])
    assert not hiding.matches(["first o", "+0.000 %output %2 a"])
    assert hiding.changed(["+out*%2"]).matches(["+0.000 %output %2 a"])
    assert matching.changed(["all"]).matches(["anything"])


@pytest.mark.parametrize("word", ["outptu", "-", "@1", "%x", ""])
def test_a_word_that_filters_nothing_is_refused(word: str) -> None:
    with pytest.raises(InvalidArgument):
        Filter().changed([word])


# -- printing


def text(name: str) -> Line:
    return (("", name),)


@pytest.mark.anyio
async def test_lines_keep_their_order_and_what_is_left_out_is_counted_there() -> None:
    written: list[str] = []
    held = anyio.Event()

    async def write(lines: Sequence[Line]) -> None:
        await held.wait()
        written.extend(map(plain, lines))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            printer = Printer(write, room=3)
            tasks.start_soon(printer.run)
            for number in range(10):
                printer.offer([text(str(number))])
            printer.put([text("answer")])
            held.set()
            await printer.flushed()
            printer.offer([text("after")])
            await printer.flushed()
            tasks.cancel_scope.cancel()
    assert [line.partition(" (")[0] for line in written] == [
        "0", "1", "2", "… 7 notifications came too fast to be shown", "answer", "after",
    ]  # fmt: skip
    assert printer.left_out == 7


@pytest.mark.anyio
async def test_what_is_said_of_a_line_with_an_error_and_of_a_recording(tmp_path: Path) -> None:
    written: list[str] = []

    async def write(lines: Sequence[Line]) -> None:
        written.extend(map(plain, lines))

    records = (Sent(b"kill-pane -t %9 ; list-keys"), Received(b"%begin 1 2 1"), Received(b"%error 1 2 1"))
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            session = Session(Printer(write), tasks)
            tasks.start_soon(session.printer.run)
            await play(session, "x", Transcript(records), 0)
            await explain(session, "")
            session.recorder = recorder = Recorder(str(tmp_path / "made.ctl"), "")
            tasks.start_soon(recorder.run)
            with pytest.raises(InvalidArgument, match=r"already recording to .*/made.ctl"):
                await record(session, "another")
            recorder.failure = "the disk refused: it is full"
            await record(session, "off")
            await session.printer.flushed()
            tasks.cancel_scope.cancel()
    assert "%error: tmux drops the rest of the line, so 1 block fewer will come" in written
    assert written[-1].endswith("/made.ctl; the disk refused: it is full: the recording ends there")


@pytest.mark.anyio
async def test_output_is_shown_once_while_the_lines_themselves_are_shown() -> None:
    written: list[str] = []

    async def write(lines: Sequence[Line]) -> None:
        written.extend(map(plain, lines))

    lines = ["%output %1 a", "%extended-output %1 0 : b"]
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            session = Session(Printer(write), tasks, shows_raw=True)
            tasks.start_soon(session.printer.run)
            await play(session, "x", Transcript(tuple(Received(line.encode()) for line in lines)), 0)
            tasks.cancel_scope.cancel()
    assert written[:-1] == [f"< {line}" for line in lines]


@pytest.mark.anyio
async def test_a_line_that_waits_until_tmux_has_attached_again_is_known_when_its_answer_comes() -> None:
    async def write(lines: Sequence[Line]) -> None:
        pass

    async with anyio.create_task_group() as tasks:
        session = Session(Printer(write), tasks)
        session.hear([Received(b"%exit"), Ended("")])
        session.on_sent(command("display-message", "-p", "x"))
        session.hear([Received(b"%session-changed $0 hub")])
        assert session.view.unanswered == 1
