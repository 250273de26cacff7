"""Several tmux operations in one call: typed, checked before anything is sent, with a result for each step.

    from muxwire import operations as ops
    steps = [ops.SplitPane(target="@1", ref="side"), ops.Execute(target=ops.Ref("side"), command="make test")]
    result = await terminals.run_operations(steps)

1. A kind of step is one class: its fields, its check, its tmux commands, how it is done, and what a rollback leaves
   of it. panes.py, arrangement.py, settings.py and programs.py have the kinds, lists.py their table.
2. A list is checked as a whole before anything is sent (lists.py). Only a missing target is found later, and fails its
   step, because the target may appear while the list runs.
3. Steps are done one after the other (run.py). To write several at once was tried: it saves 3 ms in 20 steps, of a
   list that takes 50, and needed half as much code again.
4. A step that is given up, because its time is over or its list was cancelled, is finished in a task of its own: tmux
   does what it was sent, and what it makes then is known, or closed again if the list is rolled back.
5. A rollback closes what the list made, and names the steps that it did not undo.
"""

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from muxwire.operations.arrangement import RenameWindow, ResizePane, SelectLayout, SelectPane
    from muxwire.operations.lists import KINDS
    from muxwire.operations.operation import Operation, OperationsResult, Ref, StepResult
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
else:

    def __getattr__(name):  # noqa: ANN001, ANN202
        # Late: a verb of the command line that runs no list need not load its kinds.
        for home in ("lists", "operation"):
            if hasattr(module := importlib.import_module(f"muxwire.operations.{home}"), name):
                return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = (
    "KINDS", "BreakPane", "CapturePane", "DisplayMessage", "Execute", "JoinPane", "KillPane", "MakeGrid",
    "NewWindow", "Operation", "OperationsResult", "Ref", "RenameWindow", "ResizePane", "SelectLayout", "SelectPane",
    "SendKeys", "SetOption", "ShowOption", "SplitEvenly", "SplitPane", "StepResult", "SwapPane", "WaitFor",
)  # fmt: skip
