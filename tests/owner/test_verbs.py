"""Verbs of the command line through the owner: what the client reads and writes for them, signals, and its weight."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.owner.conftest import NAME, PROGRAM, User
from tests.processes import line_of

SECONDS = 50


def run(user: User, *words: str, given: bytes = b"", **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run a verb on the instance `NAME` to its end."""
    process = user.start(words[0], "--name", NAME, *words[1:], **options)
    out, err = process.communicate(given, timeout=SECONDS)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def ok(user: User, *words: str, given: bytes = b"") -> str:
    done = run(user, *words, given=given)
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout.decode()


@pytest.fixture
def tab(user: User) -> str:
    """A tab, and an owner that has it."""
    made = ok(user, "new").strip()
    assert user.owner
    return made


def test_stdin_is_read_on_request_only(user: User, tab: str) -> None:
    assert ok(user, "run", "-t", tab, "-", given=b"echo from\necho stdin\n") == "from\nstdin\n"
    assert ok(user, "paste", "-t", tab, given=b"echo pasted") == ""
    reading, writing = os.pipe()
    os.write(writing, b"left\n")
    os.close(writing)
    assert run(user, "run", "-t", tab, "C-u", stdin=reading).returncode  # it reads nothing
    assert os.read(reading, 100) == b"left\n"
    os.close(reading)


def test_the_first_client_after_kill_all_gives_the_instance_what_it_has(user: User, tab: str) -> None:
    """What no other client can give to an owner that runs; to compare environments would not show it."""
    ok(user, "kill", "--all")
    assert run(user, "run", "umask", umask=0o31).stdout == b"0031\n"


def test_an_owner_whose_socket_was_removed_gives_the_instance_to_the_next_one(user: User, tab: str) -> None:
    """As at the end of the user's last login."""
    ok(user, "run", "-t", tab, "x=kept")
    owner = user.owner
    shutil.rmtree(user.runtime)
    assert tab in ok(user, "ls")
    assert (ok(user, "run", "-t", tab, "echo $x"), user.owner in {0, owner}) == ("kept\n", False)


async def test_a_person_who_detaches_the_owner_ends_a_call_and_nothing_else(user: User, tab: str) -> None:
    process = user.start("run", "--name", NAME, "-t", tab, "echo begun; sleep 60")
    assert await line_of(process) == b"begun\n"
    user.tmux("detach-client", "-s", "hub")
    assert (b"to tmux was lost" in process.communicate(timeout=SECONDS)[1], tab in ok(user, "ls")) == (True, True)


@pytest.mark.parametrize("words", [["new"], ["new", "--cwd", "/"]])
def test_in_a_directory_that_was_removed_only_a_tab_in_another_one_is_opened(user: User, words: list[str]) -> None:
    gone = tempfile.mkdtemp(dir=user.home)
    done = run(user, *words, cwd=gone, preexec_fn=partial(os.rmdir, gone))
    assert (b"was removed" in done.stderr, done.stdout) == (("--cwd" not in words), b"@1\n" * ("--cwd" in words))


def test_output_of_any_size_comes_whole_and_the_exit_code_with_it(user: User, tab: str) -> None:
    done = run(user, "run", "-t", tab, "seq 300000; (exit 7)")
    assert (done.returncode, done.stdout) == (7, b"".join(b"%d\n" % number for number in range(1, 300_001)))


async def test_an_owner_that_is_killed_is_told_and_the_next_verb_goes_on(user: User, tab: str) -> None:
    process = user.start(
        "run", "--name", NAME, "-t", tab, "echo begun; until [ -e gate ]; do sleep 0.05; done; (exit 5)"
    )
    assert await line_of(process) == b"begun\n"
    os.kill(user.owner, signal.SIGKILL)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 126
    assert b"call again" in err
    (user.home / "gate").touch()
    ok(user, "wait", "-t", tab, "--prompt")
    assert "(exit 5)" in ok(user, "history", "-t", tab)


async def test_no_verb_fails_while_a_newer_version_takes_over(user: User, tab: str) -> None:
    ok(user, "run", "-t", tab, "kept=yes")
    failed = list[subprocess.CompletedProcess[bytes]]()
    begun = anyio.Event()

    async def verbs() -> None:
        for number in range(10):
            done = await anyio.to_thread.run_sync(run, user, "run", "-t", tab, f"echo {number}")
            if (done.returncode, done.stdout) != (0, f"{number}\n".encode()):
                failed.append(done)
            begun.set()

    before = user.owner
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(verbs)
        await begun.wait()
        answer = b"+"
        for _ in range(2000):
            with user.connect() as newer:
                newer.sendall(user.hello(version="99.0"))
                answer = await anyio.to_thread.run_sync(newer.recv, 1)
            if not answer:
                break
    assert (failed, answer) == ([], b"")  # the newer one was answered nothing: it is to start an owner itself
    assert user.owner != before
    assert ok(user, "run", "-t", tab, "echo $kept") == "yes\n"


@pytest.mark.parametrize("words", [["ls"], ["run", "-t", "@1", "--", "printf", "%s", "--help"]])
def test_the_client_imports_nothing_that_costs(user: User, tab: str, words: list[str]) -> None:
    """`import re` takes longer than a verb may."""
    words[1:1] = ["--name", NAME]
    code = (
        "import sys; before = set(sys.modules)\n"
        "import muxwire_client as client\n"
        f"code = client.run({words})\n"
        "print(code, *sorted(set(sys.modules) - before), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=user.environ, capture_output=True, text=True, check=True)
    assert done.stderr.split() == ["0", "__future__", "_socket", "muxwire_client", "muxwire_reach"]


def test_the_program_is_the_client() -> None:
    installed = Path(PROGRAM[0]).with_name("muxwire")
    assert "muxwire_client" in installed.read_text()
