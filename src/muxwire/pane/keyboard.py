"""The one place where bytes enter a pane.

`set-buffer ; paste-buffer -r -d`, in one line: it goes to the pty whatever mode the pane is in, while `send-keys` into
a pane that a person scrolled can block the control connection for good (copy mode's `f` opens a prompt on our client).
From tmux 3.7 `paste-buffer` escapes control bytes unless `-S` is given, which older ones refuse. A dead pane crashes
tmux 3.3a here: the supervisor keeps every pane of ours alive until we kill it.
"""

from __future__ import annotations

import fcntl
import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING, final

import anyio

from muxwire.client.client import prepared, prepared_lists
from muxwire.errors import InvalidArgument
from muxwire.host.locks import locked
from muxwire.protocol.commands import joined
from muxwire.shell.keys import CTRL_C
from muxwire.shell.tab_state import not_begun

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

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
        InvalidArgument for a NUL, which tmux cannot carry.
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
        if b"\0" in data:
            raise InvalidArgument("a NUL byte cannot be typed through tmux", remedy="leave it out, or use printf '\\0'")
        pieces = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]
        if bracketed:
            # An empty buffer first would be refused: the first piece sets it, the others are appended.
            appended = [("set-buffer", "-a", "-b", self._buffer, "--", piece) for piece in pieces[1:]]
            first = ("set-buffer", "-b", self._buffer, "--", pieces[0])
            return prepared(first, *appended, self._paste_bracketed)
        return prepared_lists(*((("set-buffer", "-b", self._buffer, "--", piece), self._paste) for piece in pieces))

    async def type(self, data: bytes) -> None:
        """Type `data` and wait until tmux has taken it; InvalidArgument, CommandError or ConnectionClosed."""
        for answer in self.press(data):
            await answer.wait()


# Whose turn it is to type into a pane that several processes share: an OS lock in the tab's directory.
#
# A turn lasts until the shell has begun the command, since its wrapper lies in one file; what runs then, every process
# knows by the marks. A process whose turn follows another's first waits until its stream holds what that one has seen.

# Between two checks of a lock that another process has: it holds it for a few ms.
_LOOK_SECONDS = 0.002
# A shell begins a line within a few ms; one that does not is found out by the call that typed it.
_BEGIN_SECONDS = 1.0


def typed_from(pane: PaneState, turn: TypingLock | anyio.Semaphore | None = None) -> int:
    """Where a typed line begins that the shell has not begun to run yet; the end of the stream if there is none.

    One that another process types begins at the prompt, or later.
    """
    if pane.session.hidden_since >= 0:
        return pane.session.hidden_since
    if (typed := not_begun(pane.session)) is not None:
        return typed.typed_at
    if isinstance(turn, TypingLock) and pane.session.at_prompt and turn.taken_elsewhere():
        return pane.session.prompt_end
    return pane.stream.end


@final
class TypingLock:
    """The turn of one pane, among the calls of this process and of others; used as anyio.Lock is."""

    def __init__(
        self,
        folder: Path,
        pane: PaneState,
        client: ControlClient,
        spawn: Callable[[Callable[[], Awaitable[object]]], None],
    ) -> None:
        self._path = folder / "turn"
        self._pane = pane
        self._client = client
        self._spawn = spawn
        self._among_us = anyio.Semaphore(1)
        self._descriptor = -1  # of the file by which we hold the lock among processes

    def acquire_nowait(self) -> None:
        self._among_us.acquire_nowait()
        if not (self._lock() and self._was_ours()):
            self._among_us.release()
            self.close()  # `acquire` may be cancelled before it begins
            raise anyio.WouldBlock

    async def acquire(self) -> None:
        await self._among_us.acquire()
        try:
            while not self._lock():  # noqa: ASYNC110 - no event of this process reports another's lock
                await anyio.sleep(_LOOK_SECONDS)
            if not self._was_ours():
                # What the pane had written before comes before this answer.
                await self._client.command("display-message", "-p", "")
                if self._descriptor >= 0:  # else the tab has ended meanwhile
                    os.pwrite(self._descriptor, self._name(), 0)
        except BaseException:
            self._among_us.release()
            self.close()
            raise

    def release(self) -> None:
        """Pass the turn on: to calls of this process at once, to other processes when the command has begun."""
        self._among_us.release()
        if self._descriptor >= 0:
            self._spawn(self._let_go)

    async def _let_go(self) -> None:
        session = self._pane.session
        await self._pane.stream.until(lambda: session.closed or not_begun(session) is None, _BEGIN_SECONDS)
        if self._among_us.value:
            self.close()

    def _lock(self) -> bool:
        if self._descriptor < 0:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            except OSError:
                return True  # the tab is gone, or the disk is full: what comes next says so
            if not locked(descriptor):
                os.close(descriptor)
                return False
            self._descriptor = descriptor
        return True

    def taken_elsewhere(self) -> bool:
        """Whether another process has the turn: a line of its own may be on its way to the shell."""
        if self._descriptor >= 0:
            return False
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            # A process that asks for the turn while this lock is held tries again soon.
            return not locked(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def _was_ours(self) -> bool:
        return self._descriptor < 0 or os.pread(self._descriptor, len(self._name()), 0) == self._name()

    def _name(self) -> bytes:
        return b"%10d" % os.getpid()

    def close(self) -> None:
        """Give the lock among processes back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
