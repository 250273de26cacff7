"""The verb that waits for what a tab shows or does."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

from muxwire.cli.instance import on_terminals
from muxwire.cli.options import ACTIVE, add_target, add_verb, natural, seconds
from muxwire.cli.printing import FAILED, document, say, warn

if TYPE_CHECKING:
    import argparse

    from muxwire.cli.options import Verbs
    from muxwire.terminals.terminals import Terminals

# As timeout(1).
TIMED_OUT = 124


def add(verbs: Verbs) -> None:
    """Add `wait`."""
    wait = add_verb(
        verbs,
        "wait",
        on_terminals(_wait),
        summary="wait until a tab shows or does something",
        details="Exit codes: 0 if it came, 124 if it did not come in time, 1 if it cannot come any more.",
    )
    add_target(wait, many=True)
    wait.add_argument("--until", metavar="TEXT", default="", help="a text in its output")
    wait.add_argument("--regex", metavar="REGEX", default="", help="a match in its output")
    wait.add_argument("--idle", metavar="SECONDS", type=seconds, help="no output for so long")
    wait.add_argument("--exit", action="store_true", help="the end of its program")
    wait.add_argument("--prompt", action="store_true", help="its shell is ready for a command")
    wait.add_argument("--bell", action="store_true", help="it rings")
    wait.add_argument("--from-byte", metavar="N", type=natural, help="count output from that offset on")
    wait.add_argument("--timeout", metavar="SECONDS", type=seconds, default=math.inf)


async def _wait(terminals: Terminals, arguments: argparse.Namespace) -> int:
    outcome = await terminals.wait_for(
        arguments.target or [ACTIVE],
        until=arguments.until,
        regex=arguments.regex,
        idle=arguments.idle,
        exit=arguments.exit,
        prompt=arguments.prompt,
        bell=arguments.bell,
        from_byte=arguments.from_byte,
        timeout=arguments.timeout,
    )
    if arguments.json:
        document(asdict(outcome))
    elif outcome.outcome == "met":
        say(outcome.match)
    elif outcome.outcome == "timed_out":
        warn(f"muxwire: it did not come within {arguments.timeout:g} s")
    else:
        warn("muxwire: it cannot come any more: the tab's program has ended")
    return {"met": 0, "timed_out": TIMED_OUT, "closed": FAILED}[outcome.outcome]
