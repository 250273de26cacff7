"""What instances leave behind is left behind, found, and removed by the command that is named."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from muxwire.host.folders import Folders
from muxwire.host.locks import InstanceLock
from muxwire.instance.orphans import end_orphans
from muxwire.library.doctor import leftovers
from muxwire.owner.server import listen
from tests.doctor.person import SECONDS, doctor


def dead_pid() -> int:
    """The number of a process that has just ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def left(where: Folders) -> str:
    """What was found; "" if nothing was."""
    found = leftovers.leftovers(where)
    return "" if found.level == "ok" else found.message


def test_a_socket_without_a_server(where: Folders) -> None:
    assert left(where) == ""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(where.socket_path))
        server.listen()
        assert left(where) == ""
    assert left(where) == f"1 of instances that have ended: {where.socket_path.name}"
    assert (list(leftovers.clean(where)), left(where)) == ([str(where.socket_path)], "")


def test_what_instances_have_left_goes_by_the_command_that_is_named(where: Folders, environ: dict[str, str]) -> None:
    gone, living = f"e{dead_pid()}-", f"e{os.getpid()}-abcdef"
    for number in range(5):
        (where.runtime / f"{gone}{number:06x}" / "shells").mkdir(parents=True)
        (where.runtime / f"{gone}{number:06x}.sock").touch()
    orphan, kept = where.runtime / f"{gone}abcdef.sock", where.runtime / f"{living}.sock"
    (where.runtime / living).mkdir()
    for one in (orphan, kept):
        subprocess.run(["tmux", "-S", one, "-f", "/dev/null", "new-session", "-d", "cat"], check=True, env=environ)
    assert leftovers.leftovers(where).remedy == "muxwire doctor --clean"
    assert left(where).startswith(f"11 of instances that have ended: {orphan.name}, ")
    assert left(where).endswith(" and 8 more")
    done = doctor(environ, "--clean")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\n11 removed\n")
    assert sorted(entry.name for entry in where.runtime.iterdir()) == [living, f"{living}.sock"]
    assert doctor(environ, "--clean").stdout == "0 removed\n"
    subprocess.run(["tmux", "-S", kept, "kill-server"], check=True, env=environ)


rooted = pytest.mark.skipif(
    os.geteuid() != 0
    or subprocess.run(["unshare", "--pid", "--mount", "--fork", "true"], check=False, capture_output=True).returncode
    != 0,
    reason="only root can make namespaces",
)


def elsewhere(environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run `muxwire`, behind options of unshare(1), in a PID namespace of its own."""
    return subprocess.run(
        ["unshare", "--pid", "--fork", *words[:-2], sys.executable, "-m", "muxwire", *words[-2:]],
        env=environ,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@rooted
@pytest.mark.parametrize("words", ["new --json", "run true", "kill --all", "doctor --clean", "doctor --json"])
def test_where_proc_is_of_another_namespace_nothing_is_opened_or_ended(
    where: Folders, environ: dict[str, str], words: str
) -> None:
    done = elsewhere(environ, *words.split())
    assert (done.returncode > 0, "mount -t proc" in done.stdout + done.stderr, list(where.state.iterdir())) == (
        True,
        True,
        [],
    )


@rooted
@pytest.mark.parametrize("listens", ["{}.sock", "{}/owner"])
def test_an_instance_of_another_namespace_is_left_alone(where: Folders, environ: dict[str, str], listens: str) -> None:
    """There its process has another number, or none, and so has its server."""
    name = f"e{os.getpid()}-abcdef"
    (where.runtime / name).mkdir()
    with listen(where.runtime / listens.format(name)):
        assert elsewhere(environ, "--mount-proc", "doctor", "--clean").stdout == "0 removed\n"
    assert (where.runtime / name).is_dir()


async def test_a_start_removes_the_old_directories_of_processes_that_have_ended(where: Folders) -> None:
    dead, living = f"e{dead_pid()}-", f"e{os.getpid()}-abcdef"
    folders = [where.runtime / name for name in (f"{dead}000001", f"{dead}000002", living, "main")]
    for folder in folders:
        (folder / "shells").mkdir(parents=True)
        folder.with_suffix(".sock").touch()
        os.utime(folder, (0, 0))
        os.utime(folder.with_suffix(".sock"), (0, 0))
    os.utime(folders[1])  # that of a process in another container, which this one does not see
    await end_orphans(where)
    assert [folder for folder in folders if not folder.exists()] == folders[:1]
    assert not folders[0].with_suffix(".sock").exists()


def test_a_named_instance_whose_owner_lives_is_left_alone(where: Folders, environ: dict[str, str]) -> None:
    (where.runtime / "named").mkdir()
    (where.runtime / "named.sock").touch()
    (where.state / "named").mkdir()
    owner = InstanceLock(where.state / "named" / "lock")
    assert owner.take()
    assert left(where) == ""
    owner.leave()
    assert left(where) == "2 of instances that have ended: named.sock, named"


@pytest.mark.parametrize("path", ["named.sock", "box.0123abcd/s"])
def test_a_server_whose_socket_was_removed_keeps_its_directory(
    where: Folders, environ: dict[str, str], path: str
) -> None:
    """The next verb has it make its socket anew; until then its tabs work, and need what is there."""
    socket_path = where.runtime / path
    folder = socket_path.parent if socket_path.name == "s" else socket_path.with_suffix("")
    folder.mkdir()
    argv = ["tmux", "-S", str(socket_path), "-f", "/dev/null"]
    started = subprocess.run(
        [*argv, "new-session", "-d", "-P", "-F", "#{pid}", "cat"], check=True, env=environ, capture_output=True
    )
    try:
        socket_path.unlink()
        assert left(where) == ""
        assert list(leftovers.clean(where)) == []
        assert folder.is_dir()
    finally:
        os.kill(int(started.stdout), signal.SIGTERM)
    deadline = time.monotonic() + SECONDS
    while not left(where):
        assert time.monotonic() < deadline
