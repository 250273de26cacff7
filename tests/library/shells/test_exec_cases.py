"""The acceptance cases of exact execution: hostile commands, states and keys, in every shell.

MUXWIRE_TEST_BASH is another bash to run bash's rows in, for example a 3.2.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muxwire.host import shells
from tests.library.shells.pty_shell import DEADLINE, Deadline, Key, Outcome, PtyShell
from tests.library.shells.rows import MISSES, RARE_MISSES, ROWS, as_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

# What only the bare shell gets wrong: the terminals mend it.
_MENDED = "it has no line editor on a raw tty; the terminals mend the tty"
BARE_MISSES = {
    ("ksh", "ctrl-z-pipeline"): "ksh stops itself too; the terminals let it go on",
    ("ksh", "stty-raw-left-behind"): _MENDED,
    ("dash", "stty-raw-left-behind"): _MENDED,
    ("dash", "stty-no-isig"): _MENDED,
}
if "MUXWIRE_TEST_BASH" in os.environ:  # perhaps one before 4.4; the terminals know what its 1 means
    for _name in ("ctrl-c-in-loop", "ctrl-c-builtin-loop"):
        BARE_MISSES["bash", _name] = "its status of a loop that C-c ended is 1"
KNOWN = MISSES | RARE_MISSES | BARE_MISSES
# Seconds that a known miss may hang.
MISSED = 1.0
# These try programs on a terminal, and the shell matters little: three shells are enough.
PROGRAMS = {"less-pager", "vim", "top", "python-repl", "password-prompt", "nested-bash-norc", "nested-env-i-bash"}
PROGRAMS |= {"nested-dash", "ctrl-c-program-handles", "stty-raw-program", "echoctl-human-types-during-run"}


class Bench:
    """One shell, started again whenever a case changed or ended it."""

    def __init__(self, executable: str, folder: Path) -> None:
        self.executable = executable
        self.folder = folder
        self.session: PtyShell | None = None
        shells.install(folder / "integration")
        (folder / "tab").mkdir()
        # fish would write completions for every manual page into a home that has none.
        (folder / "home/.local/share/fish/generated_completions").mkdir(parents=True)

    def get(self, extra: dict[str, str]) -> PtyShell:
        if self.session is None:
            env = {"HOME": str(self.folder / "home"), "PATH": os.environ["PATH"], "TERM": "screen", "LANG": "C.UTF-8"}
            self.session = PtyShell(self.executable, self.folder / "integration", self.folder / "tab", env | extra)
            self.session.prompt()
        return self.session

    def discard(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None


BENCHES: dict[str, Bench] = {}


@pytest.fixture(scope="module", autouse=True)
def benches() -> Iterator[None]:
    yield
    for bench in BENCHES.values():
        bench.discard()
        shutil.rmtree(bench.folder)
    BENCHES.clear()


def bench_for(name: str) -> Bench:
    executable = os.environ.get("MUXWIRE_TEST_BASH") if name == "bash" else None
    executable = executable or shutil.which(name)
    if executable is None:
        pytest.skip(f"{name} is not installed")
    if name not in BENCHES:
        BENCHES[name] = Bench(executable, Path(tempfile.mkdtemp(prefix="mw")))
    return BENCHES[name]


def prepare(session: PtyShell, row: dict[str, Any]) -> None:
    for step in row.get("setup", ()):
        if "execute" in step:
            session.execute(step["execute"].encode())
        else:
            session.type(step["human_types"].encode())
            session.until_quiet(1.0)


def command_of(session: PtyShell, row: dict[str, Any]) -> tuple[bytes, bytes | None]:
    if "special" not in row["input"]:
        return as_bytes(row["input"]), None
    session.drain(0.02)
    log = session.tab_folder / "log"
    log.write_bytes(session.data)
    return b"cat " + str(log).encode(), bytes(session.data)


def check(row: dict[str, Any], outcome: Outcome, special: bytes | None) -> None:
    wanted = row["output"]
    if special is not None:
        assert outcome.output == special
    elif "regex" in wanted:
        assert re.fullmatch(wanted["regex"], outcome.output.decode("latin-1"), re.DOTALL), outcome
    elif "any" not in wanted:
        assert outcome.output == as_bytes(wanted), outcome
    ended = "shell_exited" if outcome.status == "shell_exited" else "completed"
    assert ended == row.get("status", "completed"), outcome
    code = row.get("exit_code")
    if code is not None:
        assert outcome.exit_code in (code if isinstance(code, list) else [code]), outcome


def cases() -> Iterator[Any]:
    for name in ("bash", "zsh", "fish", "dash", "busybox", "ksh"):
        for row in ROWS:
            if name in row["shells"] and (row["name"] not in PROGRAMS or name in {"bash", "zsh", "fish"}):
                reason = KNOWN.get((name, row["name"]))
                marks = [pytest.mark.xfail(reason=reason, strict=False)] if reason else []
                yield pytest.param(name, row, id=f"{name}-{row['name']}", marks=marks)


def finds_shell_usable(session: PtyShell, row: dict[str, Any], timeout: float) -> None:
    for step in row.get("cleanup", ()):
        session.execute(step.encode(), timeout=timeout)
    again = session.execute(b"echo ok", timeout=timeout)
    if "set-" not in row["name"]:  # they leave a shell that traces itself
        assert (again.output, again.exit_code) == (b"ok\n", 0), again


@pytest.mark.parametrize(("name", "row"), list(cases()))
def test_case(name: str, row: dict[str, Any]) -> None:
    bench = bench_for(name)
    timeout = MISSED if (name, row["name"]) in KNOWN else DEADLINE
    clean = not any(key in row for key in ("setup", "env", "keys", "status"))
    if not clean:
        bench.discard()
    session = bench.get(dict(pair.split("=") for pair in row.get("env", "").split()))
    try:
        prepare(session, row)
        command, special = command_of(session, row)
        keys = tuple(Key(key[0], base64.b64decode(key[1]), *key[2:]) for key in row.get("keys", ()))
        outcome = session.execute(command, keys=keys, timeout=timeout)
        check(row, outcome, special)
        if outcome.status != "shell_exited":
            finds_shell_usable(session, row, timeout)
    except (AssertionError, Deadline):
        bench.discard()
        raise
    if not clean or b"set " in command or outcome.status == "shell_exited":
        bench.discard()
