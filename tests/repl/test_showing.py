"""What was seen, filtered and written: nothing that a terminal would obey, nothing lost without a word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from muxwire.client.client import RECEIVED, SENT
from muxwire.errors import InvalidArgument
from muxwire.protocol.events import CommandBlock, Event
from muxwire.repl.printer import Printer
from muxwire.repl.recording import Player
from muxwire.repl.session import Session, play
from muxwire.repl.showing import Filter, Line, lines_of, plain
from muxwire.repl.transcript import Record, read, written
from tests.transcripts.scenarios import SCENARIOS

TRANSCRIPTS = Path(__file__).resolve().parent.parent / "transcripts"
SENTINEL = b"muxwire-0123456789abcdef"


def received(*lines: bytes) -> list[Record]:
    return [Record(RECEIVED, line) for line in lines]


def events_in(records: Sequence[Record]) -> list[Event]:
    player = Player()
    found = [event for _, events in player.play(records) for event in events]
    assert player.failure == ""
    return found


def events_of(*lines: bytes) -> list[Event]:
    return events_in(received(*lines))


def shown(*lines: bytes) -> list[str]:
    return [plain(line) for event in events_of(*lines) for line in lines_of(event, 0.0)]


def test_output_is_decoded_and_harmless() -> None:
    assert shown(rb"%output %3 a\015\012\033[1m" + "é\x9b".encode() + b"\xff") == [
        r"+0.000 %output %3 a\r\n\e[1mé\x9b\xff"
    ]


def test_much_output_is_shortened_and_counted() -> None:
    (line,) = shown(b"%output %1 " + b"x" * 5000)
    assert line.endswith("xxx … 4000 characters more")


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


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_recording_of_a_real_tmux_is_read_to_its_end(name: str) -> None:
    records = read((TRANSCRIPTS / f"{name}.ctl").read_bytes())
    sent = [record for record in records if record.kind == SENT and record.line]
    answered = {event.command for event in events_in(records) if isinstance(event, CommandBlock) and event.command}
    assert len(answered) == len({record.line for record in sent})


# -- filtering


@pytest.mark.parametrize(
    ("words", "passed"),
    [
        ("", [True, True, True]),
        ("%1", [True, False, False]),
        ("window-add", [False, False, True]),
        ("%1 window-add", [True, False, True]),
        ("-output", [False, False, True]),
        ("-%2", [True, False, True]),
        ("*ok", [True, False, False]),
        ("output -*ok", [False, True, False]),
        ("-output all", [True, True, True]),
    ],
)
def test_filter__passes_by_pane_kind_and_pattern(words: str, passed: list[bool]) -> None:
    wanted = Filter().changed(words.split())
    events = events_of(b"%output %1 x ok", b"%output %2 x", b"%window-add @1")
    assert [wanted.shows(event, plain(lines_of(event, 0.0)[-1])) for event in events] == passed


def test_the_answers_to_the_librarys_own_commands_are_hidden_at_first() -> None:
    (other,) = events_in([Record(SENT, b"y"), *received(b"%begin 1 2 1", b"%end 1 2 1")])
    assert not Filter().shows(other, "")
    assert Filter().changed(["block"]).shows(other, "")
    assert Filter().changed(["all"]).shows(other, "")
    assert str(Filter().changed(["o*", "-out*%2"])) == "shown: o*; hidden: block out*%2"


@pytest.mark.parametrize("word", ["outptu", "-", "@1", "%x", ""])
def test_a_word_that_filters_nothing_is_refused(word: str) -> None:
    with pytest.raises(InvalidArgument):
        Filter().changed([word])


# -- printing


async def test_lines_keep_their_order_and_what_is_left_out_is_counted_there() -> None:
    written: list[str] = []
    held = anyio.Event()

    async def write(lines: list[Line]) -> None:
        await held.wait()
        written.extend(map(plain, lines))

    async with anyio.create_task_group() as tasks:
        printer = Printer(write, room=3)
        tasks.start_soon(printer.run)
        for number in range(10):
            printer.offer([(("", str(number)),)])
        printer.put([(("", "answer"),)])
        held.set()
        await printer.flushed()
        printer.offer([(("", "after"),)])
        await printer.flushed()
        tasks.cancel_scope.cancel()
    assert [line.partition(" (")[0] for line in written] == [
        "0", "1", "2", "… 7 notifications came too fast to be shown", "answer", "after",
    ]  # fmt: skip


async def test_what_was_typed_is_always_answered_and_its_sentinel_never_shown(tmp_path: Path) -> None:
    answers = received(
        b"%begin 7 8 1", b"one\x1b", b"%end 7 8 1", b"%begin 7 9 1", b"%error 7 9 1",
        b"%begin 9 99 1", SENTINEL, b"%end 9 99 1",
    )  # fmt: skip
    path, lines = tmp_path / "made.ctl", list[str]()
    path.write_bytes(written([Record(SENT, b"x ; y"), Record(SENT, b"display-message -p " + SENTINEL), *answers]))

    async def write(written: list[Line]) -> None:
        lines.extend(map(plain, written))

    session = Session(Printer(write, pause=0))
    session.filter = Filter().changed(["%7"])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.printer.run)
        await play(session, str(path))
        await session.printer.flushed()
        tasks.cancel_scope.cancel()
    assert lines[:-1] == ["one\\e", "-- block 8, flags 1, %end", "-- block 9, flags 1, %error"]
