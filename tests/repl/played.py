"""A view that is told what a player reads in records."""

from __future__ import annotations

from collections.abc import Sequence

from muxwire.protocol.commands import Command
from muxwire.repl.view import Player, Seen, StreamView
from muxwire.testing.transcript import Record


class Played:
    """One stream, of which all records are known."""

    def __init__(self, records: Sequence[Record], begin: float = 0.0) -> None:
        self.view, self.player = StreamView(begin), Player(records)

    def take(self, records: Sequence[Record], now: float = 0.0) -> list[Seen]:
        """What is to be seen of the next records."""
        seen: list[Seen] = []
        for record in records:
            self.view.heard([record], now)
            for meant in self.player.take(record):
                if isinstance(meant, Command):
                    self.view.sent(meant, now)
                elif one := self.view.received(meant, now):
                    seen.append(one)
        return seen


def seen_in(records: Sequence[Record]) -> list[Seen]:
    return Played(records).take(records)
