"""Show the main job in a few seconds: a command and its exit code, a process and its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import muxwire

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire import ExecutionResult, Tab

# Several lines, quotes and a failing end, in words that every shell understands.
COMMAND = """cd /
printf '%s\\n' 'two "quoted"' '  lines'
ls no-such-file"""
PROCESS = "sh -c 'n=0; while sleep 0.1; do n=$((n+1)); echo tick $n; done'"

# Ticks that are waited for before the log is read: some, and soon.
TICKS = 3


async def demo(say: Callable[[str], None]) -> None:
    """Do it, and say what is done: `say` takes lines."""
    async with muxwire.open_terminals() as terminals:
        tab = await terminals.create_tab(name="demo")
        say(f"A tmux server of muxwire, and in it the tab {tab.window_id} with your shell.\n")
        for command in (COMMAND, "pwd"):
            say(shown(command, await tab.execute(command)))
        say(await shown_process(terminals, tab))
        say(f"Every byte that the terminal printed: {tab.log_path}")


def shown(command: str, result: ExecutionResult) -> str:
    """One command as a person would have seen it, and what the library says of it."""
    typed = command.replace("\n", "\n> ")
    return (
        f"$ {typed}\n{result.output}  -> exit code {result.exit_code}, in {result.cwd}, {result.duration_ms:.1f} ms\n"
    )


async def shown_process(terminals: muxwire.Terminals, tab: Tab) -> str:
    started = await tab.start_process(PROCESS, ready=f"tick {TICKS}")
    log = await terminals.read_logs(tab.window_id, strip_ansi=True)
    stopped = await tab.stop_process()
    return "\n".join(
        (
            f"$ {PROCESS}",
            *[line for line in log.content.splitlines() if line.startswith("tick")][:TICKS],
            f"  -> ready: {started.ready}; stopped by {stopped.signal_sent}, exit code {stopped.exit_code}\n",
        )
    )
