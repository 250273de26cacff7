"""Everything that tmux can say in control mode, one value each, which nobody changes.

A class is named as its notification is: `%window-add` is WindowAdd. Four are no notifications of tmux: CommandBlock (a
reply), UnknownNotification, StrayLine (text outside any block: late errors and output of hooks) and ConnectionLost (the
stream ended without %exit). Names and texts stay bytes: tmux does not promise UTF-8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

if TYPE_CHECKING:
    from muxwire.ids import PaneId, SessionId, WindowId
    from muxwire.protocol.commands import Command

# A pane in a layout: WIDTHxHEIGHT,X,Y,NUMBER. What holds other panes has a bracket after Y.
_PANE = re.compile(rb"([0-9]+)x([0-9]+),[0-9]+,[0-9]+,([0-9]+)(?![0-9x])")


# Not frozen: some fifteen such values are made for each command, and to make a frozen one takes three times as long.
@final
@dataclass(slots=True)
class Output:
    """Bytes that a pane wrote. Lines of one pane that follow each other in one read come as one event."""

    pane: PaneId
    data: bytes


@final
@dataclass(frozen=True, slots=True)
class ExtendedOutput:
    """As Output, for a client with pause-after; `age` is how many milliseconds the bytes waited in tmux."""

    pane: PaneId
    age: int
    data: bytes


@final
@dataclass(frozen=True, slots=True)
class Pause:
    """The pane's output is held back; what was queued is lost."""

    pane: PaneId


@final
@dataclass(frozen=True, slots=True)
class Continue:
    """The pane's output flows again, from now."""

    pane: PaneId


@final
@dataclass(frozen=True, slots=True)
class Exit:
    """The control client is about to end; `reason` is often empty."""

    reason: bytes


@final
@dataclass(frozen=True, slots=True)
class ClientDetached:
    """Another client has detached."""

    client: bytes


@final
@dataclass(frozen=True, slots=True)
class ClientSessionChanged:
    """Another client now shows `session`."""

    client: bytes
    session: SessionId
    name: bytes


@final
@dataclass(frozen=True, slots=True)
class ConfigError:
    """A line of tmux's configuration failed (3.4)."""

    text: bytes


@final
@dataclass(frozen=True, slots=True)
class LayoutChange:
    """A window's panes were added, removed or resized; absent fields are empty (tmux below 2.2 or 3.2)."""

    window: WindowId
    layout: bytes
    visible_layout: bytes
    flags: bytes

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """The columns and rows of each pane; one that is zoomed has what is visible, the others keep their size."""
        found = _PANE.findall(self.layout) + _PANE.findall(self.visible_layout)
        return {f"%{int(number)}": (int(columns), int(rows)) for columns, rows, number in found}


@final
@dataclass(frozen=True, slots=True)
class Message:
    """Text of display-message without -p (3.4)."""

    text: bytes


@final
@dataclass(frozen=True, slots=True)
class PaneModeChanged:
    """A pane entered or left copy mode or another mode."""

    pane: PaneId


@final
@dataclass(frozen=True, slots=True)
class PasteBufferChanged:
    """A paste buffer was set (3.4)."""

    name: bytes


@final
@dataclass(frozen=True, slots=True)
class PasteBufferDeleted:
    """A paste buffer is gone (3.4)."""

    name: bytes


@final
@dataclass(frozen=True, slots=True)
class SessionChanged:
    """Our client now shows `session`."""

    session: SessionId
    name: bytes


@final
@dataclass(frozen=True, slots=True)
class SessionRenamed:
    """A session has a new name. The id is on the wire, though not in the manual page."""

    session: SessionId
    name: bytes


@final
@dataclass(frozen=True, slots=True)
class SessionWindowChanged:
    """A session's current window is now `window`."""

    session: SessionId
    window: WindowId


@final
@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """A session was made or destroyed."""


@final
@dataclass(frozen=True, slots=True)
class SubscriptionChanged:
    """The format of a subscription (refresh-client -B) has a new value; absent parts are None."""

    name: bytes
    session: SessionId | None
    window: WindowId | None
    window_index: int | None
    pane: PaneId | None
    value: bytes


@final
@dataclass(frozen=True, slots=True)
class UnlinkedWindowAdd:
    """A window was made outside this client's session."""

    window: WindowId


@final
@dataclass(frozen=True, slots=True)
class UnlinkedWindowClose:
    """A window is gone; also sent for one of our session that really died."""

    window: WindowId


@final
@dataclass(frozen=True, slots=True)
class UnlinkedWindowRenamed:
    """A window outside this client's session has a new name."""

    window: WindowId
    name: bytes


@final
@dataclass(frozen=True, slots=True)
class WindowAdd:
    """A window was linked to this client's session."""

    window: WindowId


@final
@dataclass(frozen=True, slots=True)
class WindowClose:
    """A link to a window is gone; the window itself may live on in our session."""

    window: WindowId


@final
@dataclass(frozen=True, slots=True)
class WindowPaneChanged:
    """A window's active pane is now `pane`."""

    window: WindowId
    pane: PaneId


@final
@dataclass(frozen=True, slots=True)
class WindowRenamed:
    """A window of this client's session has a new name."""

    window: WindowId
    name: bytes


@final
@dataclass(slots=True)
class CommandBlock:
    """A whole reply. `command` is the one sent, or None if tmux ran it by itself (start-up, hooks).

    `index` counts the blocks of one command line; `last` says that the line is answered.
    """

    time: int
    number: int
    flags: int
    output: tuple[bytes, ...]
    error: bool
    command: Command | None
    index: int
    last: bool


@final
@dataclass(frozen=True, slots=True)
class UnknownNotification:
    """A notification that this version does not know, or whose fields it cannot read."""

    name: bytes
    rest: bytes


@final
@dataclass(frozen=True, slots=True)
class StrayLine:
    """A line outside any block that is no notification."""

    line: bytes


@final
@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The stream ended without %exit."""


Notification: TypeAlias = (
    Output
    | ExtendedOutput
    | Pause
    | Continue
    | Exit
    | ClientDetached
    | ClientSessionChanged
    | ConfigError
    | LayoutChange
    | Message
    | PaneModeChanged
    | PasteBufferChanged
    | PasteBufferDeleted
    | SessionChanged
    | SessionRenamed
    | SessionWindowChanged
    | SessionsChanged
    | SubscriptionChanged
    | UnlinkedWindowAdd
    | UnlinkedWindowClose
    | UnlinkedWindowRenamed
    | WindowAdd
    | WindowClose
    | WindowPaneChanged
    | WindowRenamed
)
Event: TypeAlias = Notification | CommandBlock | UnknownNotification | StrayLine | ConnectionLost
