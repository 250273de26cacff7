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
            match kind:
                case b"# ":
                    comments.append(text.decode())
                case b"> ":
                    records.append(Sent(text))
                case b"< ":
                    records.append(Received(text))
                case b"+ ":
                    records.append(Passed(float(text)))
                case b"= ":
                    records.append(Ended(text.decode()))
                case _:
                    raise ValueError(f"line {number} of the transcript is not a record: {line!r}")
        return cls(tuple(records), tuple(comments))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a transcript's file."""
        return cls.parse(path.read_bytes())

    def format(self) -> bytes:
        """Return the bytes that `parse` reads."""
        lines = [b"# " + comment.encode() for comment in self.comments]
        for record in self.records:
            match record:
                case Sent(line):
                    lines.append(b"> " + line)
                case Received(line):
                    lines.append(b"< " + line)
                case Passed(seconds):
                    lines.append(b"+ %.3f" % seconds)
                case Ended(reason):
                    lines.append(b"= " + reason.replace("\n", " ").encode())
        return b"".join(line + b"\n" for line in lines)

    def sent(self) -> bytes:
        """Return all that was said to tmux."""
        return b"".join(record.line + b"\n" for record in self.records if isinstance(record, Sent))

    def received(self) -> bytes:
        """Return all that tmux said: a corpus for whatever reads control streams."""
        return b"".join(record.line + b"\n" for record in self.records if isinstance(record, Received))
