"""Which block answers which command. tmux numbers a command when it runs it, so order is all there is.

1. Every line sent is expected to be answered by a known number of blocks, in the order of sending.
2. Only a block with flag 1 answers a line of ours. Start-up and hooks give blocks with flag 0, at any moment
   between two of ours; the manual page calls the flag unused, `cmd-queue.c` sets it from CMDQ_STATE_CONTROL.
3. After %error tmux drops the rest of the line: no more blocks of it are expected.
4. A parse error is one %error block for the whole line, which rule 3 covers.
5. A block closes only on %end or %error with the time, number and flags of its %begin. Every other line in it
   is output, also one that looks like a guard.
6. A block with flag 1 that nobody is waiting for means that the count is lost. Answers would then reach the
   wrong callers, so the connection is given up.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from muxwire.protocol.commands import Command

# `CMDQ_STATE_CONTROL`: the command came from this client's stdin.
OWN_COMMAND = 1


@final
class Correlation:
    """The lines that were sent and are not yet answered."""

    __slots__ = ("_answered", "_expected")

    def __init__(self) -> None:
        self._expected: deque[Command] = deque()
        self._answered = 0  # blocks that the first expected line already has

    def __len__(self) -> int:
        return len(self._expected)

    def sent(self, command: Command) -> None:
        """Expect the blocks of `command` after all others."""
        self._expected.append(command)

    def next_block(self) -> tuple[Command, int] | None:
        """Return the line that the next block with flag 1 answers, and which of its blocks that is."""
        if not self._expected:
            return None
        return self._expected[0], self._answered

    def answered(self, *, error: bool) -> bool:
        """Count one block; return whether its line is now answered whole."""
        self._answered += 1
        if not error and self._answered < len(self._expected[0].silent):
            return False
        self._expected.popleft()
        self._answered = 0
        return True
