"""A transcript: a recorded control stream, line by line, in both directions and with its pauses.

The file (`*.ctl`) is bytes, one record a line, known by its first two:

    # text       a comment; the first ones say what was recorded, and with which tmux
    > line       a line that was sent to tmux
    < line       a line that tmux sent, as it was on the wire
    + 0.012      seconds that passed before the next record
    = reason     the stream ended here, with what the transport knew of the reason
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeAlias, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@final
@dataclass(frozen=True, slots=True)
class Sent:
    """A line to tmux."""

    line: bytes


@final
@dataclass(frozen=True, slots=True)
class Received:
    """A line from tmux."""

    line: bytes


@final
@dataclass(frozen=True, slots=True)
class Passed:
    """Time in which nothing was said."""

    seconds: float


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the stream from tmux."""

    reason: str


Record: TypeAlias = Sent | Received | Passed | Ended
_READ: Mapping[bytes, Callable[[bytes], Record]] = {
    b"> ": Sent,
    b"< ": Received,
    b"+ ": lambda text: Passed(float(text)),
    b"= ": lambda text: Ended(text.decode()),
}


def formatted(record: Record) -> bytes:
    """The line of a transcript's file."""
    match record:
        case Sent(line):
            return b"> " + line
        case Received(line):
            return b"< " + line
        case Passed(seconds):
            return b"+ %.3f" % seconds
        case Ended(reason):
            return b"= " + reason.replace("\n", " ").encode()


@final
@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said, in order."""

    records: tuple[Record, ...]
    comments: tuple[str, ...] = ()

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a transcript's bytes; ValueError names the first line that is no record."""
        records: list[Record] = []
        comments: list[str] = []
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines, 1):
            # Editors take the space from an empty line's end.
            kind, text = line[:2].ljust(2), line[2:]
            if kind == b"# ":
                comments.append(text.decode())
            elif kind in _READ:
                records.append(_READ[kind](text))
            else:
                raise ValueError(f"line {number} of the transcript is not a record: {line!r}")
        return cls(tuple(records), tuple(comments))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a transcript's file."""
        return cls.parse(path.read_bytes())

    def format(self) -> bytes:
        """Return the bytes that `parse` reads."""
        lines = [b"# " + comment.encode() for comment in self.comments]
        return b"".join(line + b"\n" for line in (*lines, *map(formatted, self.records)))
