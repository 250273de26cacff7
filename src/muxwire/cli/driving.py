"""The verbs that type into what runs in tabs, and wait for what they show or do: send-keys, paste, wait, watch."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import anyio

from muxwire.cli.connect import on_terminals
from muxwire.cli.console import STDOUT
from muxwire.cli.options import (
    AS_JSON,
    NO_COLOURS,
    add_verb,
    flag,
    named_tabs,
    names_tab,
    of,
    option,
    positive,
    words_of,
)
from muxwire.cli.printing import FAILED, packed, spoken
from muxwire.cli.sentences import sentence
from muxwire.verbs.catalogue import Conditions, SendKeys, Typing, Wait, WaitFor, WatchEvents
from muxwire.verbs.describe import parameters
from muxwire.verbs.types import ACTIVE, DEFAULT_WAIT
from muxwire.vt.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from muxwire.cli.console import Console
    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals
    from muxwire.results import KeysSent, WaitOutcome

# One byte more than a call takes, so that too much is an error and not cut.
_PASTE_MAX = (4 << 20) + 1
# As timeout(1).
TIMED_OUT = 124
# As of a `muxwire run` whose command is not over.
ASKS = 125
# The most events of one call of `watch_events`.
_EVENTS = 1000


def add(verbs: Verbs) -> None:
    add_verb(
        verbs,
        "send-keys",
        on_terminals(_send_keys),
        names_tab(word=False),
        of(
            SendKeys,
            without=("paste",),  # `muxwire paste`
            literal={"flags": ("-l", "--literal")},
            answers={
                "flags": ("--answer",),
                "help": "then enter that line when the program waits for input again; may be repeated",
            },
            keys={"flags": ("keys",), "nargs": "*"},
        ),
        AS_JSON,
        summary="type into whatever runs in a tab",
        example="muxwire send-keys -t build y Enter",
        details="Each KEY is tmux's name of a key (Enter, C-c, M-x, Up, F5) or literal text. With --until, --regex, "
        "--stable, --idle or --wait the new output is printed; exit codes are then those of wait.",
    )
    add_verb(
        verbs,
        "paste",
        on_terminals(_paste),
        names_tab(word=False),
        flag("--enter", help="press Enter after it"),
        option("text", metavar="TEXT", nargs="?", help="default: all of stdin"),
        AS_JSON,
        summary="paste a text into whatever runs in a tab",
        example="muxwire paste -t build --enter < commands.txt",
        details="It is a bracketed paste where the program asked for that, so no line of it is run by accident.",
    )
    add_verb(
        verbs,
        "wait",
        on_terminals(_wait),
        names_tab(many=True),
        of(WaitFor, timeout={"default": math.inf}),
        AS_JSON,
        summary="wait until a tab shows or does something",
        example="muxwire wait build --until passed --timeout 60",
        details="Without a condition: for half a second without output. Exit codes: 0 if a condition was met, 124 if "
        "none was met in time, 125 if the program asks something first, 1 if none can be met any more.",
    )
    add_verb(
        verbs,
        "watch",
        on_terminals(_watch, looks=True),
        names_tab(many=True),
        flag("-a", "--all", help="of every tab, those that are opened later too"),
        of(
            WatchEvents,
            without=("since", "max_events"),  # it begins now, and shows all
            kinds={"flags": ("--kind",), "help": "only events of that kind; may be repeated"},
            timeout={"default": math.inf},
        ),
        NO_COLOURS,
        option("--count", metavar="N", type=positive, default=math.inf, help="end after N events"),
        option(
            "--on-ask",
            default="",
            metavar="COMMAND",
            help="run that by sh when a program in a tab begins to wait for a line or a password; $MUXWIRE_TAB, "
            "$MUXWIRE_TAB_NAME, $MUXWIRE_ASKS and $MUXWIRE_QUESTION say which and for what",
        ),
        AS_JSON,
        summary="print what happens in the tabs, as it happens",
        example="muxwire watch --all --kind bell --count 1",
        details="With --json each event is one document on one line.",
    )


async def _send_keys(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    given = words_of(Typing, arguments)
    tab = await terminals.tab(arguments.target)
    sent = await tab.send_keys(**given)
    # What stood there before the call was printed by the one before it.
    said = "\n".join(sent.asked if arguments.keys else sent.asked[1:]) + sent.output
    if said and not arguments.json:
        await console.write_soon(said.encode("utf-8", "surrogateescape"))
    _report(console, sent, arguments)
    waits = any(given[one.name] for one in parameters(Conditions))
    is_unmet = sent.outcome in ("timed_out", "closed", "asks") or (sent.outcome == "ended" and waits)
    failed = FAILED if given["answers"] and not sent.asked else 0
    return _unmet(console, arguments, sent.outcome, arguments.wait or DEFAULT_WAIT) if is_unmet else failed


def _unmet(console: Console, arguments: argparse.Namespace, outcome: str | None, seconds: float) -> int:
    """Say why no condition was met, unless a document has said it; the exit code."""
    known = {
        "timed_out": (f"was met within {seconds:g} s", TIMED_OUT),
        "asks": ("was met: the program asks something first", ASKS),
    }
    why, code = known.get(outcome or "", ("can be met any more: what ran in the tab has ended", FAILED))
    if not arguments.json:
        console.warn(f"muxwire: no condition {why}")
    return code


async def _paste(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    given = b"" if arguments.text is not None else await console.piped(_PASTE_MAX)
    text = arguments.text or given.decode("utf-8", "surrogateescape")
    tab = await terminals.tab(arguments.target)
    return _report(console, await tab.send_keys([text], paste=True, literal=True, enter=arguments.enter), arguments)


def _report(console: Console, sent: KeysSent | WaitOutcome, arguments: argparse.Namespace) -> int:
    if arguments.json:
        console.document(sent)
    elif sent.note:
        console.warn(f"muxwire: {spoken(sent.note)}")
    return 0


async def _wait(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    outcome = await terminals.wait_for(arguments.targets or [ACTIVE], **words_of(Wait, arguments))
    _report(console, outcome, arguments)
    if outcome.outcome == "met" and not arguments.json:
        # A regex matches what the program wrote, where a terminal may find orders to it.
        console.say(*map(str if console.sizes[STDOUT] is None else one_line, outcome.match.split("\n")))
    return 0 if outcome.outcome == "met" else _unmet(console, arguments, outcome.outcome, arguments.timeout)


async def _watch(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    deadline = anyio.current_time() + arguments.timeout
    # `.` is the tab that was used last now; another one may be used while this one is watched.
    targets = [(await terminals.tab(target)).key for target in named_tabs(arguments)]
    from muxwire.web.asks import hooked  # late: it is a leaf

    async with hooked(terminals, arguments.on_ask, console.environ, partial(console.write, error=True), targets):
        return await _print_events(console, terminals, arguments, targets, deadline)


async def _print_events(
    console: Console, terminals: Terminals, arguments: argparse.Namespace, targets: Sequence[str], deadline: float
) -> int:
    kinds, still_open, colours = arguments.kinds, set(targets), console.colours(plain=arguments.no_colours)
    left, cursor = arguments.count, terminals.events.end
    while left > 0 and (still_open or not targets) and (seconds_left := deadline - anyio.current_time()) > 0:
        batch = await terminals.watch_events(
            targets,
            kinds=[*kinds, "tab_closed"] if kinds else (),
            since=cursor,
            max_events=int(min(left, _EVENTS)),
            timeout=seconds_left,
        )
        cursor = batch.next
        if batch.dropped:
            console.warn(f"muxwire: {batch.dropped} events are lost: they came faster than they were read")
        still_open -= {event.window_id for event in batch.events if event.kind == "tab_closed"}
        # A line that was entered is left out: it is shown when its command starts.
        events = [
            event
            for event in batch.events
            if (event.kind in kinds if kinds else arguments.json or event.details.get("how") != "line")
        ]
        left -= len(events)
        for event in events:
            if arguments.json:
                await console.write_soon(packed(event))
            else:
                moment = console.time_of_day(event.time, "%H:%M:%S")
                said = one_line(sentence(event.kind, event.details))
                line = f"{colours('dim', moment)} {colours('bold', event.window_id or '-')} {said}"
                await console.write_soon(line.encode("utf-8", "surrogateescape") + b"\n")
    return 0
