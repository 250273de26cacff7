"""The REPL on a tmux server that a person runs: the same view, and nothing of the server is changed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Script = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def socket(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """A person's server with a session in it."""
    path = home / "theirs"
    tmux = ["tmux", "-u", "-S", str(path), "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "-s", "work", "-n", "editor", "exec sh"], check=True, env=environ)
    yield path
    subprocess.run([*tmux, "kill-server"], check=True, env=environ)


def options(socket: Path) -> str:
    asked = [("show-options", "-s"), ("show-options", "-g"), ("show-options", "-gw"), ("list-windows", "-a")]
    argv = [["tmux", "-S", str(socket), *words] for words in asked]
    return "".join(subprocess.run(one, check=True, capture_output=True, text=True).stdout for one in argv)


def test_a_persons_server_is_seen_and_left_as_it_was(script: Script, socket: Path) -> None:
    before = options(socket)
    done = script("display-message -p '#{client_flags}'", "list-windows -a", arguments=("--socket", str(socket)))
    assert re.search(rf"^tmux \S+, socket {socket}$", done.stdout, re.MULTILINE)
    assert re.search(r"^attached,.*ignore-size.*\n-- block \d+, flags 1, %end", done.stdout, re.MULTILINE)
    assert "work:0: editor" in done.stdout
    assert "%lost" not in done.stdout
    assert done.returncode == 0
    assert options(socket) == before
