"""The command line: one module for each group of verbs, and `main`, which runs one of them."""

# General layout:
#   command_line   which module adds which verb, the parser, what a verb returns, how errors are said
#   serve          the verbs that start another front end: serve, repl, demo
#   every other    a group of verbs; `add(verbs)` adds its parsers, and imports what its verbs need when one is run
from __future__ import annotations

import gc
import typing

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("main",)

# What an import makes stays. To look through it for circles each 700 objects took 10 ms of a verb's time, and to do so
# once, near the end of the 55,000 that a verb makes, as long again.
_OBJECTS_PER_COLLECTION = 100_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code: 0, 1 for a failure that was explained, 2 for a wrong command line.

    Without `argv` the process is the verb's, and ends with it.
    """
    # Late: a C-c while the rest is imported is a C-c like any other.
    from muxwire.cli.interrupts import end_by_them

    end_by_them()
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    try:
        from muxwire.cli.command_line import run_verb

        code = run_verb(argv)
    except KeyboardInterrupt:
        import signal

        from muxwire.cli.printing import die_of

        die_of(signal.SIGINT)
    if argv is None:
        from muxwire.cli.printing import leave

        leave(code)
    return code
