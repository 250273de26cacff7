"""A terminal for harnesses that evaluate and train agents: the methods of `TmuxSession` in Harbor (Terminal-Bench).

Harbor starts a program or more in the container for each call: `tmux send-keys`, `tmux wait`, `tmux capture-pane`; it
finds what is new by searching the last capture in the next. Here the methods mean the same, over one connection: a
command that is waited for ends by its marks, and what is new is counted in bytes. Harbor itself is not needed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import TabUnavailable
from muxwire.shell.keys import KeyModes, key_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab
    from muxwire.verbs.types import Way

# The keys that end a line, by the names that Harbor's agents use.
_ENTER = frozenset(("Enter", "C-m", "KPEnter", "C-j", "^M", "^J"))
# The size of Harbor's terminal: so much of a screen its prompts show to agents.
COLUMNS, ROWS = 160, 40
# A login shell's start-up files may take long; one that never prompts may be typed into all the same.
_PROMPT_SECONDS = 30.0
# The screen stands still if nothing was drawn for so long; after a command its prompt is drawn within this time.
_STILL_SECONDS = 0.01
# What an agent is shown of new output is a hundredth of this; the log has the rest.
_NEW_BYTES = 1 << 20
_NEW, _SCREEN = "New Terminal Output:\n", "Current Terminal Screen:\n"


class HarnessSession:
    """One terminal on a machine that `hosts.toml` allows, or on this one."""

    _tab: Tab | None = None

    def __init__(
        self,
        terminals: Terminals,
        host: str | Way = "",
        *,
        early: bool = False,
        pane_width: int = COLUMNS,
        pane_height: int = ROWS,
        history: int | None = None,
        shell: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`host` is a machine as `create_tab` takes it: `docker:NAME`, `k8s:NAMESPACE/POD`, `user@box`, a `Carrier`.

        With `early` a call without `block` ends before `min_timeout_sec`, which models guess: as soon as what the keys
        began has ended, or waits for input, and the screen stands still. `history` is how many rows of scrollback
        tmux keeps for `capture_pane(capture_entire=True)`, in all tabs that the instance opens from then on.
        """
        self._history = history
        self._terminals, self._early = terminals, early
        self._host, self._shell, self._env = host, shell, env
        self._size = pane_width, pane_height
        self._line_open = False  # what was typed last has not ended its line
        self._seen: int | None = None  # the offset after the output that was asked for last

    async def start(self) -> None:
        """Open the terminal with a login shell, and wait for its prompt. As `Terminals.create_tab`."""
        if self._history is not None:
            await self._terminals.set_history_limit(self._history)
        self._tab = await self._terminals.create_tab(
            host=self._host, size=self._size, shell=self._shell, env=self._env or {}, login=True
        )
        await self._terminals.wait_for([self._tab.key], prompt=True, timeout=_PROMPT_SECONDS)

    async def stop(self) -> None:
        """End the terminal and all that runs in it."""
        if self._tab is not None and not self._tab.pane.session.closed:
            await self._tab.close(force=True)

    async def is_session_alive(self) -> bool:
        """Whether its shell runs."""
        return self._tab is not None and not self._tab.pane.session.dead

    @property
    def tab(self) -> Tab:
        """The tab, for all that Harbor's methods do not have: exit codes, events, exact output. TabUnavailable."""
        if self._tab is None:
            raise TabUnavailable("the session was not started", state="dead", remedy="await start() first")
        return self._tab

    async def send_keys(
        self,
        keys: str | Sequence[str],
        block: bool = False,
        min_timeout_sec: float = 0.0,
        max_timeout_sec: float = 180.0,
    ) -> None:
        """Type keys; with `block`, if they end a line, return when what they began has ended, or waits for input.

        Lines that come together are one command of the shell (one paste, if not with `block`): no program reads those
        after its own as its input. Without `block` return after `min_timeout_sec`. TimeoutError after
        `max_timeout_sec`: the command continues. InvalidArgument, TabUnavailable (dead), ConnectionClosed.
        """
        keys = [key for key in ([keys] if isinstance(keys, str) else keys) if key]
        began = time.monotonic()
        if not keys:
            await (self._still(min_timeout_sec) if self._early else anyio.sleep(min_timeout_sec))
            return
        ends_line = keys[-1] in _ENTER or keys[-1].endswith(("\r", "\n"))
        if block and ends_line:
            if not await self._done(keys, max_timeout_sec):
                raise TimeoutError(f"the command did not end within {max_timeout_sec} s; it continues")
            return
        self._line_open = not ends_line
        lines = _lines(keys) if ends_line else ""
        wait = min_timeout_sec if self._early else 0.0
        sent = await self.tab.send_keys([lines, "Enter"] if lines else keys, wait=wait)
        left = began + min_timeout_sec - time.monotonic()
        if sent.outcome in ("ended", "met", "closed"):
            stream, end = self.tab.pane.stream, -1
            with anyio.move_on_after(left):
                while end != stream.end:
                    end = stream.end
                    await stream.changed_within(_STILL_SECONDS)
        else:
            await anyio.sleep(max(0.0, left))

    async def _still(self, seconds: float) -> None:
        """Where no key is typed: wait until what runs has ended or waits for input; else for all of that time."""
        with anyio.move_on_after(seconds):
            if self.tab.state not in ("running", "busy"):
                await anyio.sleep(seconds)
            await self._terminals.wait_for([self.tab.key], prompt=True, timeout=seconds)

    async def _done(self, keys: Sequence[str], seconds: float) -> bool:
        """Whether what the keys begin ended in time, or waits for input."""
        if not self.tab.pane.listens:  # on another machine what was asked last may be too old
            await self.tab.pane.terminal.refresh_soon()
        at_prompt, self._line_open = not self._line_open and self.tab.state == "prompt", False
        lines = _lines(keys)
        if at_prompt and lines.strip():
            result = await self.tab.execute(lines, timeout=seconds, on_timeout="leave")
            return not result.timed_out
        return (await self.tab.send_keys([lines, "Enter"] if lines else keys, wait=seconds)).outcome != "timed_out"

    async def capture_pane(self, capture_entire: bool = False) -> str:
        """The screen, and with `capture_entire` all that has scrolled out of it."""
        screen = await self.tab.snapshot(scrollback=0 if capture_entire else None)
        return "\n".join((*(screen.scrollback or ()), *screen.lines)) + "\n"

    async def get_incremental_output(self) -> str:
        """What was written since the last call, without escapes; the screen at the first call, or if nothing was."""
        end = self.tab.next_byte
        new = await self._written(self._seen, end) if self._seen is not None else ""
        if self._seen is None:
            self._seen = end
        return _NEW + new if new.strip() else _SCREEN + await self.capture_pane()

    async def _written(self, at: int, end: int) -> str:
        left_out = max(0, end - at - _NEW_BYTES)
        text = f"[{left_out} bytes are left out here, and in the log {self.tab.log_path}]\n" if left_out else ""
        at += left_out
        while at < end:
            piece = await self._terminals.stream_logs(self.tab.key, from_byte=at, max_bytes=end - at, strip_ansi=True)
            if piece.next_byte <= at:  # half a character, or half an escape sequence
                break
            text, at = text + piece.chunk, piece.next_byte
        self._seen = at
        return text


def _lines(keys: Sequence[str]) -> str:
    """The lines that the keys type; "" if other keys are among them than texts and Enter."""
    text = "".join("\n" if key in _ENTER else key for key in keys)
    named = any(key_bytes(key, KeyModes()) is not None for key in keys if key not in _ENTER)
    return "" if named else text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
