"""Terminals that agents and people can trust, over one tmux control-mode connection."""

# General layout, the lowest layer first. Imports go to lower layers only; FLOORS in tests/house/test_imports.py has the
# exact order:
#   ids, errors, results       names, failures, what the library returns
#   verbs/                     one description of each verb, for the front ends and all that checks arguments
#   protocol/, vt/, shell/     bytes in, values out: no clock, no file, no await
#   host/, client/, logs/      the machine of the panes, the connection to tmux, what is kept of output
#   tmux/, pane/, tabs/        the server, one living pane, the tabs
#   instance/, operations/     an instance over time, lists of typed steps
#   library/, sync/            Terminals and how they are opened, blocking twins
#   far/                       other machines, which nothing imports
#   adapters/, testing/        the interfaces of agent frameworks, fixtures for pytest
#   mcp/, cli/, repl/, demo    the front ends, which do not know each other
from __future__ import annotations

import importlib
import typing

from muxwire.errors import (
    AmbiguousTarget,
    CommandError,
    ConnectionClosed,
    ForbiddenCommand,
    HostUnavailable,
    InstanceUnavailable,
    InvalidArgument,
    LocalProtocolError,
    MuxwireError,
    NoSuchTarget,
    NotPermitted,
    ProtocolError,
    RemoteProtocolError,
    TabUnavailable,
    TmuxSilent,
    TmuxUnavailable,
)

if typing.TYPE_CHECKING:
    from muxwire import operations as operations
    from muxwire.far.carriers import Carrier
    from muxwire.library.opening import open_terminals, start
    from muxwire.library.terminals import Terminals
    from muxwire.results import (
        Cursor,
        ExecutionResult,
        KeysSent,
        LogChunk,
        LogTail,
        ProcessStart,
        ProcessStop,
        SessionInfo,
        Snapshot,
        State,
        TabInfo,
        TabList,
        WaitOutcome,
    )
    from muxwire.tabs.event_log import EventBatch, TabEvent
    from muxwire.tabs.tab import Tab

__version__ = "0.1.0.dev0"

__all__ = (
    "AmbiguousTarget", "Carrier", "CommandError", "ConnectionClosed", "Cursor", "EventBatch", "ExecutionResult",
    "ForbiddenCommand", "HostUnavailable", "InstanceUnavailable", "InvalidArgument", "KeysSent", "LocalProtocolError",
    "LogChunk", "LogTail", "MuxwireError", "NoSuchTarget", "NotPermitted", "ProcessStart", "ProcessStop",
    "ProtocolError", "RemoteProtocolError", "SessionInfo", "Snapshot", "State", "Tab", "TabEvent", "TabInfo", "TabList",
    "TabUnavailable", "Terminals", "TmuxSilent", "TmuxUnavailable", "WaitOutcome", "open_terminals", "start",
)  # fmt: skip

# The rest is imported when it is first asked for: `muxwire attach` and shell completion need none of it, and importing
# it takes ten times as long as what they need.
_LATE = (
    "muxwire.results",
    "muxwire.tabs.event_log",
    "muxwire.library.opening",
    "muxwire.tabs.tab",
    "muxwire.library.terminals",
    "muxwire.far.carriers",  # last, as it may not be there
)

if not typing.TYPE_CHECKING:  # a type checker would accept every name of the module

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name == "operations":
            return importlib.import_module("muxwire.operations")
        if name in __all__:
            for home in _LATE:
                if hasattr(module := importlib.import_module(home), name):
                    return globals().setdefault(name, getattr(module, name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():  # noqa: ANN202
        return sorted({*__all__, "operations"})
