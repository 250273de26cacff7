"""The verb that runs a list of tmux operations from a file, and says of each step what became of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muxwire.cli.connect import on_terminals
from muxwire.cli.options import add_verb, seconds
from muxwire.cli.printing import FAILED, USAGE, document, say, shown, spoken, warn
from muxwire.errors import InvalidArgument
from muxwire.values import to_dict

if TYPE_CHECKING:
    import argparse

    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals
    from muxwire.operations.operation import OperationsResult


def add(verbs: Verbs) -> None:
    ops = add_verb(
        verbs,
        "ops",
        on_terminals(_ops),
        summary="run a list of tmux operations, checked before anything is sent, with a result for each",
        example="""echo '[{"kind": "new_window"}]' | muxwire ops -""",
        details="FILE holds the list that the tool run_tmux_operations takes, or an object with it as "
        '"operations"; - reads stdin. The exit code is 1 if a step did not succeed.',
    )
    ops.add_argument("file", metavar="FILE", help="the list, as JSON")
    ops.add_argument("--dry-run", action="store_true", help="send nothing; show what would be sent")
    ops.add_argument("--on-error", choices=("stop", "continue"), default="stop", help="default: stop")
    ops.add_argument("--rollback", action="store_true", help="if a step fails, undo what the others did")
    ops.add_argument("--dispatch-timeout", metavar="SECONDS", type=seconds, help="for tmux's answer to a step")
    ops.add_argument("--timeout", metavar="SECONDS", type=seconds, help="for the whole list")


async def _ops(terminals: Terminals, arguments: argparse.Namespace) -> int:
    from muxwire.verbs.types import DISPATCH_TIMEOUT

    operations, given = _operations(arguments.file), arguments.dispatch_timeout
    try:
        result = await terminals.run_operations(
            operations,
            on_error=arguments.on_error,
            dry_run=arguments.dry_run,
            dispatch_timeout=DISPATCH_TIMEOUT if given is None else given,
            timeout=arguments.timeout,
            rollback_on_error=arguments.rollback,
        )
    except InvalidArgument as error:
        # As it is: the kinds of operations are called as tools are, and are no verbs.
        if arguments.json:
            document({"error": {"code": error.code, "message": str(error), "remedy": error.remedy}})
        else:
            warn(f"muxwire: {error}\n  {error.remedy}")
        return USAGE
    if arguments.json:
        document(to_dict(result))
    else:
        _say(result)
    return 0 if result.succeeded else FAILED


def _operations(name: str) -> list[Any]:
    text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{name} is no JSON: {error}", remedy='write a list: [{"kind": "new_window"}]') from None
    if isinstance(found, dict) and set(found) == {"operations"}:
        found = found["operations"]
    if not isinstance(found, list):
        raise InvalidArgument(f"{name} holds no list", remedy='write a list: [{"kind": "new_window"}]')
    return found


def _say(result: OperationsResult) -> None:
    if result.dry_run:
        for dispatch in result.dispatches:
            for line in dispatch.commands:
                say(shown(line))
        return
    for step in result.steps:
        made = " ".join((step.created_window_id, step.created_pane_id, *step.created_pane_ids)).strip()
        text = " ".join(filter(None, (made, step.stdout or "", spoken(step.error))))
        say(f"{step.index:>3}  {step.status:<9}  {step.kind:<15}  {shown(text)}".rstrip())
        for line in step.lines or (step.output or "").splitlines():
            say(f"     | {shown(line)}")
    for pane in result.rolled_back_panes:
        say(f"rolled back: {pane}")
    for error in result.rollback_errors:
        say(f"not undone: {shown(error)}")
