"""Questions to the helper on another machine (`scripts/helper.sh`), and its answers."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Protocol, final

import anyio

from muxwire.errors import ConnectionClosed
from muxwire.protocol.commands import command_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.protocol.commands import Command

# The helper answers in a few ms and a round trip. It may wait for a terminal that hangs; nobody waits for it longer.
_ANSWER_SECONDS = 5.0
# What is kept of an answer's line that has not ended: a longer one is none of our helper's.
_LINE_BYTES = 64 << 10
# And of all its lines: the longest are a quarter of a MiB of output, as hexadecimal digits.
_ANSWER_BYTES = 2 << 20
_DIGITS = 9  # of a question's number
# The number of a process's first question is below this. No process asks as many as are left.
_FIRST_MAX = 9 * 10 ** (_DIGITS - 1)


class Line(Protocol):
    """The control connection, as far as a host needs it."""

    def submit_prepared(self, commands: Sequence[Command]) -> object:
        """Write lines of several tmux commands each; nobody waits for the answers. ConnectionClosed."""


@final
class Question:
    """A question that has not been answered yet."""

    def __init__(self, begins: Callable[[], None] = lambda: None) -> None:
        self.begins = begins  # called before the first row is taken
        self.rows: list[list[str]] = []
        self.encoded: list[str] = []  # lines that are no rows
        self.size = 0
        self.answered = self.cut = False  # `cut`: the connection was lost before there was an answer
        self.done = anyio.Event()


@final
class Helper:
    """The sh in the keeper's pane: a line that is pasted there is a question, what the pane writes is the answer."""

    def __init__(self) -> None:
        self._line: Line | None = None
        self._pane = ""
        self._unread = b""
        # An answer to a process that was killed may come to the next one, which asks other things.
        self._number = secrets.randbelow(_FIRST_MAX)
        self._asked: dict[int, Question] = {}
        self._answering: Question | None = None  # whose encoded lines come now

    def connect(self, line: Line, pane: str) -> None:
        """There is a connection: what is asked goes there. Questions to an earlier one are asked again."""
        self._line, self._pane, self._unread, self._answering = line, pane, b"", None
        for question in self._asked.values():
            question.cut = True
            question.done.set()

    def feed(self, data: bytes) -> None:
        """Take what the helper's pane wrote; what is no answer of the helper is ignored."""
        *lines, rest = (self._unread + data).split(b"\n")
        self._unread = rest[-_LINE_BYTES:]
        for line in lines:
            number, *fields = line.decode("utf-8", "surrogateescape").split("\t")
            question = self._asked.get(int(number)) if len(number) <= _DIGITS and number.isdecimal() else None
            if (asked := question or self._answering) is not None:
                asked.size += len(line)
                if asked.size > _ANSWER_BYTES:
                    continue
            if not fields and self._answering is not None:
                self._answering.encoded.append(line.decode("ascii", "replace"))
            elif question is None or not fields:
                continue
            elif fields[0] == ".":
                self._answering = None
                question.answered = True
                question.done.set()
            else:
                if not question.rows:
                    question.begins()
                self._answering = question
                question.rows.append(fields)

    async def ask(self, verb: str, *words: str, begins: Callable[[], None] = lambda: None) -> list[list[str]] | None:
        """The rows of an answer; None if there is none in time. `begins` is called when the first one has come."""
        found = await self.answer(verb, *words, begins=begins)
        return found.rows if found is not None else None

    async def answer(
        self, verb: str, *words: str, again: bool = True, begins: Callable[[], None] = lambda: None
    ) -> Question | None:
        """Ask, and `again` where the connection was lost meanwhile: these questions change nothing."""
        cut = True
        while cut:
            question = Question(begins)
            try:
                number = self._request(verb, *words, question=question)
            except ConnectionClosed:
                return None
            try:
                with anyio.move_on_after(_ANSWER_SECONDS):
                    await question.done.wait()
            finally:
                self._asked.pop(number, None)
            if question.answered:
                return question
            cut = question.cut and again
        return None

    def _request(self, verb: str, *words: str, question: Question | None = None) -> int:
        assert self._line is not None
        self._number += 1
        if question is not None:
            self._asked[self._number] = question
        text = " ".join((str(self._number), verb, *words)) + "\n"
        paste = ("paste-buffer", "-r", "-d", "-b", "muxwire-ask", "-t", self._pane)
        self._line.submit_prepared((command_list(("set-buffer", "-b", "muxwire-ask", "--", text), paste),))
        return self._number

    def say(self, verb: str, *words: str) -> bool:
        """Have the helper do something; False between two connections."""
        try:
            self._request(verb, *words)
        except ConnectionClosed:
            return False
        return True
