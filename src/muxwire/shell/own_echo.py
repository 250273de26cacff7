"""The echo of what was typed, known from the answer to it: a wait for a text should not find one's own.

Where the tab's own shell says that it took the line (its C mark), the answer begins there. Elsewhere the echo is what a
terminal driver or a line editor shows of it: the typed lines, in order, each at the beginning of a line; an editor may
draw the first one more than once. Where nothing is echoed (a password), nothing is taken for an echo.
"""

from __future__ import annotations

import re
from typing import final

from muxwire.values import dataclass

# Beyond this a line that began as the echo is none: an editor redraws a line once or twice.
_REDRAWN = 3
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@final
@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed last: where the pane's output ended then, the text with LF for Enter, whether at the prompt."""

    offset: int
    text: str
    at_prompt: bool

    @classmethod
    def of(cls, offset: int, data: bytes, *, at_prompt: bool) -> Typed:
        """Return what is known of typed bytes; after a key that is not text nobody knows what is shown."""
        text = data.decode("utf-8", "replace").replace("\r", "\n")
        return cls(offset, _CONTROL.split(text, maxsplit=1)[0], at_prompt)


NOTHING = Typed(-1, "", at_prompt=False)


def echo_end(typed: str, seen: str) -> int | None:
    """How much of `seen`, the text shown since `typed` was typed, is its echo; None while more may come."""
    end = 0
    for index, line in enumerate(typed.splitlines(keepends=True)):
        newline = seen.find("\n", end)
        shown = seen[end:] if newline < 0 else seen[end : newline + 1]
        if not line.endswith("\n"):
            if shown.startswith(line):
                return end + len(line)
            return None if newline < 0 and line.startswith(shown) else end
        echoed = shown.startswith(line) or (index == 0 and line != "\n" and _is_redrawn(line[:-1], shown))
        if newline < 0:
            return None if line.startswith(shown) or echoed else end
        if not echoed:
            return end
        end = newline + 1
    return end


def _is_redrawn(line: str, shown: str) -> bool:
    """Whether a line editor has drawn `line`, and drawn it again, and nothing else."""
    if not shown.startswith(line) or len(shown) > _REDRAWN * len(line) + len("\r\r\n"):
        return False
    rest = shown.rstrip("\r\n")
    while rest.startswith(line):
        rest = rest[len(line) :].lstrip("\r")
    return not rest or (line.startswith(rest) and not shown.endswith("\n"))
