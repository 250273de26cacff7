"""A verb touches its caller by its console alone: its code may run in another process than the one it was typed for."""

from __future__ import annotations

import re
from pathlib import Path

from tests.house.test_host import breaches

CLI = Path(__file__).resolve().parents[2] / "src" / "muxwire" / "cli"

# What only the process of a person has, and what ends or changes a whole process.
OF_THE_PROCESS = re.compile(
    r"\bsys\.(?:argv|exit|std\w+)|\b(?:os|signal|sys|shutil) import\b|\bshutil\.get_terminal_size"
    r"|\bos\.(?:_exit|chdir|close|dup2?|environb?|exec\w+|fdopen|get_terminal_size|getcwd|getenv|isatty|kill|open|putenv"
    r"|read|ttyname|umask|unsetenv|write)\b|\bsignal\.(?:signal|set_wakeup_fd|pthread_sigmask|raise_signal)\b"
    r"|\banyio\.(?:open_signal_receiver|run)\b|(?<![\w.])(?:exit|input|open|print|quit)\(|\.(?:cwd|isatty|resolve)\("
)
# What makes the console of this process.
ALLOWED = {"__init__.py"}


def test_verbs_reach_their_caller_by_the_console_alone() -> None:
    files = {path.name: path.read_text() for path in CLI.glob("*.py")}
    assert {name for name, source in files.items() if list(breaches(source, OF_THE_PROCESS))} == ALLOWED
