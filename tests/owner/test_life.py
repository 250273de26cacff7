"""The life of an owner as a table: every event in every state, and whole lives."""

from __future__ import annotations

from itertools import product

import pytest

from muxwire.owner.life import TABLE, Action, Event, State, after

OVER = (State.ENDED, State.RENEWED)
# What each state knows: whether a tmux runs, and whether a client is here.
KNOWN = {
    State.EMPTY: (False, False),
    State.WAITED_FOR: (False, True),
    State.KEPT: (True, False),
    State.SERVING: (True, True),
}


@pytest.mark.parametrize(("state", "event"), [*product(KNOWN, Event)])
def test_an_event_changes_what_it_says_and_nothing_else(state: State, event: Event) -> None:
    tmux, client = KNOWN[state]
    found, actions = after(state, event)
    match event:
        case Event.CAME:
            assert (KNOWN[found], actions) == ((tmux, True), ())
        case Event.LEFT:
            assert KNOWN[found] == (tmux, False)
        case Event.STARTED:
            assert (KNOWN[found], actions) == ((True, client), ())
        case Event.STOPPED:
            assert KNOWN[found] == (False, client)
        case Event.LINGERED:
            # With a tmux it lives as long as that; a client may be about to start one.
            assert (found is State.ENDED) == (not tmux and not client)
        case Event.TERMINATED:
            assert (found, actions) == (State.ENDED, (Action.UNLINK, Action.LEAVE))
        case Event.OUTDATED:
            # The event says that one client is here: without one it cannot happen.
            assert (found is State.RENEWED) == client


@pytest.mark.parametrize("state", KNOWN)
def test_whoever_becomes_empty_lingers_and_ends(state: State) -> None:
    for event in (Event.LEFT, Event.STOPPED):
        found, actions = after(state, event)
        assert (Action.LINGER in actions) == (found is State.EMPTY and state is not State.EMPTY)


@pytest.mark.parametrize(("state", "event"), [*product(OVER, Event)])
def test_nothing_happens_after_the_end(state: State, event: Event) -> None:
    assert after(state, event) == (state, ())


def test_the_socket_stays_only_where_another_program_goes_on() -> None:
    for found, actions in TABLE.values():
        assert (Action.UNLINK in actions) == (found is State.ENDED)
        assert (Action.RENEW in actions) == (found is State.RENEWED)


def test_the_life_of_a_named_instance() -> None:
    state, done = State.EMPTY, list[Action]()
    for event in (
        Event.CAME, Event.STARTED, Event.LEFT, Event.LINGERED, Event.CAME, Event.STOPPED, Event.LEFT, Event.LINGERED,
    ):  # fmt: skip
        state, actions = after(state, event)
        done += actions
    assert (state, done) == (State.ENDED, [Action.LINGER, Action.UNLINK, Action.LEAVE])
