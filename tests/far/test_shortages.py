"""Where the sh on another machine cannot find out what it is asked: few processes, or one that changes meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from muxwire.far.bootstrap import helper_script

# A user for each helper, also where several runs of the tests share a machine: the limit counts all processes of a
# user, those among them that a killed helper left.
USERS = count(100_000 + os.getpid() * 200)
# Those that start the processes of a pipeline at once. bash tries again for 15 s.
SHELLS = [shell for shell in (("dash",), ("busybox", "sh")) if shutil.which(shell[0])]
ENOUGH = 50
SPOOL = {"0": b"0123", "4": b"4567", "16": b"late"}
# Each with the kinds of the rows of a whole answer.
QUESTIONS = {
    "f \\057": ["f"],
    "x sh": ["x"],
    "x no\\055such\\055program": [],
    "s %1 2": ["s"],
    "s %1 5": ["s"],
    "s %1 9": ["s"],
    "s %2 0": ["s"],
}


def as_user(words: Sequence[str], processes: int, user: int = 0) -> list[str]:
    """The command as a user who may have so many processes, a new one if none is given."""
    user = user or next(USERS)
    return [
        "prlimit", f"--nproc={processes}", "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words,
    ]  # fmt: skip


@contextmanager
def helper(folder: Path, words: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """One whose question comes from a pipe; it has begun anew, so that it does not set up a terminal."""
    script = folder / "helper"  # a copy: another user may not be able to read this tree
    parts = [*words, str(script), str(folder), "60", str(folder), "again", str(os.getpid()), ""]
    environ = {"PATH": os.environ["PATH"], "muxwire_helper": script.read_text(), "muxwire_machine": os.uname().machine}
    started = subprocess.Popen(parts, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ)
    with started:
        try:
            yield started
        finally:
            started.kill()


def answer(process: subprocess.Popen[str], question: str) -> tuple[list[str], str]:
    """The lines of an answer, and how it ended."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"7 {question}\n")
    process.stdin.flush()
    lines: list[str] = []
    for line in process.stdout:
        text = line.rstrip("\n").removeprefix("7\t")
        if text in (".", "!"):
            return lines, text
        lines.append(text)
    raise AssertionError(lines)


@pytest.fixture
def far(folder: Path) -> Iterator[Path]:
    if os.geteuid() or not shutil.which("prlimit"):
        pytest.skip("only root can be another user")
    home = folder / "far"
    (home / "spool-%1").mkdir(parents=True)
    for name, data in SPOOL.items():
        (home / "spool-%1" / name).write_bytes(data)
    (home / "helper").write_text(helper_script())
    for part in (folder, *folder.parents):
        if part.stat().st_uid == os.geteuid() and part != Path("/") and part != Path("/tmp"):
            part.chmod(part.stat().st_mode | 0o711)
    yield home
    shutil.rmtree(home)


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_what_could_not_be_asked_is_not_answered_with_nothing(far: Path, shell: Sequence[str]) -> None:
    """With few processes an answer is whole or says that it is not; it was "no such directory", "nothing is kept"."""
    for question, kinds in QUESTIONS.items():
        with helper(far, as_user(shell, ENOUGH)) as process:
            whole = answer(process, question)
        assert whole[1] == "."
        assert [line.split("\t")[0] for line in whole[0] if "\t" in line] == kinds, question
        for processes in range(1, 5):
            with helper(far, as_user(shell, processes)) as process:
                found = answer(process, question)
                assert found == whole or found[1] == "!", (question, processes)


def test_what_is_kept_of_an_output_is_read_from_the_file_that_holds_it(far: Path) -> None:
    with helper(far, ["sh"]) as process:
        assert [answer(process, f"s %1 {offset}")[0] for offset in (2, 5, 9, 17)] == [
            ["s\t2\tbase64", "MjM="],
            ["s\t5\tbase64", "NTY3"],
            ["s\t9\tbase64"],
            ["s\t17\tbase64", "YXRl"],
        ]
        (far / "spool-%1" / "0").unlink()
        assert answer(process, "s %1 2")[0] == ["s\t4\tbase64", "NDU2Nw=="]
        answer(process, "e %1")
        assert answer(process, "s %1 2")[0] == ["s\t-1\tbase64"]
