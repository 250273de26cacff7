"""How an answer is judged: exactly, and with what is among other text counted apart."""

from __future__ import annotations

import pytest

from bench.corpus import CASES, Answer, Case, Judged, Score

CASE = Case("two", "echo a; echo b", "a\nb", 0)


@pytest.mark.parametrize(
    ("output", "exact", "within"),
    [
        ("a\nb", True, False),
        ("a\r\nb\r\n", True, False),
        ("a\nb\n", True, False),
        ("a\nb\n\n", False, True),
        ("$ echo a; echo b\na\nb\n$ ", False, True),
        ("a b", False, False),
        ("", False, False),
    ],
)
def test_an_output(output: str, exact: bool, within: bool) -> None:
    judged = Judged(CASE, Answer(output, 0))
    assert (judged.exact, judged.within) == (exact, within)


def test_a_code_that_is_not_known_is_not_right() -> None:
    assert Judged(CASE, Answer("a\nb", 0)).code
    assert not Judged(CASE, Answer("a\nb", None)).code
    assert not Judged(CASE, Answer("a\nb", 1)).code


def test_no_answer_is_wrong_in_every_way_and_says_why() -> None:
    judged = Judged(CASE, None, "refused")
    assert [judged.exact, judged.within, judged.code] == [False] * 3
    assert judged.told() == "two: refused"
    assert judged.document()["failed"] == "refused"


def test_a_score_counts_and_names_what_was_missed() -> None:
    score = Score.of([Judged(CASE, Answer("a\nb", 0)), Judged(CASE, Answer("$ a\nb", 7)), Judged(CASE, None, "late")])
    assert score.cells == ("1 of 3", 1, "1 of 3")
    assert score.told(1) == "missed: two, two; for example two: `'$ a\\nb'`, code 7"
    assert Score.of([]).told(1) == ""


def test_a_long_answer_is_shown_by_its_ends() -> None:
    told = Judged(CASE, Answer("x" * 500 + "end", 0)).told()
    assert told.endswith("end'`, code 0")
    assert len(told) < 120


def test_what_one_case_leaves_for_the_next_is_the_last_two() -> None:
    assert [case.name for case in CASES][-2:] == ["state kept", "state there"]
