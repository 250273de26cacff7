"""The `tmux -C` process over plain pipes: the transport that muxwire uses on this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.liveness import Watchdog
from muxwire.client.pipes import ProcessPipes, not_started
from muxwire.errors import TmuxUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A variable of these would make tmux think that it runs inside itself, or tell programs in the panes about a
# terminal that they are not in.
_FOREIGN_VARIABLES = frozenset(
    (
        *("TMUX", "TMUX_PANE", "TMUX_TMPDIR", "STY", "WINDOW", "WINDOWID", "TERM", "TERMCAP", "TERMINFO", "COLORTERM"),
        *("COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "VTE_VERSION", "SHLVL", "_"),
        *("OLDPWD", "ITERM_SESSION_ID", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ZELLIJ", "PROMPT_COMMAND", "PS1"),
    )
)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a tmux server: what every pane inherits, without what the caller's terminal set."""
    return {name: value for name, value in environment.items() if name not in _FOREIGN_VARIABLES}


@final
class TmuxProcess(ProcessPipes):
    """A `tmux -C` child. It dies with us, whatever kills us, and with it what `ephemeral` names."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        socket: str,
        env: Mapping[str, str],
        ephemeral: bool,
        cwd: str | None = None,
        transient: Sequence[str] = (),
        lock: int | None = None,
        starts: bool = True,
    ) -> None:
        """Start `argv` (`tmux -u -S SOCKET -f CONF -C ...`); TmuxUnavailable if there is no such program.

        If `starts` says no, it is as if that had ended already: there is none before `restart`.
        The directories `transient` are removed at the end of an ephemeral instance. `lock`, the descriptor of a named
        instance's lock, is held until that process has ended.
        """
        super().__init__(env, cwd)
        ends = self._make_pipes()
        self._is_outlived = lock is not None or not ephemeral
        try:
            self.watchdog = Watchdog(
                tmux=argv[0],
                socket=socket,
                kind="ephemeral" if ephemeral else "named",
                kept=(lock,) if lock is not None else (),
            )
        except OSError as error:
            for descriptor in (*ends, *self._descriptors):
                os.close(descriptor)
            raise not_started("the watchdog", error) from error
        for folder in transient:
            self.watchdog.watch_folder(folder)
        try:
            self._start(argv if starts else (), ends)
        except TmuxUnavailable:
            self.watchdog.abandon()
            raise

    def _start(self, argv: Sequence[str], ends: tuple[int, int, int]) -> None:
        super()._start(argv, ends)
        if self._process is not None:
            self.watchdog.watch_client(self._process.pid, self._writer)

    async def restart(self, argv: Sequence[str]) -> None:
        """Start another `tmux -C` in place of one that has ended; the server and its watchdog continue.

        TmuxUnavailable if it cannot be started: the transport is closed then.
        """
        await self._end_child()
        try:
            self._start(argv, self._make_pipes())
        except TmuxUnavailable:
            self._closed = True
            await self.watchdog.aclose()
            raise

    async def aclose(self) -> None:
        """Kill `tmux -C` if it still runs; then, for an ephemeral instance, end the server and its panes."""
        if self._closed:
            return
        self._read_complaint()
        self._closed = True
        with anyio.CancelScope(shield=True):
            if self._is_outlived:
                self._end_waits()
                # The server knows the client's end before that one's input ends (B14).
                await self.watchdog.aclose()
            await self._end_child()
        with anyio.CancelScope(shield=True):
            await self.watchdog.aclose()

    async def _end_child(self) -> None:
        await super()._end_child()
        if self._process is not None:
            self.watchdog.release_client()
