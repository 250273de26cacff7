"""The command line: one module for each group of verbs, and `main`, which runs one of them."""

# General layout:
#   command_line   which module adds which verb, the parser, what a verb returns, how errors are said
#   serve          the verbs that start another front end: serve, repl, demo
#   every other    a group of verbs; `add(verbs)` adds its parsers, and imports what its verbs need when one is run
from __future__ import annotations

import gc
import os
import sys
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
    if argv is None:
        _in_utf8()
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


def _in_utf8() -> None:
    """Start Python anew in its UTF-8 mode, if it takes names and arguments for ASCII.

    LC_ALL=C makes it do so where PYTHONUTF8=0 or PYTHONCOERCECLOCALE=0 switch off that it reads UTF-8 then. A name
    given as an argument would be another one than the same name given elsewhere: tmux, logs and JSON are UTF-8.
    """
    if sys.getfilesystemencoding() == "ascii" and sys.executable and not getattr(sys, "frozen", False):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - without one
