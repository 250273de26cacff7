"""`muxwire demo`, as the README promises it: the main job in a moment, and a clear word where it cannot be done."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def demo(tmp_path: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("TMUX", "XDG_", "MUXWIRE_"))
    }
    environment |= {"SHELL": "/bin/bash", "HOME": str(tmp_path), "MUXWIRE_STATE_DIR": str(tmp_path / "state")} | changes
    return subprocess.run(
        [sys.executable, "-m", "muxwire", "demo"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_shows_a_command_a_process_and_the_log(tmp_path: Path) -> None:
    done = demo(tmp_path)
    assert (done.returncode, 'two "quoted"\n  lines\nls: ' in done.stdout) == (0, True), done.stdout + done.stderr
    took = re.search(r"-> exit code [12], in /, ([0-9.]+) ms", done.stdout)  # GNU's ls says 2, BSD's 1
    assert took is not None, done.stdout
    assert float(took[1]) >= 0.1  # no process takes less
    assert "\n$ pwd\n/\n  -> exit code 0, in /, " in done.stdout
    assert "tick 1\ntick 2\ntick 3\n  -> ready: True; stopped by SIGINT, exit code 130" in done.stdout
    log = Path(done.stdout.split()[-1])
    assert log.is_relative_to(tmp_path / "state")
    assert b"tick 3" in log.read_bytes()


def test_it_says_what_to_do_without_tmux(tmp_path: Path) -> None:
    done = demo(tmp_path, PATH=str(tmp_path))
    assert done.returncode == 1
    assert not done.stdout
    assert done.stderr.splitlines() == [
        "muxwire: tmux is not installed, or not on PATH",
        "  install tmux 3.3 or newer with the system's package manager",
    ]


@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("apt-get", "apt-get update && SUDOapt-get install -y tmux"),
        ("dnf", "dnf install -y tmux"),
        ("apk", "apk add tmux"),
    ],
)
def test_it_says_the_one_line_that_gets_a_tmux(tmp_path: Path, manager: str, line: str) -> None:
    (tmp_path / manager).touch(mode=0o755)
    sudo = "" if os.geteuid() == 0 else "sudo "
    shown = f"  install tmux 3.3 or newer: {sudo}{line.replace('SUDO', sudo)}"
    assert demo(tmp_path, PATH=str(tmp_path)).stderr.splitlines()[1] == shown
    done = subprocess.run(
        [sys.executable, "-m", "muxwire", "new"],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "SHELL": "/bin/sh"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert shown in done.stderr.splitlines()
