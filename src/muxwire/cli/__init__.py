"""The command line: one module for each group of verbs, and `main`, which runs one of them."""

# General layout:
#   command_line   which module adds which verb, the parser, what a verb returns, how errors are said
#   serve          the verbs that start another front end: serve, repl, demo
#   every other    a group of verbs; `add(verbs)` adds its parsers, and imports what its verbs need when one is run
from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("main",)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code: 0, 1 for a failure that was explained, 2 for a wrong command line."""
    # Late: a C-c while the rest is imported is a C-c like any other.
    from muxwire.cli.interrupts import end_by_them

    end_by_them()
    try:
        from muxwire.cli.command_line import run_verb

        return run_verb(argv)
    except KeyboardInterrupt:
        import signal

        from muxwire.cli.printing import die_of

        die_of(signal.SIGINT)
