"""StreamView says what a stream meant, however it is cut, and whoever sent its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire.ids import PaneId
from muxwire.protocol.events import Output
from muxwire.repl.view import Rate, Seen
from muxwire.testing import Ended, Received, Sent, Transcript
from muxwire.testing.transcript import Record
from tests.repl.played import Played, seen_in
from tests.transcripts.scenarios import SCENARIOS

TRANSCRIPTS = Path(__file__).resolve().parent.parent / "transcripts"


def outputs(seen: list[Seen]) -> dict[PaneId, bytes]:
    joined: dict[PaneId, bytes] = {}
    for one in seen:
        if isinstance(one.event, Output):
            joined[one.event.pane] = joined.get(one.event.pane, b"") + one.event.data
    return joined


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_recording_of_a_real_tmux_is_read_to_its_end(name: str) -> None:
    transcript = Transcript.load(TRANSCRIPTS / f"{name}.ctl")
    played = Played(transcript.records)
    view = played.view
    seen = played.take(transcript.records)
    sent = [record for record in transcript.records if isinstance(record, Sent) and record.line]
    assert played.player.failure == ""
    assert (view.answered, view.unanswered) == (len(sent), 0)
    assert sum(len(data) for data in outputs(seen).values()) == view.output.total
    for pane, data in outputs(seen).items():
        assert view.rings[pane].end == len(data)
        assert data.endswith(view.rings[pane].read(0))


def test_a_block_knows_its_question_and_how_long_it_took() -> None:
    sentinel = b"muxwire-0123456789abcdef"
    sent: list[Record] = [Sent(b"x"), Sent(b"a ; b"), Sent(b"display-message -p " + sentinel)]
    hook = [Received(b"%begin 1 1 0"), Received(b"%end 1 1 0")]
    other = [Received(b"%begin 1 2 1"), Received(b"%begin 1 2 0"), Received(b"%end 1 2 1")]
    own: list[Record] = [
        Received(b"%begin 1 3 1"),
        Received(b"%end 1 3 1"),
        Received(b"%begin 1 4 1"),
        Received(b"%error 1 4 1"),
    ]
    end = [Received(b"%begin 1 5 1"), Received(sentinel), Received(b"%end 1 5 1")]
    answers: list[Record] = [*hook, *other, *own, *end]
    played = Played([*sent, *answers])
    view = played.view
    assert played.take(sent, 1.0) == []
    seen = played.take(answers, 1.5)
    assert [one.kind for one in seen] == ["hook", "block", "block", "block"]
    assert [one.own for one in seen] == [False, False, True, True]
    assert [one.unanswered for one in seen] == [0, 1, 0, 0]
    assert [one.skipped for one in seen] == [0, 1, 0, 0]
    assert list(view.round_trips) == [0.5, 0.5]
    assert view.unanswered == 0
    assert view.last_own == seen[-1]


def test_an_answer_that_nobody_asked_for_is_said() -> None:
    records: list[Record] = [Received(b"%begin 1 1 1"), Sent(b"a"), Received(b"%window-add @1")]
    played = Played(records)
    assert played.take(records) == []
    assert "a command that was not sent" in played.player.failure


def test_kinds_are_named_as_tmux_names_them() -> None:
    lines = [b"%window-add @1", b"%session-window-changed $0 @1", b"%brand-new x", b"stray", b"%pause %1"]
    seen = seen_in([*map(Received, lines), Ended("")])
    assert [one.kind for one in seen] == [
        "window-add", "session-window-changed", "brand-new", "stray", "pause", "lost",
    ]  # fmt: skip
    assert seen[4].pane == "%1"


def test_a_rate_is_of_whole_seconds() -> None:
    rate = Rate()
    for now, amount in ((0.5, 10), (1.2, 20), (1.9, 30), (2.1, 5)):
        rate.add(amount, now)
    assert rate.per_second(2.5, 1) == 50
    assert rate.per_second(2.5, 2) == 30
    assert rate.per_second(60.0) == 0
    assert rate.total == 65
