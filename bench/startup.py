"""From spawn to the first answer, against a bare SDK server; from create_tab to a prompt, against the shell alone."""

from __future__ import annotations

import statistics
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from bench.floors import BarePty
from bench.homes import clean_environment, temporary_home
from bench.peers.ways import SECONDS
from bench.report import Report, Scale, Target
from bench.server import BARE, MUXWIRE, McpServer
from bench.stopwatch import timed
from bench.verbs import NAME, named_instance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

RUNS, RUNS_SHORT = 15, 1
NAMED = (*MUXWIRE, *NAME)
# What the design promises, in ms: of a server with a name whose instance runs already; of a tab beyond its shell.
HANDSHAKE_MS, RESULT_MS, PROMPT_MS = 30, 50, 30


def spawned(took: list[float], home: Path, argv: Sequence[str] = MUXWIRE, *, works: bool = False) -> None:
    """From spawn to the handshake, or, with `works`, to the result of the first command, in a new tab."""
    with ExitStack() as ends, timed(took):
        server = ends.enter_context(closing(McpServer(home, argv)))
        result = server.call("execute_command", command="true") if works else {}
        assert not result.get("isError"), result


def first_tab(took: list[float], home: Path) -> None:
    """From the first create_tab, which starts tmux, until its first command has run."""
    with closing(McpServer(home)) as server, timed(took):
        server.call("create_tab", shell="bash")
        server.call("execute_command", window_id="@1", command="true")


async def shell_alone(took: list[float], home: Path) -> None:
    """From starting bash on a pty until a line that waits there has run."""
    with timed(took):
        shell = BarePty(home)
        await shell.run("true", SECONDS)
    await shell.close()


async def run(scale: Scale) -> Report:
    """Medians, all in turn."""
    with temporary_home() as home:
        ways: dict[str, Callable[[list[float]], None]] = {
            "a bare server of the same SDK: spawn to handshake": lambda took: spawned(took, home, BARE),
            "`serve`: spawn to handshake": lambda took: spawned(took, home),
            "`serve`: spawn to the result of the first command": lambda took: spawned(took, home, works=True),
            "`serve --name`, which runs already: spawn to handshake": lambda took: spawned(took, home, NAMED),
            "`serve --name`, which runs already: spawn to the first result":
                lambda took: spawned(took, home, NAMED, works=True),
            "first create_tab to the end of its first command": lambda took: first_tab(took, home),
        }  # fmt: skip
        times: dict[str, list[float]] = {title: [] for title in (*ways, "bash alone on a pty, to its first line")}
        with named_instance(clean_environment(home)):
            for _ in range(scale.of(RUNS, RUNS_SHORT)):
                for title, way in ways.items():
                    way(times[title])
                await shell_alone(times["bash alone on a pty, to its first line"], home)
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
