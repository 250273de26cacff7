"""Which instance a verb acts on, and opening it."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Awaitable, Callable

    from muxwire.terminals.terminals import Terminals

    TerminalsVerb = Callable[[Terminals, argparse.Namespace], Awaitable[int]]

# Who says nothing means this one.
DEFAULT_NAME = "main"


def on_terminals(verb: TerminalsVerb) -> Callable[[argparse.Namespace], int]:
    """A verb that needs an opened instance, as one that a parser can call."""

    def run(arguments: argparse.Namespace) -> int:
        import anyio  # late: it takes as long as all else that a wrong command line needs

        async def opened() -> int:
            async with open_instance(arguments) as terminals:
                return await verb(terminals, arguments)

        return anyio.run(opened)

    return run


@asynccontextmanager
async def open_instance(arguments: argparse.Namespace) -> AsyncIterator[Terminals]:
    """Open the instance that the command line names."""
    from muxwire.terminals.terminals import open_terminals

    chosen_name(arguments)
    async with open_terminals() as terminals:
        yield terminals


def chosen_name(arguments: argparse.Namespace) -> str:
    """The name that was given, or the one that is meant without."""
    return arguments.name or os.environ.get("MUXWIRE_NAME") or DEFAULT_NAME
