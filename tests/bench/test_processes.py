"""A contender's processes are found wherever they went, and an installer that is late goes with all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bench.packages import DONE, FromNpm, FromPyPI, installed
from bench.processes import Belongings, ForkCount, finished, reason

if TYPE_CHECKING:
    from pathlib import Path

# A child that nobody waits for and that has left its parent's session.
STRAY = "import os, time; os.fork() and os._exit(0); os.setsid(); os.execvp('sleep', ['sleep', '1000'])"


def test_a_process_that_left_its_parent_is_found_and_ended() -> None:
    mine, other = Belongings(), Belongings()
    subprocess.run([sys.executable, "-c", STRAY], env=dict(os.environ) | mine.environ, check=True)
    assert len(list(mine.pids())) == 1
    assert not list(other.pids())
    assert mine.cpu() >= 0
    assert mine.kill() == 1
    assert not list(mine.pids())


def test_forks_are_counted_by_process() -> None:
    """What others of the machine start does not count, threads do not, and what was started starts counts."""
    mine = Belongings()
    with subprocess.Popen(
        ["sh", "-c", "read go; (sh -c true; true); true; read end"],
        stdin=subprocess.PIPE,
        env=dict(os.environ) | mine.environ,
    ) as process:
        assert process.stdin is not None
        count = ForkCount(mine)
        try:
            if not count.exact:
                pytest.skip("the kernel does not tell of forks here")
            subprocess.run(["sh", "-c", "true; (true)"], check=True)
            assert count.new() == 0
            process.stdin.write(b"go\n")
            process.stdin.flush()
            found = 0
            while found < 2:  # the subshell, and the shell in it
                found += count.new()
            process.stdin.write(b"end\n")
            process.stdin.flush()
            process.wait()
            assert found + count.new() == 2
        finally:
            count.close()


def test_an_installer_that_is_late_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Belongings()
    monkeypatch.setenv(*next(iter(mine.environ.items())))
    assert finished(["sh", "-c", "sleep 1000 & sleep 1000"], 0.3) == "sh took longer than 0 s"
    assert {pid for pid in mine.pids() if pid != os.getpid()} == set()


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["true"], ""),
        (["sh", "-c", "exit 3"], "sh ended with 3"),
        (["sh", "-c", "echo 'error: no disk' >&2; exit 1"], "error: no disk"),
        (["no-such-installer"], "no-such-installer: No such file or directory"),
        (["cat"], ""),
    ],
)
def test_why_an_installer_failed(argv: list[str], why: str) -> None:
    assert finished(argv, 10) == why


def test_npm_and_pip_in_their_own_words() -> None:
    npm = (
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/tmux-mcp\nnpm error 404\n"
        "npm error A complete log of this run can be found in: ~/.npm/_logs/x.log\n"
    )
    assert reason(npm) == "npm error 404 Not Found"
    pip = (
        "WARNING: Location 'file:///x' is ignored: it is neither a file nor a directory.\n"
        "ERROR: Ignored the following versions that require a different python version: 1.0.0 Requires-Python >=3.12\n"
        "ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)\n"
        "ERROR: No matching distribution found for x==1\n"
    )
    assert reason(pip) == "ERROR: No matching distribution found for x==1"
    assert reason("") == ""


def test_a_package_is_named_with_its_version() -> None:
    assert FromPyPI(("libtmux==0.62.0", "mcp<2")).label == "libtmux 0.62.0"
    assert FromNpm("@a/b@1.2.3").label == "@a/b 1.2.3"


def test_a_package_that_cannot_be_had_is_a_reason_and_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed(FromNpm("x@1"), tmp_path / "x") == "node is not here"
    assert not (tmp_path / "x" / DONE).exists()


def test_a_package_that_is_there_is_not_installed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FromPyPI, "steps", lambda _self, _folder: [["false"]])
    assert installed(FromPyPI(("x==1",)), tmp_path) == "not installed: false ended with 1"
    (tmp_path / DONE).write_text("x 1")
    assert installed(FromPyPI(("x==1",)), tmp_path) == ""
    assert installed(FromPyPI(("x==2",)), tmp_path) == "not installed: false ended with 1"
