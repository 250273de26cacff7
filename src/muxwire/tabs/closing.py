"""The end of a pane: every process of its session goes, then the window, and the log is complete."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import NotPermitted, TabUnavailable
from muxwire.shell.listener import may_be_read
from muxwire.shell.port import LOOK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muxwire.pane.runner import Runner
    from muxwire.pane.state import PaneState
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

# What a shell and its jobs get to write their history and end after SIGHUP; they take a few ms.
HANGUP_GRACE = 0.5


async def check_idle(pane: PaneState, runner: Runner, key: str) -> None:
    """TabUnavailable if something runs in the tab that is called `key`."""
    if pane.session.dead:
        return
    if pane.session.running is None:
        await runner.settled()  # a command has ended before its shell is back at the prompt
    await pane.terminal.refresh()
    state = pane.tab_state()
    if pane.session.running is not None or state not in ("prompt", "starting", "incomplete"):
        remedy = "stop it first, or close it with `close_tab.force`"
        raise TabUnavailable(f"something still runs in {key}", state=state, remedy=remedy)


def of_a_person(tabs: Iterable[Tab]) -> list[Tab]:
    """Those in which something runs that is a person's, or may be: they are asked before a client ends it."""
    return [
        tab for tab in tabs if tab.not_ours and not tab.is_adopted and tab.state not in ("prompt", "starting", "dead")
    ]


def not_agreed(tabs: Sequence[Tab]) -> NotPermitted:
    """The error if such tabs are to end, and the person cannot be asked, or was not."""
    return NotPermitted(
        f"{'; '.join(tab.not_ours for tab in tabs)}; and something runs there",
        remedy="end a command of yours with `stop_process`; otherwise ask the person, who sees it with: "
        f"{tabs[0].attach_words}",
    )


async def reading_strangers(pane: PaneState) -> dict[int, str]:
    """The processes of other sessions that read the terminal: the pid of each, and when it was started."""
    await pane.terminal.look(wide=True)
    return {one.pid: pane.host.started(one.pid) for one in pane.terminal.seen().strangers()}


async def end_strangers(pane: PaneState, seen: Mapping[int, str]) -> bool:
    """End what reads the terminal from another session: pinentry, which gpg-agent started for a program here.

    pinentry does not get the signals of the program that asked for it, and without its terminal it spins. `seen`: the
    readers before the program was stopped, since a reader may do something else just after that. False if there was
    no reader.
    """
    readers = {**seen, **await reading_strangers(pane)}

    def left() -> list[int]:
        return [pid for pid, started in readers.items() if started and pane.host.started(pid) == started]

    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in left():
            pane.host.signal_process(pid, number)
        with anyio.move_on_after(HANGUP_GRACE):
            while left():  # such a process would get what is typed next
                await pane.stream.changed_within(LOOK_SECONDS)
            break
    return bool(readers)


async def end_pane(pane: PaneState, server: TmuxServer, pane_id: str) -> bool:
    """Hang up on the pane's session, kill what stays, and kill the pane once its last bytes are here.

    `kill-pane` alone would leave `command &` running, and drop what tmux has not sent yet. With its last pane the
    window goes too. False if a person's session would end with it: nothing was done.
    """
    if await server.ends_session(pane_id):
        return False
    if pane.host.is_local and (pane.session.running is not None or may_be_read(pane.session)):
        await end_strangers(pane, {})
    pane.session.hang_up()
    if not pane.session.dead:
        await pane.host.signal_session(pane.leader_pid, pane.began, signal.SIGHUP, signal.SIGCONT, spare_leader=True)
        await pane.stream.until(lambda: pane.session.dead, HANGUP_GRACE)
    await pane.host.signal_session(pane.leader_pid, pane.began, signal.SIGKILL, spare_leader=True)
    await server.kill_pane(pane_id)
    await _end_session(pane, server)
    return True


async def end_rest(pane: PaneState, server: TmuxServer) -> None:
    """A pane's window was closed, but not by muxwire: the processes left of it get a moment to end, then SIGKILL.

    The kernel has hung up on the foreground alone, so its shell would run the rest of the line meanwhile.
    """
    await pane.host.signal_session(pane.leader_pid, pane.began, signal.SIGHUP, signal.SIGCONT, spare_leader=True)
    await anyio.sleep(HANGUP_GRACE)
    await _end_session(pane, server)


async def _end_session(pane: PaneState, server: TmuxServer) -> None:
    await pane.host.signal_session(pane.leader_pid, pane.began, signal.SIGKILL, spare_leader=False)
    server.release_session(pane.leader_pid)
