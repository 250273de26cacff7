"""Forty decisions of the product, each of which the first tiers of tests must defend: made wrong, a test must fail.

    python -m tests --map                        what runs which file, needed once
    python -m tests.nightly.mutations [PART]     all of them, or those whose file has PART in its name

Each is done to a copy of the source. The tests that `python -m tests --for FILE` names run on the copy until one
fails, tables first. A line says which did, or that the mutation lives; then the program ends with 1. Run it before and
after tests are taken away, in the foreground: a job in the background ignores SIGINT, and tests of that fail. Two are
known to live: those of `instance/adopted.py` and `mcp/wire.py`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.covering import ROOT, own_tests, tests_of

# A file of src/muxwire, a text that it has once, and what stands there instead.
MUTATIONS = (
    ("adapters/swerex.py", "if result.running and not result.timed_out:", "if False:"),
    ("cli/options.py", "int(text) < least or", "False or"),
    ("cli/run.py", 'if shell == "fish" and quoted != word else', "if False else"),
    ("client/forbidden.py", '_has_flag(arguments[:-1], b"C") or arguments', "arguments"),
    ("far/resending.py", 'if one.name == "if-shell" or _only_looks', "if _only_looks"),
    ("far/carriers.py", "if self.user and _USER.match(self.user) is None:", "if False:"),
    ("host/folders.py", "if os.fstat(fd).st_size > len(content):", "if False:"),
    ("host/processes.py", "== session_leader or _has_open(pid, tty):", "== session_leader:"),
    ("instance/adopted.py", "if tab.pane_id == row.pane and tab.size != row.size:", "if False:"),
    ("instance/lost_end.py", "return row == _shown(logged) != ", "return _shown(logged) != "),
    ("instance/spools.py", "if number != generation or path.stem not in living:", "if True:"),
    ("library/doctor/machine.py", "private_folder(places.state, only_ours=False)", "pass"),
    ("library/pictures.py", 'if text != " " and not style.hidden:', 'if text != " ":'),
    ("logs/grep.py", "if found.full or time.monotonic() > deadline:", "if found.full:"),
    ("logs/history.py", "if len(self._noted) < WAITING_MAX:", "if True:"),
    ("logs/limits.py", "if total <= limits.instance_bytes and file", "if file"),
    ("logs/segments.py", "if self.end - self.first >= self._segment_bytes:", "if False:"),
    ("mcp/registry.py", "if not window or busy:", "if not window:"),
    ("mcp/wire.py", "if self._lines and self._room.is_set():", "if self._lines:"),
    ("operations/lists.py", "if adopted and not operation.harmless:", "if False:"),
    ("operations/panes.py", "if least < (COLUMNS_MIN if horizontal else 1):", "if least < 1:"),
    ("cli/console.py", 'self.send(b"e" if error else b"o", data)', 'self.send(b"o", data)'),
    ("pane/output.py", 'in ("lost", "shell_lost", "never_ran") and not', 'in ("shell_lost", "never_ran") and not'),
    ("protocol/control.py", "elif not error and self.blocks_had", "elif self.blocks_had"),
    ("protocol/lines.py", "lines[0] = bytes(self.open_line) + lines[0]", "pass"),
    ("repl/printer.py", "if len(self._lines) < self._room:", "if True:"),
    ("results.py", "result.cwd != result.started_in", "True"),
    ("shell/execution.py", "return self.begin > self.typed_at", "return self.begin >= self.typed_at"),
    ("shell/look.py", "return where.startswith(_READ) or (polls and", "return where.startswith(_READ) or ("),
    ("shell/visible.py", "mark.begin - begun <= HIDDEN_MAX", "True"),
    ("tabs/book.py", "while len(self.commands) >= REMEMBERED_COMMANDS:", "while False:"),
    ("tabs/event_log.py", "if len(found) == limit:", "if False:"),
    ("tabs/waits.py", "if asked.gone and not (asked.until or asked.regex):", "if False:"),
    ("testing/plugin.py", 'if report.when == "call" and report.failed and', "if"),
    ("tmux/past.py", "exact and following.sure", "exact"),
    ("tmux/rows.py", "if rows and not _BEGINS.match(line):", "if False:"),
    ("verbs/check.py", 'if one.unit == "ms" and (value < 0 or (least and not value)):', "if False:"),
    ("verbs/read.py", "number < one.least) or", "number < 0) or"),
    ("vt/cells.py", "and all(0 <= number <= 255 for number in rgb)", ""),
    ("vt/readable.py", "for _ in range(lines + 1):", "for _ in range(lines):"),
    ("vt/screens.py", "base = end - self._sequences.held_back - len(data)", "base = end - len(data)"),
    ("web/server.py", 'if origin and origin.partition("://")[2] != host:', "if False:"),
    ("web/server.py", "if self._control.get(viewer.tab) is not viewer:", "if False:"),
)  # fmt: skip
PURE = ("tests/protocol", "tests/shell", "tests/verbs", "tests/vt", "tests/recordings")
# These are tested before a merge, as all their tests start programs; the others at every commit.
LATER = ("adapters", "cli", "instance", "library/doctor", "testing")
SECONDS = 60  # that a test may take: a wrong decision often shows as a wait without end


def copied(to: Path) -> Path:
    """Copy what tests read, and make a Python that imports it from there; its path."""
    for name in ("src", "tests", "docs", "examples", "packaging", "README.md", "CONTRIBUTING.md", "pyproject.toml"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, to / name)
    venv.create(to / "venv", symlinks=True)
    [packages] = (to / "venv" / "lib").glob("python*/site-packages")
    (packages / "first.pth").write_text(f"{to / 'src'}\n{Path(pytest.__file__).parent.parent}\n")
    return to / "venv" / "bin" / "python"


def killed_by(python: Path, root: Path, name: str) -> str:
    """Run what covers the file; the first test that fails, "" if none does."""
    tests = tests_of(f"src/muxwire/{name}")
    first = [test for test in tests if test == own_tests(Path(name)) or test.startswith(PURE)]
    tier = "merge" if name.startswith(LATER) else "commit"
    for some in (first, [test for test in tests if test not in first]):
        words = ("-m", "pytest", "-qx", "--tier", tier, "--timeout", str(SECONDS), "-p", "no:cacheprovider", *some)
        ran = subprocess.run([python, *words], cwd=root, capture_output=True, text=True, check=False) if some else None
        if ran is not None and (found := re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)):
            return found[1]
        if ran is not None and ran.returncode not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            raise RuntimeError(ran.stdout + ran.stderr)
    return ""


def main(part: str = "") -> int:
    """Do one after the other; 1 if one lives, or cannot be done because the source has changed."""
    alive = 0
    with TemporaryDirectory(prefix="mutations.") as made:
        root = Path(made)
        python = copied(root)
        for name, old, new in MUTATIONS:
            if part not in name:
                continue
            path = root / "src" / "muxwire" / name
            source = path.read_text()
            if source.count(old) != 1:
                verdict = "STALE: the source has changed"
            else:
                path.write_text(source.replace(old, new))
                killer = killed_by(python, root, name)
                verdict = f"killed by {killer}" if killer else "ALIVE"
            alive += verdict.isupper() or verdict.startswith("STALE")
            print(f"{name}: {old[:50]}: {verdict}", flush=True)
            path.write_text(source)
    return min(alive, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
