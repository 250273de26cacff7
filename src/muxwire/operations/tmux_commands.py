"""The tmux command of each operation that is one command: arguments only, none of which tmux expands or splits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from muxwire.operations.kinds import (
    CapturePane,
    DisplayMessage,
    JoinPane,
    NewWindow,
    Operation,
    RenameWindow,
    ResizePane,
    SelectLayout,
    SelectPane,
    SetOption,
    ShowOption,
    SplitPane,
    SwapPane,
)
from muxwire.protocol.commands import command
from muxwire.tabs.maker import PANE_FORMAT, window_name
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.tabs.tab import Tab

Arguments = tuple[str, ...]

_SCOPE_FLAG: Mapping[str, Arguments] = {"server": ("-s",), "session": (), "window": ("-w",), "pane": ("-p",)}
# A pane's program as dispatches show it: the supervisor's text is the same for all, and holds the pane's nonce.
SHELL_SHOWN = "<shell>"


@final
@dataclass(frozen=True, slots=True)
class Place:
    """What a target stands for: tmux's ids of the pane and its session, and its tab; None in a dry run."""

    pane: str
    session: str
    tab: Tab | None = None


def command_of(operation: Operation, place: Place | None, other: Place | None) -> Arguments | None:
    """The arguments of the one command that does it; None if it takes more than one, or more than tmux."""
    pane = place.pane if place is not None else ""
    match operation:
        case SetOption() | ShowOption():
            return _option(operation, place)
        case DisplayMessage(format=text):
            return ("display-message", "-p", *(("-t", pane) if pane else ()), "--", text)
        case ResizePane(zoom=None, width=width, height=height):
            sides = (("-x", width), ("-y", height))
            given = (word for flag, side in sides if side is not None for word in (flag, str(side)))
            return ("resize-pane", "-t", pane, *given)
        case SelectLayout(layout=layout):
            return ("select-layout", "-t", pane, layout)
        case SelectPane():
            return ("select-pane", "-t", pane)
        case RenameWindow(name=name):
            return ("rename-window", "-t", pane, "--", window_name(name))
        case SwapPane() if other is not None:
            return ("swap-pane", "-d", "-s", pane, "-t", other.pane)
        case JoinPane(horizontal=horizontal) if other is not None:
            return ("join-pane", "-d", *(("-h",) if horizontal else ()), "-s", pane, "-t", other.pane)
        case CapturePane():
            return ("capture-pane", "-p", *row_range(operation), "-t", pane)
        case _:
            return None


def row_range(operation: CapturePane) -> Arguments:
    """Which rows are captured."""
    rows = (("-S", operation.start), ("-E", operation.end))
    return tuple(word for flag, row in rows if row is not None for word in (flag, str(row)))


def _option(operation: SetOption | ShowOption, place: Place | None) -> Arguments:
    flags = (*_SCOPE_FLAG[operation.scope], *(("-g",) if operation.global_ else ()))
    where: Arguments = ()
    if place is not None and not operation.global_ and operation.scope != "server":
        where = ("-t", place.session if operation.scope == "session" else place.pane)
    if isinstance(operation, SetOption):
        return ("set-option", *flags, *where, "--", operation.option, operation.value)
    # A user option that is not set is no error; a name that tmux does not know is.
    quiet = ("-q",) if operation.option.startswith("@") else ()
    return ("show-options", "-v", *quiet, *flags, *where, "--", operation.option)


def split_flags(operation: SplitPane) -> Arguments:
    """How a pane is split."""
    return (*(("-h",) if operation.horizontal else ()), *(("-l", operation.size) if operation.size else ()))


def shown_birth(operation: NewWindow | SplitPane, place: Place | None, cwd: str) -> Arguments:
    """The command that makes a pane, with its program shortened."""
    program = operation.command or (SHELL_SHOWN,)
    settings = [word for pair in operation.env.items() for word in ("-e", "=".join(pair))]
    tail = (*(("-c", cwd) if cwd else ()), *settings, "--", *program)
    if isinstance(operation, SplitPane):
        assert place is not None
        return ("split-window", "-d", "-P", "-F", PANE_FORMAT, "-t", place.pane, *split_flags(operation), *tail)
    named = ("-n", window_name(operation.name)) if operation.name else ()
    return ("new-window", "-d", "-P", "-F", PANE_FORMAT, *named, *tail)


def written(arguments: Sequence[str]) -> str:
    """A command as it is written to tmux."""
    return command(*arguments).line.decode("ascii", "replace")


def folder_of(tab: Tab) -> str:
    """The folder that a pane beside this one starts in; "" if it is gone."""
    return tab.cwd if tab.cwd and Path(tab.cwd).is_dir() else ""
