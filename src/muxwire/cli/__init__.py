"""The command line: one module for each group of verbs, and `main`, which runs one of them."""

# General layout:
#   command_line   which module adds which verb, the parser, what a verb returns, how errors are said
#   serve          the verbs that start another front end: serve, repl, demo
#   interrupts     what C-c does before a verb begins
#   connect, listing, instances, options, printing, sentences   what the groups of verbs share
#   every other    a group of verbs; `add(verbs)` adds its parsers, and imports what its verbs need when one is run
from __future__ import annotations

import gc
import os
import sys
import typing

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ("main",)

# The objects that imports make are never garbage. With Python's own threshold of 700 the collector took 10 ms of a
# verb's time; a single pass near the end, over the 55,000 objects that a verb makes, took as long again.
_OBJECTS_PER_COLLECTION = 100_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code: 0, 1 for a failure that was explained, 2 for a wrong command line.

    Without `argv` the words are those of this process, which is then ended here and not by the caller.
    """
    if argv is None:
        _in_utf8()
    # The other imports come after this one, so that C-c ends the process during them too.
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
    """Start Python anew in its UTF-8 mode, if it reads names and arguments in another encoding.

    It does so in a locale that is not of UTF-8 (LC_ALL=de_DE.ISO-8859-1; LC_ALL=C, if PYTHONUTF8=0 or
    PYTHONCOERCECLOCALE=0 is set). In UTF-8 mode every byte that was given reaches tmux, shells and files as it is; a
    name in another encoding would differ from the same name in logs and in JSON, which are UTF-8.
    """
    if sys.getfilesystemencoding() != "utf-8" and sys.executable and not getattr(sys, "frozen", False):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - without one
