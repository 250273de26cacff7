"""One row for each thing that the wrapper of a command does, on a bare pty.

All rows run through tmux (`tests/library/test_exec_cases.py`); a row that fails here too is a fault of the shell's own
script, and of nothing above it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muxwire.host import shells
from tests.library.shells.pty_shell import EXECUTABLES, PtyShell
from tests.library.shells.rows import ROWS, as_bytes
from tests.users import keep_fish_quiet

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS = frozenset((
    # where the output begins and ends, and that its bytes stay as they are
    "no-trailing-newline", "only-newlines", "all-256-bytes", "wide-line-10k", "fake-osc-marker",
    # that the command is data
    "control-bytes-in-command", "invalid-utf8-in-command", "100kB-command", "heredoc-quoted", "comment-at-end",
    "unclosed-dquote", "unclosed-heredoc", "trailing-backslash", "good-line-then-syntax-error",
    # that it runs in the shell itself, and the status is the command's
    "exit-42", "killed-by-signal-9", "dollar-question-continuity", "cd-persists", "alias-persists", "return-top-level",
    # what it may do to the shell
    "set-v", "set-e-then-false", "param-error-expansion", "exit-3", "shell-kills-itself", "exec-redirect-stdout",
    "builtin-shadowed-printf", "ifs-changed", "path-emptied", "stty-echo-off", "trap-exit", "trap-err",
    "noclobber-noglob",
))  # fmt: skip


def cases() -> Iterator[Any]:
    for name in EXECUTABLES:
        for row in ROWS:
            if name in row["shells"] and row["name"] in PARTS:
                yield pytest.param(name, row, id=f"{name}-{row['name']}")


@pytest.fixture(scope="module")
def sessions() -> Iterator[dict[str, PtyShell]]:
    """A shell of each name, until a case has changed it or ended it."""
    found: dict[str, PtyShell] = {}
    yield found
    for session in found.values():
        session.close()


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mw") as name:
        folder = Path(name)
        shells.install(folder / "integration")
        keep_fish_quiet(folder / "home")
        yield folder


def started(name: str, home: Path) -> PtyShell:
    executable = os.environ.get("MUXWIRE_TEST_BASH") if name == "bash" else None
    executable = executable or shutil.which(name)
    if executable is None:
        pytest.skip(f"{name} is not installed")
    (home / name).mkdir(exist_ok=True)
    env = {"HOME": str(home / "home"), "PATH": os.environ["PATH"], "TERM": "screen", "LANG": "C.UTF-8"}
    session = PtyShell(executable, home / "integration", home / name, env)
    session.prompt()
    return session


@pytest.mark.parametrize(("name", "row"), list(cases()))
def test_case(sessions: dict[str, PtyShell], home: Path, name: str, row: dict[str, Any]) -> None:
    session = sessions.pop(name, None) or started(name, home)
    kept = False
    try:
        for step in row.get("setup", ()):
            session.execute(step["execute"].encode())
        command = as_bytes(row["input"])
        outcome = session.execute(command)
        wanted, code = row["output"], row.get("exit_code")
        if "regex" in wanted:
            assert re.fullmatch(wanted["regex"], outcome.output.decode("latin-1"), re.DOTALL), outcome
        elif "any" not in wanted:
            assert outcome.output == as_bytes(wanted), outcome
        ended = row.get("status") == "shell_exited"
        assert (outcome.status == "shell_exited") == ended, outcome
        assert code is None or outcome.exit_code in (code if isinstance(code, list) else [code]), outcome
        if not ended:
            for step in row.get("cleanup", ()):
                session.execute(step.encode())
            again = session.execute(b"echo ok")
            if "set-" not in row["name"]:  # they leave a shell that traces itself
                assert (again.output, again.exit_code) == (b"ok\n", 0), again
            kept = b"set " not in command and "setup" not in row
    finally:
        if kept:
            sessions[name] = session
        else:
            session.close()
