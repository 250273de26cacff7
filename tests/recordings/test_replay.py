"""What the drivers decided on a real tmux, in every shell, they decide again: fed with the same, without a terminal.

A difference is a decision that has changed. If it is meant, the recordings are made anew, on a machine with every shell
(`python -m tests.recordings.record --changed`), and what else they say now is read before it is kept.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.library.opened import SHELLS
from tests.recordings.record import CORPUS
from tests.recordings.replay import Difference, Replay, Unknown
from tests.recordings.tape import kept_in

# Of so many recordings that differ the first differences are told.
_TOLD = 5
# The kinds of events, and what they say, of which a difference is to be seen.
SAID = [(kind, name) for kind in ("step", "call") for name in ("result", "then")]
SAID.append(("step", "action"))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_same_is_decided(shell: str) -> None:
    different = []
    for recording in kept_in(CORPUS / f"{shell}.jsonl.xz"):
        try:
            Replay(recording).run()
        except (Difference, Unknown) as error:
            different.append(f"{recording[0]['title']}: {type(error).__name__}: {error}")
    assert not different, "\n".join((f"{len(different)} recordings:", *different[:_TOLD]))


@pytest.fixture(scope="module")
def one() -> list[dict[str, Any]]:
    """A recording in which all of that happens."""
    kept = kept_in(CORPUS / "bash.jsonl.xz")
    return next(
        one
        for one in kept
        if all(any(made["kind"] == kind and name in made for made in one[1:]) for kind, name in SAID)
    )


def changed(recording: list[dict[str, Any]], kind: str, name: str) -> list[dict[str, Any]]:
    """The recording, where the last event of a kind that has it says something else."""
    copy: list[dict[str, Any]] = json.loads(json.dumps(recording))
    event = next(one for one in reversed(copy[1:]) if one["kind"] == kind and name in one)
    event[name] = [["keys", {"bytes": "another"}, False]]
    return copy


@pytest.mark.parametrize(("kind", "name"), SAID)
def test_a_difference_is_seen(one: list[dict[str, Any]], kind: str, name: str) -> None:
    with pytest.raises(Difference, match=name):
        Replay(changed(one, kind, name)).run()
