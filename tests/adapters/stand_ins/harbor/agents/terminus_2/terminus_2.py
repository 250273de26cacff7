"""harbor 0.26: what the adapter uses of it, with its types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harbor.agents.terminus_2.tmux_session import TmuxSession


class Options(Protocol):
    record_terminal_session: bool
    tmux_pane_width: int
    tmux_pane_height: int


class Terminus2:
    options: Options
    _session: TmuxSession | None
    _extra_env: dict[str, str]

    @staticmethod
    def name() -> str:
        return "terminus-2"
