"""How the verbs end: by signals, by readers that go away, without a stdout, without a terminal."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from muxwire_client import verb
from tests.cli.user import SECONDS, Place
from tests.forked import start_muxwire


@pytest.fixture(scope="module")
def tab(place: Place) -> str:
    window = place.ok("new").strip()
    place.ok("wait", "-t", window, "--prompt")
    return window


def sh(place: Place, script: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script in which `muxwire` is a command."""
    return subprocess.run(
        ["bash", "-c", f'muxwire() {{ "{sys.executable}" -m muxwire "$@"; }}\n{script}'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
        cwd=place.home,
        env=place.environ,
    )


def handles(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize(
    ("traps", "second", "code"),
    [
        ("trap 'echo caught; exit 7' INT", None, 7),
        ("trap 'echo caught' INT; trap '' TERM HUP", signal.SIGINT, 137),
        ("trap 'echo caught' INT; trap '' TERM HUP", signal.SIGTERM, 137),
    ],
)
def test_the_first_interrupt_is_for_the_command_and_the_second_ends_it(
    place: Place, tab: str, traps: str, second: signal.Signals | None, code: int
) -> None:
    script = f"{traps}; echo ready; while :; do sleep 0.1; done"
    with place.start("run", "-t", tab, "bash", "-c", script) as running:
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(signal.SIGINT)
        while not (line := running.stdout.readline()).endswith(b"caught\n"):  # behind the terminal's ^C
            assert line
        if second is not None:
            running.send_signal(second)
        running.stdout.read()
    assert running.returncode == code
    assert place.ok("run", "-t", tab, "echo free") == "free\n"


def test_a_reader_that_goes_away_ends_the_command(place: Place, tab: str) -> None:
    done = sh(place, f"muxwire run -t {tab} yes | head -n 2; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == (b"y\ny\n141\n", b"")
    assert place.ok("run", "-t", tab, "echo free") == "free\n"
    done = sh(
        place, f"muxwire logs --from-byte 0 {tab} | :; muxwire --help | :; muxwire ls | :; echo ${{PIPESTATUS[0]}}"
    )
    assert (done.stderr, b"Traceback" in done.stdout) == (b"", False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said(place: Place, tab: str) -> None:
    verbs = (f"run -t {tab} 'echo x'", "ls", "ls --json")
    done = sh(place, "".join(f"muxwire {verb} >/dev/full; echo $?; " for verb in verbs))
    assert (done.stdout, done.stderr) == (b"126\n1\n1\n", b"muxwire: stdout: No space left on device\n" * 3)


@pytest.mark.parametrize("arguments", [["wait", "--until", "never"], ["logs", "-f"], ["watch"]])
def test_what_waits_ends_by_the_signal_itself(place: Place, tab: str, arguments: list[str]) -> None:
    which = ["-t", tab] if arguments[0] != "logs" else [tab]
    for number in (signal.SIGINT, signal.SIGTERM):
        with place.start(*arguments, *which) as waiting:
            while not handles(waiting.pid, signal.SIGTERM):  # at a C-c while it starts, Python shows where it was
                time.sleep(0.002)
            place.ok("run", "-t", tab, "true")
            waiting.send_signal(number)
            assert waiting.stderr.read() == b""
        assert waiting.returncode == -number
    assert place.ok("run", "-t", tab, "echo free") == "free\n"


@pytest.mark.parametrize(
    ("meanwhile", "code"), [(lambda: None, 3), (lambda: signal.raise_signal(signal.SIGTERM), -signal.SIGTERM)]
)
def test_an_owner_that_has_said_its_last_word_is_not_missed(place: Place, meanwhile: Any, code: int) -> None:
    """What is sent to it then, a piece of stdin or a signal, finds a closed connection."""

    def program(words: list[str]) -> int:
        here, there = socket.socketpair()
        there.sendall(b"i\0\0\0\x019" + b"x\0\0\0\x013")
        there.close()
        # A frame at a time: what it said last is still unread when stdin is awaited.
        sock: Any = SimpleNamespace(
            recv=lambda _: meanwhile() or here.recv(6), sendall=here.sendall, fileno=here.fileno
        )
        return verb(sock, words, int)

    with start_muxwire(["paste"], place.environ, program, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
        assert (started.stderr and started.stderr.read(), started.wait(SECONDS)) == (b"", code)
