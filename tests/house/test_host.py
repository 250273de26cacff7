"""Only `host` asks the panes' machine: a question past it is put to the wrong machine when that is another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent / "src" / "muxwire"

ASKED = re.compile(
    r"/proc\b|\bimport termios\b|\btermios\.|\bos\.(?:kill|killpg|tcgetpgrp|getsid)\b|shutil\.(?:which|rmtree)"
    r"|\bmuxwire\.host\.(?:processes|shells)\b"
    r"|\bmuxwire\.host\.(?:folders|environment) import .*\b(?:write_private|replace_private|checked_folder)\b"
)
# Those that look at this machine and no other, each with its reason.
HERE = {
    "cli/attach.py": "a person's terminal is on this machine",
    "client/watchdog.py": "a program of its own, which imports nothing of ours",
    "logs/segments.py": "spools stay with the process that writes the logs",
    "logs/times.py": "times stay with the process that writes the logs",
    "library/doctor/": "examines this machine",
    "instance/orphans.py": "ends what processes of this machine have left",
    "tabs/record.py": "records of tabs stay with the process that makes them",
    "owner/__main__.py": "an owner that cannot be reached is a process of this machine",
    "far/": "is another machine's `host`, and packs what this machine has",
    "testing/plugin.py": "tests run on this machine",
}


def breaches(source: str, forbidden: re.Pattern[str] = ASKED) -> Iterator[str]:
    """The lines of code that ask a machine; comments and docstrings may speak of it."""
    code = re.sub(r'"""(?:.|\n)*?"""', lambda found: "\n" * found[0].count("\n"), source)
    for number, line in enumerate(code.splitlines(), 1):
        if found := forbidden.search(line.partition("  #")[0]):
            yield f"{number}: {found[0]}"


def test_the_panes_machine_is_asked_by_host_alone() -> None:
    found = [
        f"{name}:{breach}"
        for path in sorted(SOURCE.rglob("*.py"))
        for name in [str(path.relative_to(SOURCE))]
        if not name.startswith(("host/", *HERE))
        for breach in breaches(path.read_text())
    ]
    assert not found, "\n".join(found)
