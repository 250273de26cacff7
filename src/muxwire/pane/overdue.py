"""What becomes of a command whose time is over, and what is said of it if tmux is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muxwire.client.patience import Patience
    from muxwire.pane.runner import Runner
    from muxwire.shell.execution import Execution


async def interrupt(runner: Runner, execution: Execution, patience: Patience) -> None:
    """Interrupt it, and wait until the prompt is back; its note says so if tmux reported neither."""
    unanswered = patience.oldest
    await runner.interrupt(execution)
    await runner.settled()
    lost = not runner.pane.reachable or (unanswered is not None and patience.oldest is unanswered)
    if execution.running and lost:
        silent = patience.explain()
        execution.note = f"{silent}: {silent.remedy}; command_result reports what became of it"
