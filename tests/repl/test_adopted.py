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
    done = script(
        "display-message -p '#{client_flags}'", ":exec -t editor echo from-theirs", ":panes", ":stats",
        arguments=("--socket", str(socket)),
    )  # fmt: skip
    assert re.search(rf"^instance \S+ \(adopted\), tmux .*, socket {socket}$", done.stdout, re.MULTILINE)
    assert re.search(r"^attached,.*ignore-size.*\n-- block \d+, flags 1, %end", done.stdout, re.MULTILINE)
    assert re.search(r"^from-theirs\n-- exit code 0", done.stdout, re.MULTILINE)
    assert re.search(r"%output %0 .*from-theirs", done.stdout)
    assert re.search(r"^%0    @0      work:0\.0 .* editor +(prompt|running)", done.stdout, re.MULTILINE)
    # There is no connection until the first call: nothing is lost then.
    assert "%lost" not in done.stdout
    assert done.returncode == 0
    assert options(socket) == before


def test_one_connection_is_shown_where_there_are_several(script: Script, socket: Path, environ: dict[str, str]) -> None:
    subprocess.run(["tmux", "-S", socket, "new-session", "-d", "-s", "more", "exec sh"], check=True, env=environ)
    done = script(":exec -t work:0 echo in-work", ":exec -t more:0 echo in-more", arguments=("--socket", str(socket)))
    assert "\nin-work\n-- exit code 0" in done.stdout
    assert "\nin-more\n-- exit code 0" in done.stdout
    assert len(re.findall(r"%output %\d .*<mark S", done.stdout)) == 1
