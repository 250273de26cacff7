"""The tabs of an instance as tmux lists them: for verbs that have no need to open it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, final

from muxwire.errors import TmuxUnavailable
from muxwire.tmux.status_line import ACTIVE_TAB
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

# A server in good health answers in milliseconds.
_ANSWER_SECONDS = 10
# No session's name holds a colon.
WINDOWS = f"#{{window_id}} #{{window_index}} #{{pane_id}} x#{{{ACTIVE_TAB}}} #{{session_name}}:#{{window_name}}"


@final
@dataclass(frozen=True, slots=True)
class ListedTab:
    """A tab as one session shows it; `used` if it is the one that was used last."""

    window: str
    index: str
    pane: str
    used: bool
    session: str
    name: str


def listed_tabs(tmux: Sequence[str]) -> list[ListedTab]:
    """Ask the server that `tmux` (its program, and which server) names; TmuxUnavailable."""
    command = (*tmux, "-u", "list-windows", "-a", "-F", WINDOWS)
    try:
        listed = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise TmuxUnavailable(
            f"tmux has not answered for {_ANSWER_SECONDS} s",
            remedy="it may be stopped: kill -CONT with the process id of its server continues it",
        ) from error
    if listed.returncode:
        raise TmuxUnavailable(f"tmux list-windows: {listed.stderr.strip()}", remedy="`tmux -V` says which one is found")
    return [tab for line in listed.stdout.splitlines() if (tab := tab_of(line)) is not None]


def tab_of(line: str) -> ListedTab | None:
    """The tab that a line of `WINDOWS` is about; None for the keeper."""
    from muxwire.tmux.start import KEEPER_NAME

    window, index, pane, used, rest = line.split(" ", 4)
    session, _, name = rest.partition(":")
    return ListedTab(window, index, pane, used[1:] == window, session, name) if name != KEEPER_NAME else None
