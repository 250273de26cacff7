"""Several tmux operations in one call: typed, checked before anything is sent, with a result for each step.

from muxwire import operations as ops
steps = [ops.SplitPane(target="@1", ref="side"), ops.Execute(target=ops.Ref("side"), command="make test")]
result = await terminals.run_operations(steps)
"""

from __future__ import annotations

from muxwire.terminals.operations.kinds import KINDS as KINDS
from muxwire.terminals.operations.kinds import BreakPane as BreakPane
from muxwire.terminals.operations.kinds import CapturePane as CapturePane
from muxwire.terminals.operations.kinds import DisplayMessage as DisplayMessage
from muxwire.terminals.operations.kinds import Execute as Execute
from muxwire.terminals.operations.kinds import JoinPane as JoinPane
from muxwire.terminals.operations.kinds import KillPane as KillPane
from muxwire.terminals.operations.kinds import MakeGrid as MakeGrid
from muxwire.terminals.operations.kinds import NewWindow as NewWindow
from muxwire.terminals.operations.kinds import Operation as Operation
from muxwire.terminals.operations.kinds import Ref as Ref
from muxwire.terminals.operations.kinds import RenameWindow as RenameWindow
from muxwire.terminals.operations.kinds import ResizePane as ResizePane
from muxwire.terminals.operations.kinds import SelectLayout as SelectLayout
from muxwire.terminals.operations.kinds import SelectPane as SelectPane
from muxwire.terminals.operations.kinds import SendKeys as SendKeys
from muxwire.terminals.operations.kinds import SetOption as SetOption
from muxwire.terminals.operations.kinds import ShowOption as ShowOption
from muxwire.terminals.operations.kinds import SplitEvenly as SplitEvenly
from muxwire.terminals.operations.kinds import SplitPane as SplitPane
from muxwire.terminals.operations.kinds import SwapPane as SwapPane
from muxwire.terminals.operations.kinds import WaitFor as WaitFor
from muxwire.terminals.operations.results import Dispatch as Dispatch
from muxwire.terminals.operations.results import OperationsResult as OperationsResult
from muxwire.terminals.operations.results import StepResult as StepResult
