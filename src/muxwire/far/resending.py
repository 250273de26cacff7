"""Sends again, once a connection that was lost is back, what tmux had not run: for machines over a network.

Each line that changes something ends in a command that stores the line's number in a server option. tmux runs a line
as a whole, and drops the lines of a lost client that it has not run: so the option says of each line whether it ran.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, final

from muxwire.client.client import ControlClient, Patience, Pending
from muxwire.errors import ConnectionClosed
from muxwire.protocol.commands import Command, command
from muxwire.protocol.events import CommandBlock

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

    from muxwire.client.transport import Transport
    from muxwire.protocol.events import Event

ASK = command("display-message", "-p", "#{@muxwire-seq}")
_NUMBER = b" ; set-option -s @muxwire-seq %b."
_NUMBERED = re.compile(rb" ; set-option -s @muxwire-seq [0-9a-f]{8}\.([0-9]{1,18})\Z")
# These only look, or do again what they did.
_REPEATABLE = frozenset(
    ("display-message", "show-options", "list-panes", "list-windows", "list-sessions", "list-clients", "capture-pane",
     "refresh-client")
)  # fmt: skip
# These too, in a line that has set the buffer itself by `capture-pane`.
_OF_CAPTURES = frozenset(("show-buffer", "delete-buffer"))
# What these print cannot be asked for later.
_PRINTING = frozenset(("new-window", "split-window", "new-session", "break-pane", "show-buffer"))
# Without a number, as in `if-shell`, this goes again only if it was never sent: at a second time its pane is alone.
_ONCE = b"break-pane"


@final
class Resending:
    """The lines of one connection, numbered."""

    def __init__(self, instead: Callable[[Command], Command | None]) -> None:
        """`instead` gets a command that ran, but whose answer was lost. It returns one with that answer, or None."""
        self.unsent: set[Pending] = set()  # what was asked for since the connection was lost
        self._instead = instead
        # Until tmux has run a line of this client, the option has the number of an earlier process.
        self._process, self._count = os.urandom(4).hex().encode(), 0
        self._number = _NUMBER % self._process
        self._asked: Pending | None = None

    def numbered(self, commands: Sequence[Command]) -> list[Command]:
        """These commands, to be sent in this order, and in no other."""
        return [self._numbered(one) for one in commands]

    def _numbered(self, one: Command) -> Command:
        # Lines that begin with `if-shell` are not numbered. After a lost connection it is not known whether tmux has
        # run one, so it is sent again. A second run does no harm, except for `_ONCE`.
        if one.name == "if-shell" or _only_looks({one.name, *one.more}):
            return one
        self._count += 1
        return replace(one, line=b"%b%b%d" % (one.line, self._number, self._count), blocks=one.blocks + 1)

    def withdraw(self, lines: Collection[Pending], pending: deque[Pending]) -> bool:
        """Take lines out of those that wait to be sent; False if some of them were sent."""
        if not lines or not self.unsent.issuperset(lines):
            return False
        for one in lines:
            pending.remove(one)
        return True

    def ask(self, pending: deque[Pending], patience: Patience, go_on: Callable[[Sequence[Pending]], None]) -> Pending:
        """The question what tmux has run, before all that is `pending`; `go_on` gets what is to be sent after it."""
        if self._asked is not None and not self._asked.done:
            pending.remove(self._asked)  # on a connection that was lost again
        asked = self._asked = Pending(ASK, patience)

        def answered() -> None:
            if not asked.failed:
                _, *waiting = pending
                pending.clear()
                pending.append(asked)
                pending.extend(left := self.left(waiting, asked.result()))
                go_on(left)

        asked.then(answered)
        pending.appendleft(asked)
        return asked

    def left(self, waiting: Iterable[Pending], answer: Sequence[bytes]) -> list[Pending]:
        """Those that are to be sent again; the others have their answers then. `answer` is that to `ASK`."""
        unsent, self.unsent = self.unsent, set()
        process, _, number = (*answer, b"")[0].partition(b".")
        run, left = int(number) if process == self._process else 0, []
        for one in waiting:
            found = _NUMBERED.search(one.command.line)
            if found is None and one not in unsent and _ONCE in one.command.line:
                one.fail(ConnectionClosed("the connection was lost before tmux said whether it moved the pane"))
            elif found is None or int(found[1]) > run:
                left.append(one)
            elif (instead := self._instead(one.command)) is not None:
                one.command = instead
                left.append(one)
            elif one.command.name in _PRINTING:
                reason = f"{one.command.name} was done, but its answer was lost with the connection"
                one.fail(ConnectionClosed(reason))
            else:
                one.answer(CommandBlock(0, 0, 0, (), error=False, command=one.command, index=0, last=True))
        for one in left:
            one.blocks.clear()
        return left


def _only_looks(names: set[str]) -> bool:
    return names <= (_REPEATABLE | _OF_CAPTURES if "capture-pane" in names else _REPEATABLE)


@final
class ResendingClient(ControlClient):
    """A connection whose commands wait while it is lost, and go again where tmux had not run them."""

    def __init__(
        self,
        transport: Transport,
        instead: Callable[[Command], Command | None],
        *,
        on_notification: Callable[[Event], None],
        reconnect: Callable[[str], Awaitable[str]],
        on_reconnected: Callable[[], None],
    ) -> None:
        """As `ControlClient`; `instead` as for `Resending`."""
        super().__init__(
            transport,
            on_notification=on_notification,
            reconnect=reconnect,
            on_reconnected=on_reconnected,
            attaches=True,
        )
        self.resending = Resending(instead)

    def submit_prepared(self, commands: Sequence[Command]) -> list[Pending]:
        numbered = self.resending.numbered(commands)
        if self.closed or self._closing or not self._reconnecting:
            return super().submit_prepared(numbered)
        pending = [Pending(one, self.patience) for one in numbered]
        self._pending.extend(pending)
        self.resending.unsent.update(pending)
        return pending

    def never_sent(self, lines: Sequence[Pending]) -> bool:
        return bool(lines) and self.resending.unsent.issuperset(lines)

    def withdraw(self, lines: Sequence[Pending]) -> bool:
        return self.resending.withdraw(lines, self._pending)

    def _lost(self) -> None:
        """Nothing is given up: what was sent may have been run."""

    def _regained(self) -> None:
        """Ask tmux what it has run; after its answer, write again what it has not run, and what has waited since."""

        def go_on(left: Sequence[Pending]) -> None:
            self._reconnecting = ""
            self._send_commands([one.command for one in left])

        asked = self.resending.ask(self._pending, self.patience, go_on)
        self._send_commands([asked.command])
