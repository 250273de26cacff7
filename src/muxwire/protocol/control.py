"""ControlProtocol: the control-mode connection without its I/O.

    protocol = ControlProtocol()
    wire.write(protocol.send_command(command("list-windows")))
    protocol.receive_data(wire.read())
    for event in protocol.events_received(): ...

Input may be cut anywhere. It is never the reason for an exception: a line that cannot be read is an event, and
what breaks the rules of correlation ends the connection, with the reason in `failure`.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, final

from muxwire.errors import LocalProtocolError, RemoteProtocolError
from muxwire.protocol.commands import ASKS_SENTINEL, FENCE, Command
from muxwire.protocol.escaping import unescape, without_cut_escape
from muxwire.protocol.events import (
    CommandBlock,
    ConnectionLost,
    Exit,
    Output,
    StrayLine,
)
from muxwire.protocol.lines import MAX_LINE_BYTES, LineBuffer
from muxwire.protocol.notifications import pane_id, read_notification

if TYPE_CHECKING:
    from muxwire.ids import PaneId
    from muxwire.protocol.events import Event

_BEGIN = re.compile(rb"%begin ([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,9})\Z")
_OUTPUT = b"%output "
# `CMDQ_STATE_CONTROL` in a block's flags: the command came from this client's stdin.
OWN_COMMAND = 1

# What the protocol asks for itself; no caller gets the answer.
_ITS_OWN = Command("", b"")
# The start of no line, since lines hold no newline.
_NO_PREFIX = b"\n"


@final
class Correlation:
    """Which block answers which command. tmux numbers a command when it runs it, so order is all there is.

    1. Every line sent is expected to be answered by a known number of blocks, in the order of sending.
    2. Only a block with flag 1 answers a line of this client. Start-up and hooks give blocks with flag 0, at any moment
       between two of those; the manual page calls the flag unused, `cmd-queue.c` sets it from CMDQ_STATE_CONTROL.
    3. After %error tmux drops the rest of the line: no more blocks of it are expected.
    4. A parse error is one %error block for the whole line, which rule 3 covers.
    5. A block closes only on %end or %error with the time, number and flags of its %begin. Every other line in it
       is output, also one that looks like a guard. Where the output is a pane's or a buffer's, a line of it may have
       the same: such a block closes on the last of them before its fence, a text that is printed after it. The fence
       of a typed line is its sentinel: what a block of it shows can still look like the end of an earlier one.
    6. A command with a sentinel has any number of blocks, errors too; the one that holds just the sentinel is the last.
    7. A block with flag 1 that answers no line means that the count is lost. Answers would then reach the
       wrong callers, so the connection is given up.
    """

    __slots__ = ("blocks_had", "expected")

    def __init__(self) -> None:
        self.expected: deque[Command] = deque()
        self.blocks_had = 0  # blocks that the first expected line already has

    def __len__(self) -> int:
        return len(self.expected)

    def sent(self, command: Command) -> None:
        self.expected.append(command)

    def answered(self, lines: list[bytes], *, error: bool) -> bool:
        """Count one block; return whether its line is now answered whole."""
        self.blocks_had += 1
        expected = self.expected[0]
        if expected.sentinel:
            if error or lines != [expected.sentinel]:
                return False
        elif not error and self.blocks_had < expected.blocks:
            return False
        self.expected.popleft()
        self.blocks_had = 0
        return True


@final
class OpenBlock:
    """A block between its guards."""

    __slots__ = ("begin", "command", "fence", "guard", "index", "lines")

    def __init__(self, begin: re.Match[bytes], command: Command | None, index: int, fence: bytes) -> None:
        """`fence` is printed after a block that shows a pane."""
        self.begin = begin
        self.guard = begin[0].removeprefix(b"%begin")
        self.command = command
        self.index = index
        self.lines: list[bytes] = []
        self.fence = (command.sentinel or fence) if command is not None and index in command.raw else b""

    def end_in(self, lines: list[bytes], begin: int) -> int:
        """The index, from `begin` on, of the guard that closes the block; `len(lines)` if it has not come yet."""
        try:
            end = lines.index(b"%end" + self.guard, begin)
        except ValueError:
            end = len(lines)
        error = b"%error" + self.guard
        return min(end, lines.index(error, begin)) if error in lines[begin:end] else end

    def cut(self, more: list[bytes]) -> list[bytes]:
        """Take more lines, and cut off what came after the block, from its guard on; nothing before its fence has come.

        Each line is looked at once: a large screen comes in many pieces.
        """
        self.lines += more
        if self.fence not in more:
            return []
        guards = (b"%end" + self.guard, b"%error" + self.guard)
        before = enumerate(self.lines[: self.lines.index(self.fence)])
        end = max((n for n, line in before if line in guards), default=0)
        self.lines, rest = self.lines[:end], self.lines[end:]
        return rest


@final
class ControlProtocol:
    """Bytes of tmux to events, commands to bytes."""

    __slots__ = ("_block", "_correlation", "_ended", "_events", "_exited", "_fence", "_lines", "_panes", "failure")

    def __init__(self, *, max_line_bytes: int = MAX_LINE_BYTES, fence: bytes = FENCE) -> None:
        """`fence`: a word that no program in a pane knows."""
        self.failure: RemoteProtocolError | None = None
        self._fence = fence
        self._lines = LineBuffer(max_line_bytes)
        self._events: list[Event] = []
        self._correlation = Correlation()
        self._block: OpenBlock | None = None
        self._panes: dict[bytes, PaneId] = {}
        self._exited = False
        self._ended = False

    @property
    def quiet(self) -> bool:
        """Whether no answer is due and no block is open: a reader that begins here can count the answers."""
        return self._block is None and not self._correlation

    def send_command(self, command: Command) -> bytes:
        """Expect the answer to `command` and return its bytes, which must now be written in this order."""
        if self._stopped():
            raise LocalProtocolError("the connection has ended")
        self._correlation.sent(command)
        if not command.fenced:
            return command.line + b"\n"
        # Where an error ends the line, tmux prints no fence in it: one more has a line of its own.
        self._correlation.sent(_ITS_OWN)
        return b"%b\n%b%b\n" % (command.line.replace(FENCE, self._fence), ASKS_SENTINEL, self._fence)

    def events_received(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def receive_data(self, data: bytes) -> None:
        """Take bytes from tmux. After a failure they are ignored."""
        if self._stopped():
            return
        if data.startswith(_OUTPUT) and self._block is None and self._received_output(data):
            return
        self._receive_lines(self._lines.feed(data))
        if self._lines.open_line and self._lines.too_long:
            self._fail(f"tmux sent a line of more than {self._lines.max_line_bytes} bytes")

    def _receive_lines(self, lines: list[bytes]) -> None:
        # Nearly all lines of a busy connection are %output, of one pane or of many in turn. The payloads of each pane
        # are joined up to the next other line, so that unescaping and everything after the parser runs once per read
        # and pane instead of once per line. Of the order between panes tmux promises nothing.
        prefix, start, payloads = _NO_PREFIX, 0, list[bytes]()
        gathered: dict[PaneId, list[bytes]] = {}
        taken = 0
        for number, line in enumerate(lines):
            if number < taken:
                continue
            if line.startswith(prefix):
                payloads.append(line[start:])
                continue
            block = self._block
            # A block that begins with its fence is the one that prints it: a typed line's last.
            if block is not None and block.fence and (block.lines or [line])[0] != block.fence:
                if rest := block.cut(lines[number:]):
                    self._close_block(block, error=rest[0].startswith(b"%error"))
                    self._receive_lines(rest[1:])
                return
            if block is not None:
                end = block.end_in(lines, number)
                block.lines += lines[number:end]
                if end < len(lines):
                    self._close_block(block, error=lines[end].startswith(b"%error"))
                taken = end + 1
                continue
            if line.startswith(_OUTPUT):
                pane, start = self._output_line(line)
                if pane is not None:
                    prefix, payloads = line[:start], gathered.setdefault(pane, [])
                    payloads.append(line[start:])
                    continue
            if gathered:
                self._tell_output(gathered)
                prefix, gathered = _NO_PREFIX, {}
            self._receive_line(line)
            if self.failure is not None:
                return
        if gathered:
            self._tell_output(gathered)

    def _received_output(self, data: bytes) -> bool:
        """Take whole %output lines of one pane, as most reads are, without splitting them."""
        if self._lines.open_line:
            return False
        start = data.find(b" ", len(_OUTPUT)) + 1
        pane, prefix = self._panes.get(data[len(_OUTPUT) : start - 1]), b"\n" + data[:start]
        if pane is None or not data.endswith(b"\n") or data.count(prefix) != data.count(b"\n") - 1:
            return False
        self._events.append(Output(pane, unescape(data[start:-1].replace(prefix, b""))))
        return True

    def receive_eof(self) -> None:
        """Take the end of the stream; further calls do nothing."""
        if self._ended:
            return
        if self.failure is None:
            self._receive_cut_line(self._lines.close())
        self._ended = True
        if not self._exited:
            self._events.append(ConnectionLost())

    def _stopped(self) -> bool:
        return self._ended or self.failure is not None

    def _tell_output(self, gathered: dict[PaneId, list[bytes]]) -> None:
        for pane, payloads in gathered.items():
            self._events.append(Output(pane, unescape(b"".join(payloads))))

    def _output_line(self, line: bytes) -> tuple[PaneId | None, int]:
        """Return the pane of an %output line and where its payload starts; (None, 0) for any other line."""
        if self._block is not None or not line.startswith(_OUTPUT):
            return None, 0
        space = line.find(b" ", len(_OUTPUT))
        if space < 0:
            return None, 0
        field = line[len(_OUTPUT) : space]
        pane = self._panes.get(field)
        if pane is None:
            try:
                pane = self._panes[field] = pane_id(field)
            except ValueError:
                return None, 0
        return pane, space + 1

    def _receive_line(self, line: bytes) -> None:
        """Take a line that is neither output of a pane nor in a block."""
        if begin := _BEGIN.match(line):
            self._open_block(begin)
            return
        event = None
        if not line.startswith((b"%begin ", b"%end ", b"%error ")):  # else text of a hook that looks like a guard
            event = read_notification(line)
            self._exited |= isinstance(event, Exit)
        self._events.append(event or StrayLine(line))

    def _open_block(self, begin: re.Match[bytes]) -> None:
        if not int(begin[3]) & OWN_COMMAND:
            self._block = OpenBlock(begin, None, 0, b"")
            return
        if not self._correlation.expected:
            self._fail(f"tmux answered a command that was not sent ({begin[0].decode()})")
            return
        # The line that the next block with flag 1 answers, and which of its blocks that is.
        self._block = OpenBlock(begin, self._correlation.expected[0], self._correlation.blocks_had, self._fence)

    def _close_block(self, block: OpenBlock, *, error: bool) -> None:
        self._block = None
        last = True if block.command is None else self._correlation.answered(block.lines, error=error)
        if block.command is _ITS_OWN:
            return
        time, number, flags = map(int, block.begin.groups())
        lines = tuple(block.lines)
        self._events.append(CommandBlock(time, number, flags, lines, error, block.command, block.index, last))

    def _receive_cut_line(self, line: bytes) -> None:
        """Take the line that the end of the stream has cut: it may hold bytes of a pane, or be a whole %exit."""
        pane, start = self._output_line(line)
        if pane is not None:
            self._events.append(Output(pane, unescape(without_cut_escape(line[start:]))))
        elif line and self._block is None:
            self._receive_line(line)

    def _fail(self, reason: str) -> None:
        self.failure = RemoteProtocolError(reason, remedy="reconnect; the server and its panes are not affected")
