"""From a notification's name to the reader of its fields. To know one more is to add one row.

A reader takes the bytes after the name and returns an event, or raises ValueError: the line then becomes an
UnknownNotification. Names may hold spaces, so they are always the rest of the line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from muxwire import ids
from muxwire.protocol import events
from muxwire.protocol.escaping import unescape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Id = TypeVar("Id")

# What tmux calls a notification: `%`, letters and hyphens. Guards have the same form and are taken out before.
_NOTIFICATION = re.compile(rb"%([a-z][a-z-]*)(?: (.*))?\Z", re.DOTALL)

# A count or an index on the wire; longer is no number of tmux's, and int() refuses to read very long ones.
_NUMBER = re.compile(rb"[0-9]{1,18}\Z")


def read_notification(line: bytes) -> events.Notification | events.UnknownNotification | None:
    """Return the event of one line; None if the line has not a notification's form."""
    match = _NOTIFICATION.match(line)
    if match is None:
        return None
    name, rest = match[1], match[2] or b""
    reader = READERS.get(name)
    if reader is None:
        return events.UnknownNotification(name, rest)
    try:
        return reader(rest)
    except ValueError:
        return events.UnknownNotification(name, rest)


def pane_id(field: bytes) -> ids.PaneId:
    """Return `field` as a pane id; ValueError if it is none."""
    return ids.pane_id(field.decode("ascii"))


def _window_id(field: bytes) -> ids.WindowId:
    return ids.window_id(field.decode("ascii"))


def _session_id(field: bytes) -> ids.SessionId:
    return ids.session_id(field.decode("ascii"))


def _number(field: bytes) -> int:
    if _NUMBER.match(field) is None:
        raise ValueError(f"{field!r} is not a number")
    return int(field)


def _first(rest: bytes) -> bytes:
    """Return the first field; what follows is of a later tmux, and "should be ignored" (tmux(1))."""
    return rest.partition(b" ")[0]


def _pane(kind: Callable[[ids.PaneId], events.Notification]) -> Callable[[bytes], events.Notification]:
    return lambda rest: kind(pane_id(_first(rest)))


def _window(kind: Callable[[ids.WindowId], events.Notification]) -> Callable[[bytes], events.Notification]:
    return lambda rest: kind(_window_id(_first(rest)))


def _named(
    read_id: Callable[[bytes], Id], kind: Callable[[Id, bytes], events.Notification]
) -> Callable[[bytes], events.Notification]:
    def read(rest: bytes) -> events.Notification:
        one, _, name = rest.partition(b" ")
        return kind(read_id(one), name)

    return read


def _output(rest: bytes) -> events.Notification:
    pane, _, data = rest.partition(b" ")
    return events.Output(pane_id(pane), unescape(data))


def _extended_output(rest: bytes) -> events.Notification:
    fields, colon, data = rest.partition(b" : ")
    pane, _, age = fields.partition(b" ")
    if not colon:
        raise ValueError("no data")
    return events.ExtendedOutput(pane_id(pane), _number(_first(age)), unescape(data))


def _client_session_changed(rest: bytes) -> events.Notification:
    # The client's name comes first and is a path or a word, never with a space; the session's may have some.
    client, _, rest = rest.partition(b" ")
    session, _, name = rest.partition(b" ")
    return events.ClientSessionChanged(client, _session_id(session), name)


# window, layout, visible layout and flags; later ones are ignored.
_LAYOUT_FIELDS = 4


def _layout_change(rest: bytes) -> events.Notification:
    fields = rest.split(b" ")[:_LAYOUT_FIELDS]
    window, layout, visible, flags = fields + [b""] * (_LAYOUT_FIELDS - len(fields))
    return events.LayoutChange(_window_id(window), layout, visible, flags)


def _session_window_changed(rest: bytes) -> events.Notification:
    session, _, rest = rest.partition(b" ")
    return events.SessionWindowChanged(_session_id(session), _window_id(_first(rest)))


def _window_pane_changed(rest: bytes) -> events.Notification:
    window, _, rest = rest.partition(b" ")
    return events.WindowPaneChanged(_window_id(window), pane_id(_first(rest)))


# name, session, window, window index, pane. tmux writes `-` for one that does not apply.
_SUBSCRIPTION_FIELDS = 5


def _subscription_changed(rest: bytes) -> events.Notification:
    fields, colon, value = rest.partition(b" : ")
    parts = fields.split(b" ")
    if not colon or len(parts) < _SUBSCRIPTION_FIELDS:
        raise ValueError("fields are missing")
    name, session, window, index, pane = parts[:_SUBSCRIPTION_FIELDS]
    return events.SubscriptionChanged(
        name,
        None if session == b"-" else _session_id(session),
        None if window == b"-" else _window_id(window),
        None if index == b"-" else _number(index),
        None if pane == b"-" else pane_id(pane),
        value,
    )


READERS: Mapping[bytes, Callable[[bytes], events.Notification]] = {
    b"output": _output,
    b"extended-output": _extended_output,
    b"pause": _pane(events.Pause),
    b"continue": _pane(events.Continue),
    b"exit": events.Exit,
    b"client-detached": events.ClientDetached,
    b"client-session-changed": _client_session_changed,
    b"config-error": events.ConfigError,
    b"layout-change": _layout_change,
    b"message": events.Message,
    b"pane-mode-changed": _pane(events.PaneModeChanged),
    b"paste-buffer-changed": events.PasteBufferChanged,
    b"paste-buffer-deleted": events.PasteBufferDeleted,
    b"session-changed": _named(_session_id, events.SessionChanged),
    b"session-renamed": _named(_session_id, events.SessionRenamed),
    b"session-window-changed": _session_window_changed,
    b"sessions-changed": lambda _rest: events.SessionsChanged(),
    b"subscription-changed": _subscription_changed,
    b"unlinked-window-add": _window(events.UnlinkedWindowAdd),
    b"unlinked-window-close": _window(events.UnlinkedWindowClose),
    b"unlinked-window-renamed": _named(_window_id, events.UnlinkedWindowRenamed),
    b"window-add": _window(events.WindowAdd),
    b"window-close": _window(events.WindowClose),
    b"window-pane-changed": _window_pane_changed,
    b"window-renamed": _named(_window_id, events.WindowRenamed),
}
