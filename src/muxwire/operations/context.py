"""How a list of operations is run, and what it is run with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, final

from muxwire.errors import InvalidArgument
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.host.host import Host
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.maker import TabMaker
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

OnError = Literal["stop", "continue"]
# Seconds in which tmux must have answered: it takes a millisecond, and a machine that swaps a few seconds.
DISPATCH_TIMEOUT = 10.0


@final
@dataclass(frozen=True, slots=True)
class RunOptions:
    on_error: OnError
    dispatch_timeout: float | None
    timeout: float | None
    rollback_on_error: bool
    max_chars: int | None

    def check(self) -> None:
        for name, seconds in (("dispatch_timeout", self.dispatch_timeout), ("timeout", self.timeout)):
            if seconds is not None and seconds <= 0:
                raise InvalidArgument(f"{name} is {seconds} s", remedy="give more than 0, or none")
        if self.on_error not in ("stop", "continue"):
            raise InvalidArgument(f"on_error is {self.on_error!r}", remedy='use "stop" or "continue"')


@final
@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with; `server` and `maker` are None in a dry run."""

    server: TmuxServer | None
    maker: TabMaker | None
    book: TabBook
    find: Callable[[str], Awaitable[Tab]]
    host: Host
