"""The command line: one module for each group of verbs, and `main`, which runs one of them."""

# General layout:
#   console        what a verb has of the process that called it; own_console: that of this process
#   command_line   which module adds which verb, the parser, `run_verb`, how errors are said
#   serve          the verbs that start another front end: serve, repl, demo
#   connect, listing, instances, options, printing, sentences   what the groups of verbs share
#   every other    a group of verbs; `add(verbs)` adds its parsers, and imports what its verbs need when one is run
from __future__ import annotations

import gc
import signal
import typing
from contextlib import nullcontext

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.cli.own_console import Answering

__all__ = ("main",)

# The objects that imports make are never garbage. With Python's own threshold of 700 the collector took 10 ms of a
# verb's time; a single pass near the end, over the 55,000 objects that a verb makes, took as long again.
_OBJECTS_PER_COLLECTION = 100_000


def main(
    argv: Sequence[str] | None = None,
    *,
    by_owner: typing.Callable[[str], int] | None = None,
    answering: Answering = nullcontext,
) -> int:
    """Run one verb and return its exit code: 0, 1 for a failure that was explained, 2 for a wrong command line.

    Without `argv` the words are those of this process, which is then ended here and not by the caller. A verb that a
    signal ended ends the process by that signal. `by_owner` runs them in the process that owns a named instance, and
    returns the exit code; it is called when a verb has chosen such an instance. `answering`: a block in which verbs are
    answered by this process, which serves an agent.
    """
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    from muxwire.cli.command_line import begin
    from muxwire.cli.console import RunsThere
    from muxwire.cli.own_console import OwnConsole
    from muxwire.errors import unwrapped

    console = OwnConsole(argv, hands_over=by_owner is not None, answering=answering)
    try:
        begun = begin(console)
        if not isinstance(begun, int):
            import anyio  # late: it takes as long as all else that a wrong command line needs

            begun = anyio.run(console.run, begun)
    except KeyboardInterrupt:  # of a front end
        begun = -signal.SIGINT
    except Exception as error:
        there = unwrapped(error)
        if by_owner is None or not isinstance(there, RunsThere):
            raise
        begun = by_owner(str(there))
    if argv is None or begun < 0 or console.successor:
        console.leave(begun)
    return begun
