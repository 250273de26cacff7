"""A list of operations before it is run: from JSON, for one machine, and checked as a whole before anything is sent.

JSON has the words of the MCP tool and of `muxwire ops`: every field is checked, unknown ones are refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.operations.arrangement import RenameWindow, ResizePane, SelectLayout, SelectPane
from muxwire.operations.operation import TARGETS, Operation, Ref, Target
from muxwire.operations.panes import (
    BreakPane,
    JoinPane,
    KillPane,
    MakeGrid,
    NewWindow,
    SplitEvenly,
    SplitPane,
    SwapPane,
)
from muxwire.operations.programs import Execute, SendKeys, WaitFor
from muxwire.operations.settings import CapturePane, DisplayMessage, SetOption, ShowOption
from muxwire.verbs.check import check
from muxwire.verbs.describe import all_parameters, json_names
from muxwire.verbs.read import ABSENT, Misfit, read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.host.host import Host

KINDS: Mapping[str, type[Operation]] = {
    one.kind: one
    for one in (
        NewWindow, SplitPane, SplitEvenly, MakeGrid, SendKeys, Execute, WaitFor, ResizePane, SelectLayout, SelectPane,
        RenameWindow, SwapPane, BreakPane, JoinPane, KillPane, SetOption, ShowOption, DisplayMessage, CapturePane,
    )
}  # fmt: skip

# A list is one call's worth of work: its result, a step each, must still be read by a model.
OPERATIONS_MAX = 500

# A target that is the string `ref:NAME` means what `{"ref": NAME}` does, for schemas that have no unions.
_REF = "ref:"

_TOLD = """\
kind(what it must have):
{}
More is optional, as ref:"NAME" where a pane is made, refs, horizontal, enter; new_window takes what create_tab does, \
execute and wait_for what execute_command and wait_for do; a wrong step's error lists all. target, with, into: a tab, \
a pane, or "ref:NAME" of an earlier step. command: argv, in execute a line."""

There = TypeVar("There")


def kinds_in_words() -> str:
    """What a model is told of the kinds: a line each, with what it must have."""
    lines = []
    for kind, made in KINDS.items():
        needed = [name for name, one in json_names(made).items() if one.required]
        lines.append(f"{kind}({', '.join(needed)})")
    return _TOLD.format("\n".join(lines))


def _target(value: object) -> str | Ref:
    if isinstance(value, str):
        return Ref(value.removeprefix(_REF)) if value.startswith(_REF) else value
    if isinstance(value, Mapping) and set(value) == {"ref"} and isinstance(value["ref"], str):
        return Ref(value["ref"])
    raise ValueError('an id or selector, or "ref:NAME"')


def read_operation(given: object, where: str) -> Operation:
    """Return the operation that a JSON object describes. Raises InvalidArgument, whose text begins with `where`."""
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"{where} is not an object", remedy='for example {"kind": "new_window"}')
    kind = given.get("kind")
    made = KINDS.get(kind) if isinstance(kind, str) else None
    if made is None:
        wrong = "kind is missing" if kind is None else f"no operation of kind {kind!r}"
        raise InvalidArgument(f"{where}: {wrong}", remedy=f"use one of {', '.join(KINDS)}")
    known = json_names(made)
    # Several kinds may share a schema, so a model may send fields of another kind: empty ones are ignored.
    said = {name: value for name, value in given.items() if name in known or value not in ABSENT}
    del said["kind"]
    size = said.get("size")
    if "size" in known and known["size"].kind is str and type(size) is int:
        said["size"] = str(size)
    try:
        return read_json(made, said, {Target: _target})
    except Misfit as error:
        raise InvalidArgument(f"{where} ({kind}): {error}", remedy=f"it takes {', '.join(known)}") from None


def read_operations(given: Sequence[Operation | Mapping[str, object]]) -> list[Operation]:
    """Return the operations of a list in which any may be given as JSON; InvalidArgument."""
    if isinstance(given, str | Mapping) or not hasattr(given, "__iter__"):
        raise InvalidArgument(f"operations must be a list, not {given!r}", remedy='as [{"kind": "new_window"}]')
    return [
        one if isinstance(one, Operation) else read_operation(one, f"operations[{index}]")
        for index, one in enumerate(given)
    ]


async def check_list(operations: Sequence[Operation], host: Host, *, adopted: bool = False) -> None:
    """InvalidArgument for the first step that can never work; `adopted`: the tmux server is a person's."""
    if not 1 <= len(operations) <= OPERATIONS_MAX:
        raise InvalidArgument(
            f"a list of {len(operations)} operations", remedy=f"give 1 to {OPERATIONS_MAX} operations"
        )
    made: dict[str, int] = {}
    for index, operation in enumerate(operations):
        try:
            if adopted and not operation.harmless:
                raise InvalidArgument(
                    "this tmux server is a person's: nothing of it is moved, set or ended",
                    remedy=f"here use {', '.join(name for name, kind in KINDS.items() if kind.harmless)}",
                )
            _check_targets(operation, made)
            _check_refs(operation, index, made)
            for one in all_parameters(type(operation)).values():
                if one.kind != Target:
                    check(one, getattr(operation, one.name))
            operation.check(host)
            await operation.check_pattern()
        except MuxwireError as error:
            raise InvalidArgument(f"operations[{index}] ({operation.kind}): {error}", remedy=error.remedy) from None


def _check_targets(operation: Operation, made: Mapping[str, int]) -> None:
    for target in operation.targets:
        if isinstance(target, Ref) and target.name not in made:
            raise InvalidArgument(
                f"no earlier step makes ref {target.name}",
                remedy="name it as `ref` of a step before this one",
            )
        if target == "":
            raise InvalidArgument("a target is empty", remedy="`list_tabs` shows every tab")


def _check_refs(operation: Operation, index: int, made: dict[str, int]) -> None:
    for ref in operation.made_refs:
        if ref in made:
            raise InvalidArgument(f"ref {ref} is made by operations[{made[ref]}] already", remedy="use another name")
        made[ref] = index


def on_one_machine(
    operations: Sequence[Operation], split: Callable[[str], tuple[There, str]]
) -> tuple[There | None, list[Operation]]:
    """The machine of the tabs that are named, if any is, and the operations with the names that tabs have there.

    `split` returns both for one name. Steps that name no tab run where the others do. InvalidArgument for two machines.
    """
    machines: dict[int, There] = {}
    found: list[Operation] = []
    for index, operation in enumerate(operations):
        named = {name: getattr(operation, name, None) for name in TARGETS}
        places = {name: split(target) for name, target in named.items() if isinstance(target, str)}
        for there, _ in places.values():
            machines[index] = machines.get(index, there)
            first, machine = next(iter(machines.items()))
            if there is not machine:
                if first == index:
                    raise InvalidArgument(
                        f"operations[{index}] names tabs of two machines", remedy="name tabs of one machine"
                    )
                raise InvalidArgument(
                    f"operations[{first}] and operations[{index}] are for tabs of two machines",
                    remedy="give the tabs of each machine a list of their own",
                )
        other = {name: rest for name, (_, rest) in places.items() if rest != named[name]}
        found.append(replace(operation, **other) if other else operation)
    return next(iter(machines.values()), None), found


def targets_of(operations: Sequence[Operation]) -> list[str]:
    return [target for one in operations for target in one.targets if isinstance(target, str)]


def programs_and_folders(operations: Sequence[Operation]) -> tuple[list[str], list[str]]:
    """The programs and the directories that new panes are to start with, each once."""
    making = [one for one in operations if isinstance(one, NewWindow | SplitPane)]
    programs = dict.fromkeys(one.command[0] for one in making if one.command)
    folders = dict.fromkeys(os.fspath(one.cwd) for one in making if one.cwd)
    return list(programs), list(folders)
