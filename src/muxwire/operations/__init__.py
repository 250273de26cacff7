"""Several tmux operations in one call: typed, checked before anything is sent, with a result for each step.

from muxwire import operations as ops
steps = [ops.SplitPane(target="@1", ref="side"), ops.Execute(target=ops.Ref("side"), command="make test")]
result = await terminals.run_operations(steps)
"""

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from muxwire.operations.kinds import KINDS as KINDS
    from muxwire.operations.kinds import BreakPane as BreakPane
    from muxwire.operations.kinds import CapturePane as CapturePane
    from muxwire.operations.kinds import DisplayMessage as DisplayMessage
    from muxwire.operations.kinds import Execute as Execute
    from muxwire.operations.kinds import JoinPane as JoinPane
    from muxwire.operations.kinds import KillPane as KillPane
    from muxwire.operations.kinds import MakeGrid as MakeGrid
    from muxwire.operations.kinds import NewWindow as NewWindow
    from muxwire.operations.kinds import Operation as Operation
    from muxwire.operations.kinds import Ref as Ref
    from muxwire.operations.kinds import RenameWindow as RenameWindow
    from muxwire.operations.kinds import ResizePane as ResizePane
    from muxwire.operations.kinds import SelectLayout as SelectLayout
    from muxwire.operations.kinds import SelectPane as SelectPane
    from muxwire.operations.kinds import SendKeys as SendKeys
    from muxwire.operations.kinds import SetOption as SetOption
    from muxwire.operations.kinds import ShowOption as ShowOption
    from muxwire.operations.kinds import SplitEvenly as SplitEvenly
    from muxwire.operations.kinds import SplitPane as SplitPane
    from muxwire.operations.kinds import SwapPane as SwapPane
    from muxwire.operations.kinds import WaitFor as WaitFor
    from muxwire.operations.step_results import Dispatch as Dispatch
    from muxwire.operations.step_results import OperationsResult as OperationsResult
    from muxwire.operations.step_results import StepResult as StepResult
else:

    def __getattr__(name):  # noqa: ANN001, ANN202
        # Late: a verb of the command line that runs no list need not load its kinds.
        for home in ("kinds", "step_results"):
            if hasattr(module := importlib.import_module(f"muxwire.operations.{home}"), name):
                return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
