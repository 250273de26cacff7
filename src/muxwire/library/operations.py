"""Running a list of operations on one machine. Imported late: few programs use it, and it takes long to import."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from muxwire.operations.lists import check_list, programs_and_folders
from muxwire.operations.run import OperationsRun

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.host.host import Host
    from muxwire.library.lifetime import ServerLifetime
    from muxwire.operations import Operation, OperationsResult
    from muxwire.tabs.seat import Seat
    from muxwire.tabs.tab import Tab
    from muxwire.verbs.catalogue import RunTmuxOperations


async def run_here(
    operations: Sequence[Operation],
    asked: RunTmuxOperations,
    life: ServerLifetime,
    host: Host,
    seat: Seat,
    tab: Callable[[str], Awaitable[Tab]],
) -> OperationsResult:
    """Check the list and run it; `tab` finds the tab that a step names. As `Terminals.run_operations`.

    `host` is the machine as `seat` sees it.
    """
    if not host.is_local:
        await life.server()
        programs, folders = programs_and_folders(operations)
        await host.look_up(folders, programs)
    await check_list(operations, host, adopted=life.access.role == "adopted")
    await life.look(asked.timeout or inf)
    server = None if asked.dry_run else await life.server()
    return await OperationsRun(operations, asked, life.book, seat, host, tab, server).run()
