"""From spawn to the first answer, against a bare SDK server; from create_tab to a prompt, against the shell alone."""

from __future__ import annotations

import statistics
import subprocess
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import anyio

from bench.contenders import bare_pty
from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from bench.server import BARE, MUXWIRE, McpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

RUNS, RUNS_SHORT = 15, 1
NAME = "bench"
NAMED = (*MUXWIRE, "--name", NAME)
# What the design promises, in ms: of a server with a name whose instance runs already; of a tab beyond its shell.
HANDSHAKE_MS, RESULT_MS, PROMPT_MS = 30, 50, 30


def spawned(home: Path, argv: Sequence[str] = MUXWIRE, *, works: bool = False) -> float:
    """Milliseconds from spawn to the handshake, or, with `works`, to the result of the first command, in a new tab."""
    begun = time.perf_counter()
    with closing(McpServer(home, argv)) as server:
        result = server.call("execute_command", command="true") if works else {}
        taken = time.perf_counter() - begun
    assert not result.get("isError"), result
    return taken * 1000


def first_tab(home: Path) -> float:
    """Milliseconds from the first create_tab, which starts tmux, until its first command has run."""
    with closing(McpServer(home)) as server:
        begun = time.perf_counter()
        server.call("create_tab", shell="bash")
        server.call("execute_command", window_id="@1", command="true")
        return (time.perf_counter() - begun) * 1000


async def shell_alone(home: Path) -> float:
    """Milliseconds from starting bash on a pty until a line that waits there has run."""
    begun = time.perf_counter()
    async with bare_pty(home, "true", 1) as once:
        await once()
        return (time.perf_counter() - begun) * 1000


@contextmanager
def named_instance(home: Path) -> Iterator[None]:
    """Have an instance with a name, which all servers of that name use."""
    muxwire, environ = MUXWIRE[:-1], clean_environment(home)
    subprocess.run([*muxwire, "new", "--name", NAME], check=True, capture_output=True, env=environ)
    try:
        yield
    finally:
        subprocess.run([*muxwire, "kill", "--all", "--name", NAME], check=True, capture_output=True, env=environ)


async def run(scale: Scale) -> Report:
    """Medians, all in turn."""
    with temporary_home() as home:
        ways: dict[str, Callable[[], float]] = {
            "a bare server of the same SDK: spawn to handshake": lambda: spawned(home, BARE),
            "`serve`: spawn to handshake": lambda: spawned(home),
            "`serve`: spawn to the result of the first command": lambda: spawned(home, works=True),
            "`serve --name`, which runs already: spawn to handshake": lambda: spawned(home, NAMED),
            "`serve --name`, which runs already: spawn to the first result": lambda: spawned(home, NAMED, works=True),
            "first create_tab to the end of its first command": lambda: first_tab(home),
        }
        times: dict[str, list[float]] = {title: [] for title in (*ways, "bash alone on a pty, to its first line")}
        with named_instance(home):
            for _ in range(scale.of(RUNS, RUNS_SHORT)):
                for title, way in ways.items():
                    times[title].append(await anyio.to_thread.run_sync(way))
                times["bash alone on a pty, to its first line"].append(await shell_alone(home))
    found = {title: statistics.median(some) for title, some in times.items()}
    _, _, result, handshake, named_result, tab, shell = found.values()
    bare = next(iter(found.values()))
    return Report(
        "startup",
        "Start-up, medians",
        ("what", "ms"),
        tuple(found.items()),
        (
            Target("`serve`, spawn to the first result, over a bare SDK server's handshake", result / bare, 1.3),
            Target("`serve --name`, spawn to handshake", handshake, HANDSHAKE_MS, "ms"),
            Target("`serve --name`, spawn to the first result", named_result, RESULT_MS, "ms"),
            Target("first create_tab to a ready prompt, beyond the shell's own start", tab - shell, PROMPT_MS, "ms"),
        ),
    )
