"""A server process over the fake library; argv[1] is the file that gets a line for each event."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from muxwire.mcp import serve
from tests.mcp.fake_terminals import Opener


def main() -> None:
    path = Path(sys.argv[1])

    def note(event: str) -> None:
        with path.open("a") as events:
            events.write(f"{event}\n")

    anyio.run(serve, Opener(note, slow_close="--slow-close" in sys.argv))
    note("returned")


if __name__ == "__main__":
    main()
