"""What an instance remembers: its open tabs, its closed ones, the commands that may still be asked about."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, final

from muxwire.errors import NoSuchTarget

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import TaskGroup

    from muxwire.terminals.execution import Execution
    from muxwire.terminals.tab import Tab

# How many commands are remembered for command_result: an agent asks about the last few.
REMEMBERED_COMMANDS = 1000
# How many closed tabs list_tabs still shows; their logs stay readable by window id beyond that.
REMEMBERED_TABS = 200


@final
class TabBook:
    """The tabs and commands of one instance, and the tasks that outlive a call.

    `open` is keyed by window id. A new tmux server counts its windows from the start again, so a closed tab is keyed
    by `GENERATION/@N`; `generation` is the newest server's, and `latest` the window id of the tab last used.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self.open: dict[str, Tab] = {}
        self.closed: dict[str, Tab] = {}
        self.latest = ""
        self.generation = 0
        self._tasks = tasks
        self._commands: dict[str, tuple[Tab, Execution]] = {}

    def add(self, tab: Tab) -> None:
        """A tab was made."""
        self.open[tab.window_id] = tab
        self.latest = tab.window_id
        self.generation = tab.generation

    def address(self, tab: Tab) -> str:
        """What a caller calls this tab: its window id, behind the number of its server if that is not the newest."""
        return tab.window_id if tab.generation == self.generation else tab.address

    def find_closed(self, target: str) -> Tab | None:
        """The closed tab of that address, or the newest of that window id, pane id or name."""
        if target in self.closed:
            return self.closed[target]
        named = (tab for tab in reversed(self.closed.values()) if target in (tab.window_id, tab.pane_id, tab.name))
        return next(named, None)

    def retire(self, tab: Tab, reason: str) -> None:
        """A tab is gone; what ran in it ends with `reason`, if none was given before."""
        tab.end_reason = tab.end_reason or reason
        tab.pane.close(tab.end_reason)
        if self.open.get(tab.window_id) is not tab:
            return
        del self.open[tab.window_id]
        tab.pane.stream.close()
        shutil.rmtree(tab.runner.folder, ignore_errors=True)
        while len(self.closed) >= REMEMBERED_TABS:
            del self.closed[next(iter(self.closed))]
        self.closed[tab.address] = tab

    def retire_all(self, reason: str) -> None:
        """The server is gone, and every tab with it."""
        for tab in list(self.open.values()):
            self.retire(tab, reason)

    def remember(self, tab: Tab, execution: Execution) -> None:
        """A command was typed; it can be asked about by its id."""
        while len(self._commands) >= REMEMBERED_COMMANDS:
            del self._commands[next(iter(self._commands))]
        self._commands[execution.command_id] = (tab, execution)

    def command(self, command_id: str) -> tuple[Tab, Execution]:
        """The tab and the command of that id; NoSuchTarget."""
        found = self._commands.get(command_id)
        if found is None:
            raise NoSuchTarget(
                f"no command has the id {command_id!r}", remedy="use the command_id of an execute_command result"
            )
        return found

    def spawn(self, work: Callable[[], Awaitable[object]]) -> None:
        """Run `work` in a task of the instance's own, so that it outlives the call that asked for it."""

        async def run() -> None:
            await work()

        self._tasks.start_soon(run)
