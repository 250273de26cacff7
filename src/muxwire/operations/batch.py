"""The steps that are written to tmux at once, and what is to be done with each answer."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, final

from muxwire.operations.kinds import (
    CapturePane,
    DisplayMessage,
    JoinPane,
    NewWindow,
    Operation,
    Ref,
    RenameWindow,
    ResizePane,
    SelectLayout,
    SelectPane,
    SetOption,
    ShowOption,
    SplitPane,
    SwapPane,
    refs_of,
    targets_of,
)
from muxwire.operations.tmux_commands import Arguments, Place, written
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.pending import Pending
    from muxwire.operations.step import Step
    from muxwire.protocol.events import CommandBlock
    from muxwire.tabs.maker import PaneSpec
    from muxwire.tabs.tab import Tab

# One line is parsed on tmux's only thread, where every pane waits meanwhile: this takes less than 2 ms.
LINE_MAX = 32 << 10
_ID = re.compile(r"[@%][0-9]+\Z")

# What is one tmux command each, so that several can be written at once.
_PLAIN = (
    SplitPane, SelectLayout, SelectPane, RenameWindow, SwapPane, JoinPane, SetOption, ShowOption, DisplayMessage,
    CapturePane,
)  # fmt: skip


@final
@dataclass(slots=True)
class Part:
    """One step of a batch: its commands, of which the last one does it; those before ask how things are now."""

    step: Step
    commands: list[Arguments]
    shown: Arguments
    place: Place | None = None
    other: Place | None = None
    spec: PaneSpec | None = None
    was_called: str = ""
    first: int = 0

    @property
    def renames(self) -> Tab | None:
        """The tab that gets a new name by it."""
        return self.place.tab if isinstance(self.step.operation, RenameWindow) and self.place is not None else None

    def blocks(self, answer: Pending) -> Sequence[CommandBlock]:
        """The blocks that have come for this step, of all that answer its line."""
        return answer.blocks[self.first : self.first + len(self.commands)]


@final
@dataclass(slots=True)
class Batch:
    """Steps of which none needs the result of another."""

    parts: list[Part] = field(default_factory=list)
    _refs: set[str] = field(default_factory=set)
    _size: int = 0
    _moves: bool = False

    def takes(self, operation: Operation) -> bool:
        """Whether a step can be written together with those that are here, and mean the same."""
        if not is_plain(operation):
            return False
        if not self.parts:
            return True
        if self._moves or self._size > LINE_MAX:
            return False
        return all(self._is_known(target) for target in targets_of(operation))

    def _is_known(self, target: str | Ref) -> bool:
        # A name or an index may come to mean something else by what the steps before it do.
        return target.name not in self._refs if isinstance(target, Ref) else _ID.match(target) is not None

    def add(self, part: Part) -> None:
        """Take a step in."""
        self.parts.append(part)
        self._refs.update(refs_of(part.step.operation))
        self._size += sum(len(word) for one in part.commands for word in one)
        self._moves = isinstance(part.step.operation, SwapPane | JoinPane)

    def shown(self, *, chain: bool) -> tuple[str, ...]:
        """The commands as they are written."""
        lines = [written(part.shown) for part in self.parts]
        return (" ; ".join(lines),) if chain else tuple(lines)


def is_plain(operation: Operation) -> bool:
    """Whether it is one tmux command, that tmux answers at once."""
    match operation:
        case NewWindow(session=session):
            return not session
        case ResizePane(zoom=zoom):
            return zoom is None
        case _:
            return isinstance(operation, _PLAIN)
