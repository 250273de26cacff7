"""Several tmux operations in one call: typed, checked before anything is sent, with a result for each step.

    from muxwire import operations as ops
    steps = [ops.SplitPane(target="@1", ref="side"), ops.Execute(target=ops.Ref("side"), command="make test")]
    result = await terminals.run_operations(steps)

1. A kind of step is one class (kinds.py): its fields, its check, its tmux commands, and what a rollback closes of it.
2. A list is checked as a whole before anything is sent (lists.py). Only a missing target is found later, and fails its
   step, because the target may appear while the list runs.
3. tmux drops what follows an error in a line. So a list that stops at an error is one line, and each step keeps a
   result of its own; with `continue`, each step is a line of its own, in one write (run_list.py).
4. A step that needs the pane of an earlier step begins the next write.
5. A rollback closes what the list made, and names the steps that it did not undo.
"""

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from muxwire.operations.kinds import (
        BreakPane,
        CapturePane,
        DisplayMessage,
        Execute,
        JoinPane,
        KillPane,
        MakeGrid,
        NewWindow,
        RenameWindow,
        ResizePane,
        SelectLayout,
        SelectPane,
        SendKeys,
        SetOption,
        ShowOption,
        SplitEvenly,
        SplitPane,
        SwapPane,
        WaitFor,
    )
    from muxwire.operations.lists import KINDS
    from muxwire.operations.operation import Dispatch, Operation, OperationsResult, Ref, StepResult
else:

    def __getattr__(name):  # noqa: ANN001, ANN202
        # Late: a verb of the command line that runs no list need not load its kinds.
        for home in ("lists", "operation"):
            if hasattr(module := importlib.import_module(f"muxwire.operations.{home}"), name):
                return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = (
    "KINDS", "BreakPane", "CapturePane", "Dispatch", "DisplayMessage", "Execute", "JoinPane", "KillPane", "MakeGrid",
    "NewWindow", "Operation", "OperationsResult", "Ref", "RenameWindow", "ResizePane", "SelectLayout", "SelectPane",
    "SendKeys", "SetOption", "ShowOption", "SplitEvenly", "SplitPane", "StepResult", "SwapPane", "WaitFor",
)  # fmt: skip
