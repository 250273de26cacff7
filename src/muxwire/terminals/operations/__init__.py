"""Several tmux operations in one call: typed, checked before anything is sent, with a result for each step."""

from __future__ import annotations

from muxwire.terminals.operations.kinds import KINDS as KINDS
from muxwire.terminals.operations.kinds import Operation as Operation
from muxwire.terminals.operations.kinds import Ref as Ref
from muxwire.terminals.operations.results import OperationsResult as OperationsResult
