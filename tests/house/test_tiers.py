"""Every place that tiers and order of the tests name is there, and a test is in the tier that its place says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import covering
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
    assert pytest_words([])[-2:] == ("--tier", "commit")
    assert pytest_words(["--all"])[-2:] == ("--tier", "merge")
    assert pytest_words(["--map"])[-3:] == ("--map", "--tier", "commit")
    assert pytest_words(["tests/vt", "-k", "ring"]) == ("pytest", "-q", "tests/vt", "-k", "ring")


def test_for__names_what_was_seen_to_run_the_file_and_its_own_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(covering, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    for folder in ("src/muxwire/vt", "tests/vt", "tests/library"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("src/muxwire/vt/ring.py", "tests/vt/test_ring.py", "tests/library/test_log.py"):
        (tmp_path / file).touch()
    with pytest.raises(LookupError, match="--map"):
        covering.tests_of("src/muxwire/vt/ring.py")
    for test, ran in (("vt/test_ring.py", "ring"), ("library/test_log.py", "ring"), ("library/test_gone.py", "ring")):
        seen = tmp_path / ".pytest_cache" / "v" / "covers" / "tests" / test
        seen.parent.mkdir(parents=True, exist_ok=True)
        seen.write_text(f'["src/muxwire/vt/{ran}.py"]')
    assert covering.tests_of("src/muxwire/vt/ring.py") == ["tests/library/test_log.py", "tests/vt"]
    with pytest.raises(FileNotFoundError):
        covering.tests_of("src/muxwire/vt/rings.py")
