"""The approaches that others take, for real: each gives what it can give, and misses what it is said to miss."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.contenders import temporary_home
from bench.corpus import TRUE
from bench.polling import APPROACHES, Driven, our_score
from bench.sandwich import between, end_mark, typed
from muxwire.host.local import LocalHost
from muxwire.tmux.program import find_tmux, program_version, read_version

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = LocalHost(os.environ)
VERSION = read_version(program_version(find_tmux(HOST)), HOST)
# What these approaches cannot do, whoever drives them: a screen has no tabs before tmux 3.6, and a shell for each
# command has no state.
MISSED = {
    "capture-pane": {"tab, blanks"} if VERSION < (3, 6) else set[str](),
    "pipe-pane": set[str](),
    "subprocess": {"state there"},
}
HERE = {approach.name: approach for approach in APPROACHES if approach.package is None}


@pytest.fixture(params=MISSED)
def driven(request: pytest.FixtureRequest) -> Iterator[Driven]:
    one = Driven(HERE[request.param], Path(sys.executable))
    yield one
    one.close()


def test_every_case(driven: Driven) -> None:
    score = driven.score()
    assert {one.case.name for one in score.misses} == MISSED[driven.approach.name], score.told(9)
    assert all(one.code for one in score.judged), score.told(9)


def test_a_driver_that_is_gone_answers_so_and_is_there_again(driven: Driven) -> None:
    assert driven.ask(TRUE)["code"] == 0
    driven.belongings.kill()
    assert "error" in driven.ask(TRUE)
    assert driven.ask(TRUE)["code"] == 0


def test_nothing_is_left_of_an_approach(driven: Driven) -> None:
    assert driven.ask(TRUE)["code"] == 0
    assert list(driven.belongings.pids())
    driven.close()
    assert not list(driven.belongings.pids())


@pytest.mark.anyio
async def test_ours_answers_every_case() -> None:
    with temporary_home() as home:
        score = await our_score(Path(home))
    assert not score.misses, score.told(9)


def test_an_echo_is_not_taken_for_a_mark() -> None:
    assert end_mark(3) not in typed("true", 3)
    assert end_mark(3) not in typed("cat <<'X'\nX", 3)
    assert between(f"$ {typed('true', 3)}\n", 3) is None


@pytest.mark.parametrize(
    ("screen", "found"),
    [
        ("$ echo\r\nbegin-7\r\nhi\r\nend-7-0\r\n$ ", ("hi", 0)),
        ("begin-7\nend-7-42\n", ("", 42)),
        ("begin-7\nno newlineend-7-1\n", ("no newline", 1)),
        ("begin-7\n\n\nend-7-0", ("\n", 0)),
        ("begin-6\nx\nend-6-0\n", None),
        ("cut off\nend-7-0\n", None),
        ("not begin-7\nx\nend-7-0\n", None),
    ],
)
def test_what_stands_between_the_marks(screen: str, found: tuple[str, int] | None) -> None:
    assert between(screen, 7) == found
