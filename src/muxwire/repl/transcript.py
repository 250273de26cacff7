"""A transcript: a recorded control stream, line by line, in both directions and with its pauses.

The file (`*.ctl`) is bytes, one record a line, known by its first two:

    # text       a comment; the first ones say what was recorded, and with which tmux
    > line       a line that was sent to tmux
    < line       a line that tmux sent, as it was on the wire
    + 0.012      seconds that passed before the next record
    = reason     the stream ended here, with what the transport knew of the reason
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

from muxwire.client.client import ENDED, RECEIVED, SENT

if TYPE_CHECKING:
    from collections.abc import Iterable

COMMENT, PASSED = b"#", b"+"
_KINDS = (COMMENT, SENT, RECEIVED, PASSED, ENDED)


@final
class Record(NamedTuple):
    """A line of a transcript: what it is, and what it says."""

    kind: bytes
    line: bytes


def written(records: Iterable[Record]) -> bytes:
    """The bytes that `read` reads."""
    return b"".join(b"%b %b\n" % record for record in records)


def read(data: bytes) -> list[Record]:
    """The records of a transcript; ValueError names the first line that is none."""
    records = []
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else (), 1):
        # Editors take the space from an empty line's end.
        if line[:1] not in _KINDS or line[1:2] not in (b" ", b""):
            raise ValueError(f"line {number} of the transcript is not a record: {line!r}")
        if line[:1] == PASSED:
            float(line[2:])
        records.append(Record(line[:1], line[2:]))
    return records
