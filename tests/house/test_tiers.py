"""Every place that tiers and order of the tests name is there, and a test is in the tier that its place says."""

from __future__ import annotations

import pytest

from tests.__main__ import pytest_words
from tests.conftest import LONG_FILES, SHORT_FILES, TESTS
from tests.tiers import COMMIT, IN_EVERY_SHELL, MERGE, NIGHT, PLACES, tier_of


def test_tiers__every_place_is_there() -> None:
    named = (*PLACES, *LONG_FILES, *SHORT_FILES, IN_EVERY_SHELL)
    assert [name for name in named if not (TESTS / name).exists()] == []


@pytest.mark.parametrize(("path", "case", "tier"), [
    ("vt/test_ring.py", "", COMMIT),
    ("shell/test_ready.py", "zsh]", COMMIT),
    ("library/test_reads.py", "bash]", COMMIT),
    ("library/test_reads.py", "a fish]", MERGE),
    ("library/test_reads.py", "1-/usr/bin/zsh]", MERGE),
    (IN_EVERY_SHELL, "zsh]", COMMIT),
    ("far/test_link.py", "", MERGE),
    ("nightly/test_nightly.py", "", NIGHT),
    ("docs/test_examples.py", "", MERGE),
    ("docs/test_readme.py", "", COMMIT),
])  # fmt: skip
def test_tiers__a_test_is_where_its_place_says(path: str, case: str, tier: int) -> None:
    assert tier_of(path, case) == tier


def test_tiers__what_is_asked_for_is_what_runs() -> None:
    assert (pytest_words([])[-2:], pytest_words(["--all"])[-2:]) == (("--tier", "commit"), ("--tier", "merge"))
    assert pytest_words(["--map"])[-3:] == ("--map", "--tier", "commit")
    assert pytest_words(["tests/vt", "-k", "ring"]) == ("pytest", "-q", "tests/vt", "-k", "ring")
