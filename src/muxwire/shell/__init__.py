"""The shells we integrate with: how each is started, and how one command is run in it between marks."""

from __future__ import annotations

from muxwire.shell.foreign import foreign_end, foreign_wrap, probe
from muxwire.shell.shell import CLEAR_LINE, CLEAR_TYPED, WRAPPERS, Launch, Shell, Wrapped
from muxwire.shell.supervisor import SUPERVISOR, supervisor_argv
from muxwire.shell.table import TYPED_LINES

__all__ = (
    "CLEAR_LINE",
    "CLEAR_TYPED",
    "SUPERVISOR",
    "TYPED_LINES",
    "WRAPPERS",
    "Launch",
    "Shell",
    "Wrapped",
    "foreign_end",
    "foreign_wrap",
    "probe",
    "supervisor_argv",
)
