"""The plugin that runs files of tests in forks loses no test and no outcome, whatever becomes of a fork."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import LONG_FILES, SHORT_FILES, TESTS

SECONDS = 50
FILES = {
    "conftest.py": """
import os, pytest
@pytest.fixture(scope="session")
def worker():
    yield os.getpid()
    with open("ended", "a") as ended:
        ended.write("x")
""",
    "test_one.py": """
import pytest, warnings
def test_passes(worker, tmp_path): (tmp_path / "mine").touch(exist_ok=False)
def test_fails(worker):
    print("said", "by one")
    assert worker == 0
@pytest.mark.skip(reason="no need")
def test_is_skipped(): pass
def test_warns(worker): warnings.warn("beware of two")
""",
    "test_two.py": """
import os
def test_passes(worker, tmp_path): (tmp_path / "mine").touch(exist_ok=False)
def test_ends_its_process(): os._exit(0)
def test_comes_too_late(): pass
""",
    "test_three.py": "def test_passes(worker, tmp_path): (tmp_path / 'mine').touch(exist_ok=False)\n",
    "test_four.py": "def test_passes(worker, tmp_path): (tmp_path / 'mine').touch(exist_ok=False)\n",
}


def run(folder: Path, *arguments: str) -> str:
    """What pytest prints about the files in a directory; they fail."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.workers", "--workers", "2", "-p", "no:cacheprovider",
         "-c", "/dev/null", "--rootdir", str(folder), "--import-mode=importlib", *arguments, str(folder)],
        cwd=TESTS.parent, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_every_test_has_its_outcome(tmp_path: Path) -> None:
    for name, source in FILES.items():
        (tmp_path / name).write_text(source.replace('"ended"', f'"{tmp_path}/ended"'))
    said = run(tmp_path)
    assert "3 failed, 5 passed, 1 skipped, 1 warning" in said
    assert re.search(r"_ .*test_two.py::test_ends_its_process _+\nthe process that ran it has ended", said)
    assert re.search(r"_ .*test_two.py::test_comes_too_late _+\nit was not run", said)
    assert said.count("said by one") == 1
    assert "beware of two" in said
    assert (tmp_path / "ended").read_text() == "x"  # by the worker that lived, at its end


def test_the_first_failure_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text("def test_fails(): assert False\n")
    for number in range(4):
        (tmp_path / f"test_{number}.py").write_text("def test_passes(): pass\n" * 2)
    assert "stopping after 1 failures" in run(tmp_path, "-x")


def test_the_files_that_come_first_and_last_are_there() -> None:
    assert [name for name in LONG_FILES if not (TESTS / name).is_file()] == []
    assert [name for name in SHORT_FILES if not (TESTS / name).is_dir()] == []
