"""`muxwire serve` over the fake library; argv[1] is the file that gets a line for each event."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import muxwire.library.opening
import muxwire.owner.server
from muxwire_client import whole
from tests.mcp.fake_terminals import Opener


def main() -> None:
    path = Path(sys.argv[1])

    def note(event: str) -> None:
        with path.open("a") as events:
            events.write(f"{event}\n")

    muxwire.owner.server.answering = nullcontext  # type: ignore[assignment]
    muxwire.library.opening.own_terminals = lambda **_: Opener(note, slow_close="--slow-close" in sys.argv)()
    assert whole(["serve"]) == 0
    note("returned")


if __name__ == "__main__":
    main()
