"""A list of operations in one call, against one tmux process per step on the same server."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.contenders import clean_environment, temporary_home
from bench.measure import Timing, in_turn
from bench.scenario import Report, Scale, Target
from muxwire import open_terminals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire import Terminals
    from muxwire.verbs.types import OnError

RUNS, RUNS_SHORT = 100, 2
STEPS, MANY = 20, 50
# What the design asks for: 20 steps at 10 times the speed of a process each.
TIMES_FASTER = 10

Step = dict[str, Any]


def plain_steps(pane: str, count: int) -> tuple[list[Step], list[list[str]]]:
    """Steps that need nothing of each other, as operations and as tmux commands."""
    kinds: list[tuple[Step, list[str]]] = [
        ({"kind": "set_option", "option": "@bench", "value": "x y", "global": True},
         ["set-option", "-g", "@bench", "x y"]),
        ({"kind": "show_option", "option": "@bench", "global": True}, ["show-options", "-gqv", "@bench"]),
        ({"kind": "display_message", "target": pane, "format": "#{pane_id} #{window_layout}"},
         ["display-message", "-p", "-t", pane, "#{pane_id} #{window_layout}"]),
        ({"kind": "select_layout", "target": pane, "layout": "tiled"}, ["select-layout", "-t", pane, "tiled"]),
        ({"kind": "select_pane", "target": pane}, ["select-pane", "-t", pane]),
    ]  # fmt: skip
    chosen = [kinds[index % len(kinds)] for index in range(count)]
    return [step for step, _ in chosen], [command for _, command in chosen]


def typing_steps(panes: Sequence[str]) -> tuple[list[Step], list[list[str]]]:
    """As many steps that type a line into one pane each, and look at another."""
    steps: list[Step] = []
    commands: list[list[str]] = []
    for pane in panes:
        steps += [{"kind": "send_keys", "target": pane, "keys": ": x"},
                  {"kind": "display_message", "target": pane, "format": "#{cursor_y}"}]  # fmt: skip
        commands += [["send-keys", "-t", pane, ": x", "Enter"], ["display-message", "-p", "-t", pane, "#{cursor_y}"]]
    return steps, commands


def one_call(terminals: Terminals, steps: list[Step], *, on_error: OnError = "stop") -> Callable[[], Awaitable[None]]:
    """The list in one call."""

    async def once() -> None:
        result = await terminals.run_operations(steps, on_error=on_error)
        assert result.succeeded, result.steps

    return once


def process_each(socket: Path, commands: list[list[str]]) -> Callable[[], Awaitable[None]]:
    """A tmux process for every step, one after the other."""

    async def once() -> None:
        for command in commands:
            subprocess.run(["tmux", "-u", "-S", str(socket), *command], check=True, capture_output=True)

    return once


async def run(scale: Scale) -> Report:
    """Twenty steps of each sort, both ways, in turn."""
    with temporary_home() as name:
        home = Path(name)
        async with open_terminals(environ=clean_environment(home), state_dir=home / "state") as terminals:
            tab = await terminals.create_tab(command=["cat"])
            grid = await terminals.run_operations([{"kind": "make_grid", "target": tab.pane_id, "rows": 5, "cols": 2}])
            panes = [tab.pane_id, *grid.steps[0].created_pane_ids]
            socket = terminals.folders.socket_path
            plain, plain_commands = plain_steps(tab.pane_id, STEPS)
            many, _ = plain_steps(tab.pane_id, MANY)
            typed, typed_commands = typing_steps(panes)
            found = await in_turn(
                {
                    f"{STEPS} steps, one call": one_call(terminals, plain),
                    f"{STEPS} steps, one call, on_error continue": one_call(terminals, plain, on_error="continue"),
                    f"{STEPS} steps, a tmux process each": process_each(socket, plain_commands),
                    "1 step, one call": one_call(terminals, plain[:1]),
                    f"{MANY} steps, one call": one_call(terminals, many),
                    f"{STEPS} steps, half of them typing, one call": one_call(terminals, typed),
                    f"{STEPS} steps, half of them typing, a tmux process each": process_each(socket, typed_commands),
                },
                scale.of(RUNS, RUNS_SHORT),
                # tmux tells its control client of each process that comes and goes, and what the panes echo: 3 ms of
                # whoever reads next after a process for each step.
                between=one_call(terminals, plain[2:3]),
            )
    return _report(found)


def _report(found: dict[str, Timing]) -> Report:
    one, going, each, single, many, typed, typed_each = found.values()
    return Report(
        "operations",
        "Several tmux operations in one call",
        ("what", "p50 ms", "p99 ms"),
        tuple((timing.name, timing.p50, timing.p99) for timing in found.values()),
        (
            Target("20 steps in one call, times as fast as a process each", each.p50 / one.p50, TIMES_FASTER,
                   at_least=True),
            Target("the same with on_error continue", each.p50 / going.p50, TIMES_FASTER, at_least=True),
        ),
        (
            f"{MANY} independent steps take {many.p50 / single.p50:.1f} times as long as one",
            (f"where ten of the steps type, and each of those first asks tmux for the pane's modes: "
            f"{typed_each.p50 / typed.p50:.1f} times as fast as a tmux process for each step"),
        ),
    )  # fmt: skip
