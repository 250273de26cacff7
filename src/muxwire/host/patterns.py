"""The one place where patterns of users are matched: in a process of its own, which the kernel ends after 100 ms.

A pattern such as `^(a+)+$` takes longer than the universe lasts for a text of 40 characters, `(?i)[Ā-\\U0010ffff]` two
seconds to compile when it is written often enough, and `re` does both with the interpreter's lock held. So none of it
is done in the process that answers calls. Other libraries were tried: docs/decisions.md, "Patterns of users".

Text without a special character is looked for here: `str.find` is linear.
"""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, final

import anyio
import anyio.lowlevel
import anyio.to_thread

from muxwire.errors import InvalidArgument, remedy_for
from muxwire.host.matcher import LENGTH_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

# What one text may take of the processor's time, compiling included: thousands of times what a pattern needs that is
# not made to take long.
MATCH_MS = 100
# The same in real time, where other processes take the processor, or a person has stopped that process.
_ANSWER_SECONDS = 5.0
# A pattern is written by a person or a model; `re` compiles the longest in some 10 ms.
PATTERN_MAX = 4096
# grep(1)'s own is 2 GB; a line of a log that is longer is searched in pieces, since `.*x` takes a time that grows with
# the square of it.
LINE_MAX = 4096
LINE_OVERLAP = 256
# The process that matches may have been killed from outside before it was asked.
_ATTEMPTS = 2
# From the end of its input to its end, for a process that matches nothing.
_GONE_SECONDS = 0.02
# Characters of a pattern that an error shows.
_SHOWN = 80

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_SCRIPT = Path(__file__).with_name("matcher.py")


@final
@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of `re`, not compiled; `flags` are those of `re`. Equal ones are compiled once."""

    source: str
    flags: int = 0

    @property
    def plain(self) -> str | None:
        """The text that it stands for, where it is no more than that."""
        text = _ESCAPED.sub(r"\1", self.source)
        is_plain = not self.flags & ~re.MULTILINE and (re.escape(text) == self.source or not _SPECIAL.search(text))
        return text if is_plain else None


# What `re.escape` makes of a character.
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])", re.DOTALL)


async def checked(pattern: Pattern) -> Pattern:
    """Return the pattern; InvalidArgument if it is none, or matches the empty text."""
    if pattern.plain is None and await _asked("search", pattern, "", 0, False) is not None:
        raise InvalidArgument(
            f"{_named(pattern)} matches an empty text", remedy="change it so that it needs one character at least"
        )
    return pattern


async def search(pattern: Pattern, text: str, begin: int, *, at_line_end: bool) -> tuple[int, int] | None:
    """Where the first match at or after `begin` lies; InvalidArgument if that took more than MATCH_MS.

    With `at_line_end` it may begin with the line end before `begin`, if it ends after it.
    """
    if (plain := pattern.plain) is not None:
        found = text.find(plain, begin)
        if found < 0 and at_line_end and len(plain) > 1 and text.startswith(plain, begin - 1):
            found = begin - 1
        return (found, found + len(plain)) if found >= 0 else None
    span: tuple[int, int] | None = await _asked("search", pattern, text, begin, at_line_end)
    return span


def matching(pattern: Pattern, lines: Sequence[str], seconds: float) -> list[bool]:
    """Whether each line has a match, fewer than all if the time is over; for a worker thread, which it blocks."""
    if (plain := pattern.plain) is not None:
        return [plain in line for line in lines]
    request = _request("lines", pattern, list(lines), seconds, LINE_MAX, LINE_OVERLAP)
    found: list[bool] = _LINES.ask(pattern, request, seconds + _ANSWER_SECONDS)
    return found


async def _asked(word: str, pattern: Pattern, *arguments: object) -> Any:  # noqa: ANN401 (each word has its own result)
    request = _request(word, pattern, *arguments)
    await anyio.lowlevel.checkpoint_if_cancelled()
    with anyio.CancelScope(shield=True):  # a match is returned even if the caller's time ends meanwhile
        return await anyio.to_thread.run_sync(_SEARCHES.ask, pattern, request, _ANSWER_SECONDS)


def _request(word: str, pattern: Pattern, *arguments: object) -> bytes:
    if len(pattern.source) > PATTERN_MAX:
        raise InvalidArgument(f"the pattern has {len(pattern.source)} characters", remedy=f"use {PATTERN_MAX} at most")
    request: Any = (word, pattern.source, int(pattern.flags), *arguments)
    data = marshal.dumps(request)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def _named(pattern: Pattern) -> str:
    """The pattern as an error shows it."""
    source = pattern.source
    return repr(source if len(source) <= _SHOWN else source[:_SHOWN] + "...")


@final
class _Matcher:
    """The process, started when it is first asked and again after it was ended; one question at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket
        self._answers: IO[bytes]
        self._owner = 0  # the process id of the one that started it: a fork must not share its socket
        atexit.register(self._end)

    def ask(self, pattern: Pattern, request: bytes, seconds: float) -> Any:  # noqa: ANN401
        """Return the result of a request (`matcher.py`), whose answer may take so long; the thread waits for it.

        Raises:
            InvalidArgument: it is no pattern, or takes too long, or cannot be tried.

        """
        data = b""
        with self._turn:
            for _ in range(_ATTEMPTS):
                process = self._started()
                self._socket.settimeout(seconds)
                try:
                    self._socket.sendall(request)
                    data = self._answers.read(int.from_bytes(self._answers.read(LENGTH_BYTES), "big"))
                except TimeoutError:
                    self._end()
                    raise InvalidArgument(
                        f"the pattern was not tried within {seconds:g} s: its process got no processor time,"
                        " or was stopped",
                        remedy="try it again when the machine is less busy, or look for plain text",
                    ) from None
                except OSError:
                    data = b""
                if not data:
                    self._end()
                if data or process.returncode == -signal.SIGPROF:
                    break
        return _result(pattern, data)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            self._process, self._owner = None, os.getpid()
        if self._process is None:
            connection, its_end = socket.socketpair()
            with its_end:
                try:
                    self._process = subprocess.Popen(
                        [sys.executable, "-I", "-S", str(_SCRIPT), str(MATCH_MS)],
                        stdin=its_end.fileno(),
                        stdout=its_end.fileno(),
                        stderr=subprocess.DEVNULL,
                        cwd="/",
                        env={"PATH": os.environ.get("PATH", os.defpath)},
                        start_new_session=True,  # so that no signal for this process reaches it
                    )
                except OSError as error:
                    connection.close()
                    raise InvalidArgument(
                        f"no process could be started that matches the pattern: {error.strerror}",
                        remedy=remedy_for(error) or "look for plain text",
                    ) from None
            self._socket, self._answers = connection, connection.makefile("rb")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            self._answers.close()
            self._socket.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GONE_SECONDS)  # the end of its input ends it, unless a match is running
            process.kill()
            process.wait()


def _result(pattern: Pattern, data: bytes) -> Any:  # noqa: ANN401
    if not data:
        raise InvalidArgument(
            f"the pattern {_named(pattern)} was given up after {MATCH_MS} ms of processor time: "
            "compiling it, or matching a text, takes longer",
            remedy="use no repeat inside a repeat (a+ for (a+)+) and no .* twice; or look for plain text",
        )
    is_pattern, result = marshal.loads(data)  # noqa: S302 (it is our own child's)
    if not is_pattern:
        raise InvalidArgument(
            f"{_named(pattern)} is not a valid regular expression: {result}",
            remedy="escape special characters with a backslash",
        )
    return result


# The lines of a log may take long: meanwhile waits for a text go on.
_SEARCHES, _LINES = _Matcher(), _Matcher()
