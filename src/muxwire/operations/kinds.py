"""The kinds of operations, by name. Times are seconds.

A target is an id or selector as everywhere (`@3`, `%5`, `build`), or `Ref("name")`: the pane that an earlier step made
under that name. Raw tmux commands are no operations, so what is not here cannot be done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.operations.arranging import RenameWindow, ResizePane, SelectLayout, SelectPane, SwapPane
from muxwire.operations.input import Execute, SendKeys, WaitFor
from muxwire.operations.options import CapturePane, DisplayMessage, SetOption, ShowOption
from muxwire.operations.panes import BreakPane, JoinPane, KillPane, MakeGrid, NewWindow, SplitEvenly, SplitPane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.operations.operation import Operation

KINDS: Mapping[str, type[Operation]] = {
    one.kind: one
    for one in (
        NewWindow, SplitPane, SplitEvenly, MakeGrid, SendKeys, Execute, WaitFor, ResizePane, SelectLayout, SelectPane,
        RenameWindow, SwapPane, BreakPane, JoinPane, KillPane, SetOption, ShowOption, DisplayMessage, CapturePane,
    )
}  # fmt: skip
