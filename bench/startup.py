"""From spawn to the first answer, against a bare SDK server; from create_tab to a prompt, against the shell alone."""

from __future__ import annotations

import os
import pty
import signal
import statistics
import time
from pathlib import Path

from bench.contenders import BARE, HELLO, MUXWIRE, READ, McpServer, clean_environment, temporary_home
from bench.scenario import Report, Scale, Target

RUNS, RUNS_SHORT = 15, 1


def greet(home: Path, argv: tuple[str, ...]) -> float:
    """Milliseconds from spawn to the answer of `initialize`."""
    begun = time.perf_counter()
    server = McpServer(home, argv)
    server.request("initialize", HELLO)
    taken = time.perf_counter() - begun
    server.close()
    return taken * 1000


def first_tab(home: Path) -> float:
    """Milliseconds from the first create_tab, which starts tmux, until its first command can be typed and has run."""
    server = McpServer(home)
    server.request("initialize", HELLO)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    begun = time.perf_counter()
    server.call("create_tab", shell="bash")
    server.call("execute_command", window_id="@1", command="true")
    taken = time.perf_counter() - begun
    server.close()
    return taken * 1000


def first_result(home: Path) -> float:
    """Milliseconds from spawn to the result of the first command, which makes its tab."""
    begun = time.perf_counter()
    server = McpServer(home)
    server.request("initialize", HELLO)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    result = server.call("execute_command", command="true")
    taken = time.perf_counter() - begun
    server.close()
    assert not result.get("isError"), result
    return taken * 1000


def shell_alone(home: Path) -> float:
    """Milliseconds from starting bash on a pty until a line that waits there has run."""
    begun = time.perf_counter()
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "-i"], clean_environment(home))
    os.write(descriptor, b"echo '<'1'>'\r")
    seen = b""
    while b"<1>" not in seen:
        seen += os.read(descriptor, READ)
    taken = time.perf_counter() - begun
    os.kill(pid, signal.SIGKILL)
    os.close(descriptor)
    os.waitpid(pid, 0)
    return taken * 1000


async def run(scale: Scale) -> Report:
    """Medians, all in turn."""
    found: dict[str, list[float]] = {"bare": [], "ours": [], "shell": [], "tab": [], "result": []}
    with temporary_home() as name:
        home = Path(name)
        for _ in range(scale.of(RUNS, RUNS_SHORT)):
            found["bare"].append(greet(home, BARE))
            found["ours"].append(greet(home, MUXWIRE))
            found["shell"].append(shell_alone(home))
            found["tab"].append(first_tab(home))
            found["result"].append(first_result(home))
    bare, ours, shell, tab, result = (statistics.median(times) for times in found.values())
    return Report(
        "startup",
        "Start-up, medians",
        ("what", "ms", "compared with", "ms "),
        (
            ("spawn to `initialize` reply", ours, "a bare server of the same SDK", bare),
            ("spawn to the result of the first command", result, "a bare server, spawn to `initialize` reply", bare),
            ("first create_tab to the end of its first command", tab, "bash alone on a pty", shell),
        ),
        (
            Target(
                "spawn to the first command's result, over a bare SDK server's spawn to `initialize`", result / bare, 1
            ),
            Target("first create_tab to a ready prompt, beyond the shell's own start", tab - shell, 30, "ms"),
        ),
    )
