"""The one place where bytes enter a pane.

`set-buffer ; paste-buffer -r -d`, in one line: it goes to the pty whatever mode the pane is in, while `send-keys` into
a pane that a person scrolled can block the control connection for good (copy mode's `f` opens a prompt on our client).
From tmux 3.7 `paste-buffer` escapes control bytes unless `-S` is given, which older ones refuse. A dead pane crashes
tmux 3.3a here: the supervisor keeps every pane of ours alive until we kill it.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, final

from muxwire.client.client import prepared, prepared_lists
from muxwire.protocol.commands import joined
from muxwire.shell.keys import CTRL_C
from muxwire.shell.tab_state import not_begun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.client import ControlClient, Pending
    from muxwire.pane.state import PaneState
    from muxwire.protocol.commands import Command


# One control line is parsed on tmux's only thread: 16 KiB keeps every pane's latency below a millisecond.
CHUNK = 16 << 10

# The line that runs a command's body is the same every time: to quote it anew would take 7 % of `true`.
_SHORT = 256
_KEPT = 16

# The first tmux whose paste-buffer escapes what it pastes.
_ESCAPING_VERSION = (3, 7)


@final
class Keyboard:
    def __init__(
        self, pane: PaneState, client: ControlClient, version: tuple[int, int], *, may_be_dead: bool = False
    ) -> None:
        """`may_be_dead`: no supervisor of ours keeps the pane alive, so tmux has to look before it pastes."""
        self._pane = pane
        self._client = client
        pane_id = pane.pane_id
        self._buffer = f"muxwire{pane_id}"
        flags = ("-r", "-d", "-S") if version >= _ESCAPING_VERSION else ("-r", "-d")
        paste = ("paste-buffer", *flags, "-b", self._buffer, "-t", pane_id)
        bracketed = ("paste-buffer", "-p", *paste[1:])
        # A target that is gone would be taken for the current pane.
        alive = f"#{{&&:#{{==:#{{pane_id}},{pane_id}}},#{{==:#{{pane_dead}},0}}}}"
        look, unused = ("if-shell", "-F", "-t", pane_id, alive), f"delete-buffer -b {self._buffer}"
        self._paste = (*look, " ".join(paste), unused) if may_be_dead else paste
        self._paste_bracketed = (*look, " ".join(bracketed), unused) if may_be_dead else bracketed
        self._kept_commands = lru_cache(_KEPT)(self._commands)

    def press(self, data: bytes, *, bracketed: bool = False, before: Sequence[Command] = ()) -> list[Pending]:
        """Type `data` now; the answers may be awaited, or left: they hold only tmux's complaints.

        `before` are lines of commands that write what the typed line will read: should the last of them fail, nothing
        is typed.
        With `bracketed` it is one paste, marked as such by tmux if the program asked for that (DECSET 2004).
        No NUL is among them, which tmux cannot carry.
        """
        now = time.monotonic()
        if self._pane.pressed_at <= self._pane.session.prompt_time:
            self._pane.first_pressed_at = now
        self._pane.pressed_at = now
        if data.endswith(CTRL_C):
            self._pane.interrupted_at = self._pane.pressed_at
        commands = (self._kept_commands if len(data) <= _SHORT else self._commands)(data, bracketed=bracketed)
        if before:
            commands = (*before[:-1], joined((before[-1], commands[0])), *commands[1:])
        return self._client.submit_prepared(commands)

    def _commands(self, data: bytes, *, bracketed: bool) -> tuple[Command, ...]:
        pieces = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]
        if bracketed:
            # An empty buffer first would be refused: the first piece sets it, the others are appended.
            appended = [("set-buffer", "-a", "-b", self._buffer, "--", piece) for piece in pieces[1:]]
            first = ("set-buffer", "-b", self._buffer, "--", pieces[0])
            return prepared(first, *appended, self._paste_bracketed)
        return prepared_lists(*((("set-buffer", "-b", self._buffer, "--", piece), self._paste) for piece in pieces))

    async def type(self, data: bytes) -> None:
        """Type `data` and wait until tmux has taken it; CommandError or ConnectionClosed."""
        for answer in self.press(data):
            await answer.wait()


def typed_from(pane: PaneState) -> int:
    """Where a typed line begins that the shell has not begun to run yet; the end of the stream if there is none."""
    if pane.session.hidden_since >= 0:
        return pane.session.hidden_since
    typed = not_begun(pane.session)
    return pane.stream.end if typed is None else typed.typed_at
