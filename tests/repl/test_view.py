"""StreamView says what a stream meant, however it is cut, and whoever sent its lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from muxwire.ids import PaneId
from muxwire.protocol.events import CommandBlock, Output
from muxwire.repl.view import Rate, Seen, StreamView
from muxwire.testing import Ended, Received, Sent, Transcript
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
    view = StreamView()
    seen = view.take(transcript.records, 0.0)
    sent = [record for record in transcript.records if isinstance(record, Sent) and record.line]
    assert view.failure == ""
    assert (view.answered, view.unanswered) == (len(sent), 0)
    assert sum(len(data) for data in outputs(seen).values()) == view.output.total
    for pane, data in outputs(seen).items():
        assert view.rings[pane].end == len(data)
        assert data.endswith(view.rings[pane].read(0))


@given(st.data())
def test_the_cuts_do_not_matter(data: st.DataObject) -> None:
    records = Transcript.load(TRANSCRIPTS / "shell_session.ctl").records
    whole, parts = StreamView(), StreamView()
    expected = whole.take(records, 0.0)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(records)), max_size=8)))
    got: list[Seen] = []
    for begin, end in zip([0, *cuts], [*cuts, len(records)], strict=True):
        got += parts.take(records[begin:end], 0.0)
    assert outputs(got) == outputs(expected)
    assert [one.event for one in got if isinstance(one.event, CommandBlock)] == [
        one.event for one in expected if isinstance(one.event, CommandBlock)
    ]


def test_a_block_knows_its_question_and_how_long_it_took() -> None:
    view = StreamView()
    view.claim(b"a ; b")
    assert view.take([Sent(b"x"), Sent(b"a ; b")], 1.0) == []
    quiet = [view.quiet]
    hook = [Received(b"%begin 1 1 0"), Received(b"%end 1 1 0")]
    other = [Received(b"%begin 1 2 1"), Received(b"%begin 1 2 0"), Received(b"%end 1 2 1")]
    own = [Received(b"%begin 1 3 1"), Received(b"%end 1 3 1"), Received(b"%begin 1 4 1"), Received(b"%error 1 4 1")]
    seen = view.take([*hook, *other, *own], 1.5)
    assert [one.kind for one in seen] == ["hook", "block", "block", "block"]
    assert [one.own for one in seen] == [False, False, True, True]
    assert [one.unanswered for one in seen] == [0, 1, 1, 0]
    assert [one.skipped for one in seen] == [0, 1, 0, 0]
    assert list(view.round_trips) == [0.5, 0.5]
    assert [*quiet, view.quiet] == [False, True]
    assert view.last_own == seen[-1]


def test_an_answer_that_nobody_asked_for_is_said() -> None:
    view = StreamView()
    view.take([Received(b"%begin 1 1 1")], 0.0)
    assert "a command that was not sent" in view.failure
    assert view.take([Sent(b"a"), Received(b"%window-add @1")], 0.0) == []


def test_kinds_are_named_as_tmux_names_them() -> None:
    view = StreamView()
    lines = [b"%window-add @1", b"%session-window-changed $0 @1", b"%brand-new x", b"stray", b"%pause %1"]
    seen = view.take([*map(Received, lines), Ended("")], 0.0)
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
