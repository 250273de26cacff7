"""The command line: one module for each group of verbs, and `main`, which runs one of them for a caller."""

# General layout:
#   console        what a verb has of the process that called it
#   command_line   which module adds which verb, the parser, `serve_caller`, how errors are said
#   serve          the verbs that start another front end: serve, repl, demo
#   connect, instances, options, printing, sentences   what the groups of verbs share
#   every other    a group of verbs; `add(verbs)` adds its parsers, and imports what its verbs need when one is run
from __future__ import annotations

import gc
import os
import typing

from muxwire_reach import terminal_size

if typing.TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from muxwire.cli.console import Answering
    from muxwire.library.terminals import Terminals

__all__ = ("main",)

# The objects that imports make are never garbage. With Python's own threshold of 700 the collector took 10 ms of a
# verb's time; a single pass near the end, over the 55,000 objects that a verb makes, took as long again.
_OBJECTS_PER_COLLECTION = 100_000


def main(connection: socket.socket, words: Sequence[str], answering: Answering, *, hands_over: bool = False) -> None:
    """Run one verb for this process itself, whose other thread is at the other end of the connection.

    `hands_over`: a verb that acts on an instance by its name is to run in its owner, and is told to. `answering`: a
    block in which verbs are answered by this process, which serves an agent.
    """
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    import anyio

    from muxwire.cli.command_line import serve_caller
    from muxwire.cli.console import Console, RunsThere

    def opened(given: Mapping[str, typing.Any]) -> AbstractAsyncContextManager[Terminals]:
        # Late: help needs nothing of these.
        if hands_over and "name" in given:
            from muxwire.host.folders import folders_for
            from muxwire.host.local import LocalHost
            from muxwire.tmux.program import server_pid

            # If the socket of its tmux was removed it is made anew, which is how the client sees that it runs.
            server_pid(folders_for(given["name"], os.environ), LocalHost(os.environ))
            raise RunsThere(given["name"])
        from muxwire.library.opening import own_terminals

        return own_terminals(**given)

    sizes = terminal_size(0), terminal_size(1), terminal_size(2)
    terminal = os.ttyname(0) if sizes[0] else ""
    with connection:  # else the other thread would wait for ever for what a defect has ended
        anyio.run(serve_caller, Console(words, os.environ, sizes, terminal, opened, answering=answering), connection)
