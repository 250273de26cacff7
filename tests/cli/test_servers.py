"""Servers that the tmux on PATH cannot talk to, that are stopped or not ours, and instances that were never used."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from muxwire.client.watchdog import process_table
from muxwire.host.processes import listening_pid
from muxwire.tmux import start as server_start
from tests.cli.user import Place
from tests.processes import gone
from tests.users import with_tmux

# A tmux that no server understands, as that of 3.6 and later is for one of 3.5a.
NEWER = '[ "$1" = -V ] && echo "tmux 99.1" && exit\nexec sleep 1000'
# Nobody has to wait for as long as for a machine that swaps.
SOON = 1.0


@pytest.fixture(autouse=True)
def nothing_runs(place: Place) -> Iterator[None]:
    """Whatever a test leaves of a server ends with it, stopped or not."""
    yield
    for path in (place.home / "run" / "muxwire").glob("*.sock"):
        if pid := listening_pid(path):
            os.kill(pid, signal.SIGKILL)
    place.leave()  # it may have been started where tmux is another one


@pytest.mark.parametrize("deleted", [False, True], ids=["there", "deleted"])
def test_after_an_upgrade_the_servers_own_program_is_used(place: Place, tmp_path: Path, deleted: bool) -> None:
    old = with_tmux(tmp_path / "old", "replaced by the next line")
    shutil.copy(shutil.which("tmux") or "", tmp_path / "old/tmux")
    first = place.run("run", "cd /usr; pwd", environ=old)
    assert (first.returncode, first.stdout) == (0, b"/usr\n")
    pid = listening_pid(place.socket())
    assert pid
    if deleted:
        (tmp_path / "old" / "tmux").unlink()
    newer = with_tmux(tmp_path / "new", NEWER)
    place.leave()
    done = place.run("run", "pwd", environ=newer)
    assert (done.returncode, done.stdout) == (0, b"/usr\n")
    listed = place.run("ls", environ=newer)
    assert (listed.returncode, b"/usr" in listed.stdout) == (0, True)
    assert place.run("kill", "--all", environ=newer).returncode == 0
    anyio.run(gone, [pid])
    assert not place.socket().exists()


def test_a_server_that_cannot_be_talked_to_says_why_and_can_be_ended(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.ok("run", "echo on") == "on\n"
    pid = listening_pid(place.socket())
    assert pid
    newer = with_tmux(tmp_path / "new", NEWER)
    # Where there is no /proc, or it is not ours to look at.
    monkeypatch.setattr(server_start, "program_for", lambda *_: f"{tmp_path}/new/tmux")
    monkeypatch.setattr(server_start, "START_SECONDS", SOON)
    for verb in (("run", "true"), ("kill", "--all")):
        done = place.run(*verb, environ=newer, alone=True)
        assert done.returncode
        assert f"process {pid}) did not answer within".encode() in done.stderr
        assert b"another version" in done.stderr
        assert b"muxwire kill --all --force" in done.stderr
    monkeypatch.setattr(server_start, "program_for", lambda *_: 1 / 0)  # whatever keeps it from being opened
    assert place.run("kill", "--all", "--force", environ=newer, alone=True).returncode == 0
    anyio.run(gone, [pid])
    monkeypatch.undo()
    place.leave()  # its owner was started where tmux is the newer one
    assert place.ok("run", "echo afresh") == "afresh\n"


def test_a_server_that_is_not_ours_says_so_and_can_be_ended(place: Place) -> None:
    place.socket().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    subprocess.run(["tmux", "-S", place.socket(), "-f", "/dev/null", "new-session", "-d"], check=True)
    pid = listening_pid(place.socket())
    assert pid
    done = place.run("run", "true")
    assert b"was not started by muxwire" in done.stderr
    assert b"muxwire kill --all --force" in done.stderr
    assert pid in process_table()
    assert place.run("kill", "--all", "--force").returncode == 0
    anyio.run(gone, [pid])
    assert place.ok("run", "echo ours") == "ours\n"


@pytest.mark.parametrize(
    "verb", [("ls",), ("run", "-t", "nosuch", "true"), ("kill", "nosuch"), ("new", "--shell", "nosuch")], ids=" ".join
)
def test_a_name_that_was_never_used_leaves_nothing(place: Place, verb: tuple[str, ...]) -> None:
    place.run(verb[0], "--name", "ghost", *verb[1:])
    place.ended("ghost")
    assert not [*(place.home / "run/muxwire").glob("ghost*"), *(place.home / "state").glob("ghost*")]
