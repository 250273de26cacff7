"""The whole list is checked before anything of it is sent: the values of each step, and refs between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.operations.kinds import KINDS
from muxwire.operations.operation import Ref

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.host.host import Host
    from muxwire.operations.operation import Operation

# A list is one call's worth of work: its result, a step each, must still be read by a model.
OPERATIONS_MAX = 500
_REF = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


def check_list(operations: Sequence[Operation], host: Host, *, adopted: bool = False) -> None:
    """InvalidArgument for the first step that can never work; `adopted`: the tmux server is a person's."""
    if not 1 <= len(operations) <= OPERATIONS_MAX:
        raise InvalidArgument(
            f"a list of {len(operations)} operations", remedy=f"give 1 to {OPERATIONS_MAX} operations"
        )
    coming = {ref: index for index, one in reversed(list(enumerate(operations))) for ref in one.made_refs}
    made: dict[str, int] = {}
    for index, operation in enumerate(operations):
        try:
            if adopted and not operation.harmless:
                raise InvalidArgument(
                    "this tmux server is a person's: nothing of it is moved, set or ended",
                    remedy=f"here use {', '.join(name for name, kind in KINDS.items() if kind.harmless)}",
                )
            _check_targets(operation, index, made, coming)
            _check_refs(operation, index, made)
            operation.check(host)
        except MuxwireError as error:
            raise InvalidArgument(f"operations[{index}] ({operation.kind}): {error}", remedy=error.remedy) from None


def _check_targets(operation: Operation, index: int, made: Mapping[str, int], coming: Mapping[str, int]) -> None:
    for target in operation.targets:
        if isinstance(target, Ref) and target.name not in made:
            later = coming.get(target.name)
            if later is None or later == index:
                raise InvalidArgument(
                    f"unknown ref: {target.name}", remedy="name it as `ref` of an earlier step that makes a pane"
                )
            raise InvalidArgument(
                f"ref {target.name} is only made by operations[{later}]", remedy="put that step before this one"
            )
        if target == "":
            raise InvalidArgument("a target is empty", remedy="list_tabs shows every tab")


def _check_refs(operation: Operation, index: int, made: dict[str, int]) -> None:
    for ref in operation.made_refs:
        if not _REF.match(ref):
            raise InvalidArgument(f"{ref!r} is no name of a ref", remedy="use letters, digits, '_', '-' and '.'")
        if ref in made:
            raise InvalidArgument(f"ref {ref} is made by operations[{made[ref]}] already", remedy="use another name")
        made[ref] = index
