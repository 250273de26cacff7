"""Show the main job in a few seconds: a command and its exit code, a process and its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

import muxwire

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


def main() -> int:
    anyio.run(demo)
    return 0


async def demo() -> None:
    async with muxwire.open_terminals() as terminals:
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
    print(f"  -> exit code {result.exit_code}, in {result.cwd}, {result.duration_ms:.1f} ms\n")


async def show_process(terminals: muxwire.Terminals, tab: Tab) -> None:
    print(f"$ {PROCESS}")
    started = await tab.start_process(PROCESS, ready=f"tick {TICKS}")
    log = await terminals.read_logs(tab.window_id, strip_ansi=True)
    stopped = await tab.stop_process()
    print("\n".join([line for line in log.content.splitlines() if line.startswith("tick")][:TICKS]))
    print(f"  -> ready: {started.ready}; stopped by {stopped.signal_sent}, exit code {stopped.exit_code}\n")
