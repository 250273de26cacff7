"""examples/pytest, a project whose tests use muxwire's fixtures: its tests pass, and one that fails shows why."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pytest"
FAILS = """
import pytest


@pytest.mark.terminal(size=(40, 5), shell="/bin/sh")
def test_it_fails(tab, tmp_path):
    done = tab.execute("pwd; stty size; echo $HOME; echo on the screen")
    assert done.output.splitlines()[:2] == [str(tmp_path), "5 40"]
    assert done.output.splitlines()[2] != "/home/person"
    assert False
"""


PROMPT = """
import pytest


@pytest.mark.terminal(size=(40, 5), shell="/bin/sh")
class TestMarks:
    @pytest.mark.terminal(size=(50, 6))
    def test_the_closest_counts(self, tab):
        assert tab.execute("stty size; echo $0").output == "6 50\\n/bin/sh\\n"

    @pytest.mark.terminal("/bin/sh")
    def test_an_option_has_a_name(self, tab): ...


def test_the_prompt_is_plain(tab):
    tab.execute("true")
    assert {line.rstrip() for line in tab.snapshot().lines} == {"$ true", "$"}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "project"))


def checked(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(words or ("-o", "addopts="))],
        cwd=project, env=os.environ | {"HOME": "/home/person"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_what_the_page_shows_works_beside_the_program(project: Path) -> None:
    page = EXAMPLE.parents[1].joinpath("docs", "python.md").read_text()
    shown = re.findall(r"^( *)```python\n *# ([a-z_]+\.py).*?\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL)
    for name in {name for _, name, _ in shown}:
        (project / name).write_text("".join(textwrap.dedent(code) for _, one, code in shown if one == name))
    assert {name for _, name, _ in shown} == {"conftest.py", "greet.py", "test_greet.py"}
    done = checked(project)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_it_takes_no_options_of_the_clone_that_it_is_in() -> None:
    """Which has options for plugins that somebody who only tries the example has not installed."""
    done = checked(EXAMPLE, "-p", "no:timeout", "test_greet.py")
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_its_tests_pass_and_one_that_fails_shows_its_terminal(project: Path) -> None:
    (project / "test_failing.py").write_text(FAILS)
    (project / "test_prompt.py").write_text(PROMPT)
    done = checked(project)
    assert "1 failed, 6 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert re.search(r" terminal -+\n(?:.*\n)*?on the screen\n", done.stdout), done.stdout
