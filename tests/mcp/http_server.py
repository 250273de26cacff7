"""Our server over loopback HTTP, for tools that speak nothing else: `python tests/mcp/http_server.py PORT` (0: any).

It is for the official conformance suite and no face of muxwire: there is no token, and it listens on 127.0.0.1 only. To
the tools of muxwire it adds two that the suite calls by name.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, ClassVar

import uvicorn

from muxwire import open_terminals
from muxwire.mcp.handlers import built, connected
from muxwire.mcp.lifespan import LazyTerminals
from muxwire.mcp.offer import Offer
from muxwire.mcp.registry import Call, Catalogue, Hints, Text, tool
from muxwire.mcp.tools import TOOLS
from muxwire.results import ExecutionResult
from muxwire.verbs.describe import Says, Verb


@dataclass(frozen=True, slots=True, kw_only=True)
class Greet(Verb):
    """Says hello."""

    verb: ClassVar[str] = "greet"
    name: Annotated[str, Says("whom")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowCompute(Verb):
    """Sleeps in a tab of its own."""

    verb: ClassVar[str] = "slow_compute"
    seconds: Annotated[int, Says("how long")]
    label: Annotated[str, Says("what it writes then")] = ""
    async_: Annotated[bool, Says("as a task, for a client that declares tasks")] = True


@tool(Greet, returns=Text, hints=Hints(read_only=True))
async def greet(call: Call, given: Greet) -> Text:
    del call
    return Text(f"Hello, {given.name}!")


@tool(SlowCompute, returns=ExecutionResult, hints=Hints())
async def slow_compute(call: Call, given: SlowCompute) -> ExecutionResult:
    tab = await call.terminals.create_tab()
    return await tab.execute(f"sleep {given.seconds}; echo '{given.label}'", async_=True)


def main() -> None:
    """Serve until a signal comes."""
    offer = Offer(Catalogue((*TOOLS, greet, slow_compute)), None)
    app = built(offer, lambda: connected(LazyTerminals(open_terminals))).streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False)


if __name__ == "__main__":
    main()
