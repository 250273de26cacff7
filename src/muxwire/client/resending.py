"""Which commands are written again when a connection that was lost is back: those that tmux has not run.

Each line that changes something ends in a command that keeps its number in a server option. tmux runs a line as a
whole, and drops what a client that is gone has not had run: so the option says of each line whether it was run.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, final

from muxwire.client.pending import Pending
from muxwire.errors import ConnectionClosed
from muxwire.protocol.commands import Command, command
from muxwire.protocol.events import CommandBlock

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Collection, Iterable, Sequence

    from muxwire.client.patience import Patience

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
# What these print, nobody can ask for later.
_PRINTING = frozenset(("new-window", "split-window", "new-session", "break-pane", "show-buffer"))


@final
class Resending:
    """The lines of one connection, numbered."""

    def __init__(self, instead: Callable[[Command], Command | None]) -> None:
        """`instead` gives the command that answers as one did that was run, and whose answer was lost."""
        self.unsent: set[Pending] = set()  # what was asked for since the connection was lost
        self._instead = instead
        # Until tmux has run a line of ours, the option has the number of an earlier process.
        self._process, self._count = secrets.token_hex(4).encode(), 0
        self._number = _NUMBER % self._process
        self._asked: Pending | None = None

    def numbered(self, commands: Sequence[Command]) -> list[Command]:
        """These commands, to be sent in this order, and in no other."""
        return [self._numbered(one) for one in commands]

    def _numbered(self, one: Command) -> Command:
        # The branches of the `if-shell`s that we send only look, too.
        if one.name == "if-shell" or _only_looks({one.name, *one.more}):
            return one
        self._count += 1
        line = b"%b%b%d" % (one.line, self._number, self._count)
        return Command(one.name, line, (*one.silent, False), one.raw, one.more)

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
        self.unsent.clear()
        process, _, number = (*answer, b"")[0].partition(b".")
        run, left = int(number) if process == self._process else 0, []
        for one in waiting:
            found = _NUMBERED.search(one.command.line)
            if found is None or int(found[1]) > run:
                left.append(one)
            elif (instead := self._instead(one.command)) is not None:
                one.command = instead
                left.append(one)
            elif one.command.name in _PRINTING:
                reason = f"{one.command.name} was done, and what it said was lost with the connection"
                one.fail(ConnectionClosed(reason))
            else:
                one.answer(CommandBlock(0, 0, 0, (), error=False, command=one.command, index=0, last=True))
        for one in left:
            one.blocks.clear()
        return left


def _only_looks(names: set[str]) -> bool:
    return names <= (_REPEATABLE | _OF_CAPTURES if "capture-pane" in names else _REPEATABLE)
