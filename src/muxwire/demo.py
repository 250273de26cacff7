"""Show the main job in a few seconds: a command and its exit code, a process and its log."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

import muxwire
from muxwire.errors import InstanceUnavailable

if TYPE_CHECKING:
    from muxwire import ExecutionResult, Tab

# Several lines, quotes and a failing end, in words that every shell understands.
COMMAND = """cd /
printf '%s\\n' 'two "quoted"' '  lines'
ls no-such-file"""
STATE = "pwd"
PROCESS = "sh -c 'n=0; while sleep 0.1; do n=$((n+1)); echo tick $n; done'"

# Ticks that are waited for before the log is read: some, and soon.
TICKS = 3
# One digit of a millisecond is shown; `pwd`, which no process runs, may take less.
LEAST_SHOWN_MS = 0.1


def main() -> int:
    anyio.run(demo)
    return 0


async def demo() -> None:
    """Show it all; where the home directory cannot be written, as in many containers, with the log elsewhere."""
    try:
        await show_all(None)
    except InstanceUnavailable as error:
        print(f"{error}.\nThe log goes to a temporary directory.\n")
        await show_all(Path(tempfile.mkdtemp(prefix="muxwire-demo-")))


async def show_all(state_dir: Path | None) -> None:
    async with muxwire.open_terminals(state_dir=state_dir) as terminals:
        tab = await terminals.create_tab(name="demo")
        print(f"A tmux server of muxwire, and in it the tab {tab.window_id} with your shell.\n")
        for command in (COMMAND, STATE):
            show(command, await tab.execute(command))
        await show_process(terminals, tab)
        print(f"Every byte that the terminal printed: {tab.log_path}")


def show(command: str, result: ExecutionResult) -> None:
    """Print one command as a person would have seen it, and what the library says of it."""
    print("$ " + command.replace("\n", "\n> "))
    print(result.output, end="")
    took = f"{result.duration_ms:.1f} ms" if result.duration_ms >= LEAST_SHOWN_MS else f"less than {LEAST_SHOWN_MS} ms"
    print(f"  -> exit code {result.exit_code}, in {result.cwd}, {took}\n")


async def show_process(terminals: muxwire.Terminals, tab: Tab) -> None:
    print(f"$ {PROCESS}")
    started = await tab.start_process(PROCESS, ready=f"tick {TICKS}")
    log = await terminals.read_logs(tab.window_id, strip_ansi=True)
    stopped = await tab.stop_process()
    print("\n".join([line for line in log.content.splitlines() if line.startswith("tick")][:TICKS]))
    print(f"  -> ready: {started.ready}; stopped by {stopped.signal_sent}, exit code {stopped.exit_code}\n")
