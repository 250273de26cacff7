"""A list of operations is for one machine: that of the tabs it names. What must be known there before it is checked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from muxwire.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.operations.operation import Operation

There = TypeVar("There")
_TARGETS = ("target", "with_", "into")


def on_one_machine(
    operations: Sequence[Operation], split: Callable[[str], tuple[There | None, str]]
) -> tuple[There | None, list[Operation]]:
    """The machine of the tabs that are named (None: this one), and the operations with the names that tabs have there.

    `split` says both of a name. Steps that name no tab go with the others. InvalidArgument for two machines.
    """
    machines: dict[int, There | None] = {}
    found: list[Operation] = []
    for index, operation in enumerate(operations):
        named = {name: getattr(operation, name, None) for name in _TARGETS}
        places = {name: split(target) for name, target in named.items() if isinstance(target, str)}
        for there, _ in places.values():
            machines[index] = machines.get(index, there)
            first, machine = next(iter(machines.items()))
            if there is not machine:
                raise InvalidArgument(
                    f"operations[{first}] and operations[{index}] are for tabs of two machines",
                    remedy="give the tabs of each machine a list of their own",
                )
        found.append(replace(operation, **{name: rest for name, (_, rest) in places.items()}))
    return next(iter(machines.values()), None), found


def programs_and_folders(operations: Sequence[Operation]) -> tuple[list[str], list[str]]:
    """The programs and the directories that new panes are to start with, each once."""
    making = [one for one in operations if one.kind in ("new_window", "split_pane")]
    programs = dict.fromkeys(one.command[0] for one in making if one.command)  # type: ignore[attr-defined]
    folders = dict.fromkeys(one.cwd for one in making if one.cwd)  # type: ignore[attr-defined]
    return list(programs), list(folders)
