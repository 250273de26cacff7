"""The verb that runs a list of tmux operations from a file, and says of each step what became of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from muxwire.cli.connect import on_terminals
from muxwire.cli.options import AS_JSON, add_verb, of, words_of
from muxwire.cli.printing import FAILED, spoken
from muxwire.errors import InvalidArgument
from muxwire.verbs.catalogue import RunTmuxOperations
from muxwire.vt.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from muxwire.cli.console import Console
    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals
    from muxwire.operations.operation import OperationsResult

# Bytes of a list; the operations that a call takes have room in a hundredth.
_MOST = 64 << 20


def add(verbs: Verbs) -> None:
    add_verb(
        verbs,
        "ops",
        on_terminals(_ops),
        of(
            RunTmuxOperations,
            operations={"flags": ("file",), "metavar": "FILE", "help": "the list, as JSON"},
            on_error={"help": "what to do after a step that fails; default: stop"},
            rollback_on_error={"flags": ("--rollback",)},
        ),
        AS_JSON,
        summary="run a list of tmux operations, checked before anything is sent, with a result for each",
        example="""echo '[{"kind": "new_window"}]' | muxwire ops -""",
        details="FILE holds the list that the tool run_tmux_operations takes, or an object with it as "
        '"operations"; - reads stdin. The exit code is 1 if a step did not succeed.',
    )


async def _ops(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    name = arguments.file
    text = await (console.piped(_MOST) if name == "-" else console.read_file(name, _MOST))
    result = await terminals.run_operations(_operations(name, text), **words_of(RunTmuxOperations, arguments))
    console.tell(arguments, result, _lines(result))
    return 0 if result.succeeded else FAILED


def _operations(name: str, text: bytes) -> Any:  # noqa: ANN401 (JSON)
    name = "standard input" if name == "-" else name
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{name} is not JSON: {error}", remedy='write a list: [{"kind": "new_window"}]') from None
    return found["operations"] if isinstance(found, dict) and set(found) == {"operations"} else found


def _lines(result: OperationsResult) -> Iterator[str]:
    for step in result.steps:
        if result.dry_run:
            yield from map(one_line, step.commands)
            continue
        made = " ".join((step.created_window_id, step.created_pane_id, *step.created_pane_ids)).strip()
        text = " ".join(filter(None, (made, step.stdout or "", spoken(step.error))))
        yield f"{step.index:>3}  {step.status:<9}  {step.kind:<15}  {one_line(text)}".rstrip()
        for line in step.lines or (step.output or "").splitlines():
            yield f"     | {one_line(line)}"
    yield from (f"rolled back: {pane}" for pane in result.rolled_back_panes)
    yield from (f"not undone: {one_line(error)}" for error in result.rollback_errors)
