"""The command line: what it prints, what it returns, and that it starts nothing that it was not asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import muxwire
from muxwire.cli import main

SECONDS = 40


def run(*arguments: str, home: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    (home / "run").mkdir(mode=0o700, exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "muxwire", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "LANG": "C.UTF-8"}
        | environ,
    )


def test_no_verb_shows_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "serve" in shown.err
    assert "demo" in shown.err


@pytest.mark.parametrize("arguments", [["nonsense"], ["serve", "--nonsense"], ["demo", "more"]])
def test_a_wrong_command_line_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


def test_the_version(tmp_path: Path) -> None:
    done = run("--version", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"muxwire {muxwire.__version__}\n")


def test_the_demo_shows_the_main_job(tmp_path: Path) -> None:
    done = run("demo", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'two "quoted"\n  lines\n' in done.stdout
    assert "-> exit code 2, in /" in done.stdout
    assert "ready: True; stopped by SIGINT" in done.stdout
    assert list((tmp_path / "run" / "muxwire").iterdir()) == []


def test_what_is_missing_is_said_with_a_remedy(tmp_path: Path) -> None:
    done = run("demo", home=tmp_path, PATH=str(tmp_path), SHELL="/bin/sh")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "muxwire: tmux is not installed, or not on PATH\n  install tmux 3.3 or newer" in done.stderr


def test_serve_ends_with_its_input_and_starts_no_tmux(tmp_path: Path) -> None:
    done = run("serve", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert not (tmp_path / "run" / "muxwire").exists()
