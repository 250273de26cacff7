"""The one tab of an agent: opened with its first command, and once more when it has ended."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import muxwire.sync

if TYPE_CHECKING:
    from collections.abc import Mapping

# A pager would wait for keys.
NO_PAGER = {"PAGER": "cat", "GIT_PAGER": "cat"}


class OneTab:
    """What an adapter has whose agent works in one tab."""

    def __init__(
        self,
        terminals: muxwire.sync.Terminals | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        **wanted: Any,  # noqa: ANN401 - as `create_tab` has them
    ) -> None:
        """`terminals` is an instance that others use too; without it there is one for this agent alone.

        That one has `environ` for its environment. `wanted` is what `create_tab` takes.
        """
        self._ours = terminals is None
        self._terminals = terminals or muxwire.sync.open_terminals(environ=environ)
        self._wanted = wanted
        self._tab: muxwire.sync.Tab | None = None
        self._opening = threading.Lock()  # tools of one agent may be called from several threads

    def _opened(self) -> muxwire.sync.Tab:
        with self._opening:
            if self._tab is None or self._tab.state == "dead":
                self._tab = self._terminals.create_tab(**self._wanted)
            return self._tab

    def _end_tab(self) -> None:
        if self._tab is not None and self._tab.state != "dead":
            self._tab.close(force=True)
        self._tab = None

    def close(self) -> None:
        """End the instance if it is for this agent alone, else the tab. The end of the program does so too."""
        if self._ours:
            self._terminals.close()
        else:
            self._end_tab()
