"""A script of its own: matches regular expressions for `host/patterns.py`, which says why this is another process.

    python -I -S matcher.py MILLISECONDS < requests > answers

A request is a marshalled tuple after its length: `(word, pattern, flags, *arguments)`. An answer is `(True, result)`
or, for what is not a valid regular expression, `(False, reason)`.

| word | arguments | result |
|---|---|---|
| `search` | text, begin, whether it may also begin with the line end before `begin` | (begin, end), or None |
| `lines` | texts, seconds, longest piece, overlap | for each text whether it matches; fewer if the time is over |

The kernel ends this process when one text takes more processor time than MILLISECONDS: `re` looks for signals neither
while it matches nor while it compiles. When the input ends, it ends.

The standard library only, and none of muxwire: it starts in 15 ms.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import re
import resource
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# Before the bytes of a message: how many they are.
LENGTH_BYTES = 4
# What a pattern may take of memory: matching a screen takes a few MB, compiling less.
_MEMORY_BYTES = 1 << 30
# A lower priority than that of the shells and tmux: a pattern that takes its whole time must not slow them down. At 10
# a match would wait for long on a busy machine.
_NICENESS = 5


def main(limit: float) -> None:
    """Answer until the input ends; `limit` is in seconds of processor time for a text."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    while length := reading.read(LENGTH_BYTES):
        request = marshal.loads(reading.read(int.from_bytes(length, "big")))  # noqa: S302 (its writer is our parent)
        answer = marshal.dumps(answered(request, limit))
        writing.write(len(answer).to_bytes(LENGTH_BYTES, "big") + answer)
        writing.flush()


def answered(request: tuple[Any, ...], limit: float) -> tuple[bool, Any]:
    word, source, flags, *arguments = request
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        pattern = re.compile(source, flags)  # which keeps those that it was given last
        if word == "search":
            return True, search(pattern, *arguments)
        return True, list(lines(pattern, limit, *arguments))
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        return False, str(error) or type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def search(pattern: re.Pattern[str], text: str, begin: int, at_line_end: bool) -> tuple[int, int] | None:
    match = pattern.search(text, begin)
    if match is None and at_line_end:  # a match may begin with that line end, if it goes further
        match = pattern.match(text, begin - 1)
        if match is not None and match.end() <= begin:
            match = None
    return match.span() if match is not None else None


def lines(
    pattern: re.Pattern[str], limit: float, texts: list[str], seconds: float, longest: int, overlap: int
) -> Iterator[bool]:
    deadline = time.monotonic() + seconds
    for text in texts:
        # A line that is no longer than a piece is one.
        step = longest - overlap if len(text) > longest else longest
        if time.monotonic() > deadline:
            return
        yield any(piece_matches(pattern, limit, text, begin, longest) for begin in range(0, len(text) or 1, step))


def piece_matches(pattern: re.Pattern[str], limit: float, text: str, begin: int, longest: int) -> bool:
    """Whether a piece of a line matches; each has its own time, so that a line may be as long as it likes."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    return pattern.search(text, begin, begin + longest) is not None


if __name__ == "__main__":
    main(int(sys.argv[1]) / 1000)
