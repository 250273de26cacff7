"""Every notification of tmux 3.2 to 3.7 has one event, and each field is read as it is on the wire."""

from __future__ import annotations

import typing

import pytest

from muxwire.protocol import events
from muxwire.protocol.notifications import READERS, read_notification

# `.It Ic %...` under CONTROL MODE in tmux(1), 3.7c; 3.2 lacks the last four of them.
MANUAL = (
    *("output", "extended-output", "pause", "continue", "exit", "client-detached", "client-session-changed"),
    *("layout-change", "pane-mode-changed", "session-changed", "session-renamed", "session-window-changed"),
    *("sessions-changed", "subscription-changed", "unlinked-window-add", "unlinked-window-close"),
    *("unlinked-window-renamed", "window-add", "window-close", "window-pane-changed", "window-renamed"),
    *("config-error", "message", "paste-buffer-changed", "paste-buffer-deleted"),
)


def class_name(notification: str) -> str:
    return "".join(part.capitalize() for part in notification.split("-"))


def test_events_and_notifications_are_one_to_one() -> None:
    assert sorted(READERS) == sorted(name.encode() for name in MANUAL)
    union = {kind.__name__ for kind in typing.get_args(events.Notification)}
    assert union == {class_name(name) for name in MANUAL}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%output %1 a\\012b", "Output(pane='%1', data=b'a\\nb')"),
        ("%output %1 ", "Output(pane='%1', data=b'')"),
        ("%extended-output %1 1234 : a\\012 : b", "ExtendedOutput(pane='%1', age=1234, data=b'a\\n : b')"),
        ("%extended-output %1 1234 new : a", "ExtendedOutput(pane='%1', age=1234, data=b'a')"),
        ("%pause %1", "Pause(pane='%1')"),
        ("%continue %1 new", "Continue(pane='%1')"),
        ("%exit", "Exit(reason=b'')"),
        ("%exit too far behind", "Exit(reason=b'too far behind')"),
        ("%client-detached /dev/pts/1", "ClientDetached(client=b'/dev/pts/1')"),
        (
            "%client-session-changed client-7 $2 two words",
            "ClientSessionChanged(client=b'client-7', session='$2', name=b'two words')",
        ),
        ("%config-error f:1: no", "ConfigError(text=b'f:1: no')"),
        (
            "%layout-change @1 a,b a,c *Z",
            "LayoutChange(window='@1', layout=b'a,b', visible_layout=b'a,c', flags=b'*Z')",
        ),
        ("%layout-change @1 a,b a,c ", "LayoutChange(window='@1', layout=b'a,b', visible_layout=b'a,c', flags=b'')"),
        ("%layout-change @1 a,b", "LayoutChange(window='@1', layout=b'a,b', visible_layout=b'', flags=b'')"),
        ("%message one  two", "Message(text=b'one  two')"),
        ("%pane-mode-changed %1", "PaneModeChanged(pane='%1')"),
        ("%paste-buffer-changed buffer 1", "PasteBufferChanged(name=b'buffer 1')"),
        ("%paste-buffer-deleted buffer0", "PasteBufferDeleted(name=b'buffer0')"),
        ("%session-changed $1 two words", "SessionChanged(session='$1', name=b'two words')"),
        ("%session-renamed $1 a", "SessionRenamed(session='$1', name=b'a')"),
        ("%session-window-changed $1 @2", "SessionWindowChanged(session='$1', window='@2')"),
        ("%sessions-changed", "SessionsChanged()"),
        (
            "%subscription-changed dead $0 @1 1 %1 : 1 : 7",
            "SubscriptionChanged(name=b'dead', session='$0', window='@1', window_index=1, pane='%1', value=b'1 : 7')",
        ),
        (
            "%subscription-changed s $0 - - - : ",
            "SubscriptionChanged(name=b's', session='$0', window=None, window_index=None, pane=None, value=b'')",
        ),
        ("%unlinked-window-add @1", "UnlinkedWindowAdd(window='@1')"),
        ("%unlinked-window-close @1", "UnlinkedWindowClose(window='@1')"),
        ("%unlinked-window-renamed @1 a b", "UnlinkedWindowRenamed(window='@1', name=b'a b')"),
        ("%window-add @1", "WindowAdd(window='@1')"),
        ("%window-close @1", "WindowClose(window='@1')"),
        ("%window-pane-changed @1 %2", "WindowPaneChanged(window='@1', pane='%2')"),
        ("%window-renamed @1 ", "WindowRenamed(window='@1', name=b'')"),
    ],
)
def test_fields_are_read(line: str, expected: str) -> None:
    assert repr(read_notification(line.encode())) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"%" + name + b" " * (rest != b"") + rest, events.UnknownNotification(name, rest))
        for name, rest in (
            (b"new-in-tmux", b"@1 x"),
            (b"window-add", b""),
            (b"window-add", b"1"),
            (b"window-add", b"@\xff"),
            (b"output", b"%x a"),
            (b"extended-output", b"%1 age : a"),
            (b"extended-output", b"%1 " + b"9" * 5000 + b" : a"),
            (b"subscription-changed", b"s $0 : x"),
        )
    ]
    + [
        (line, None)
        for line in (b"", b"%", b"text", b" %exit", b"%Exit", b"%%exit", b"%1 x", b"%exit\tx", b"%new-in-tmux-9 @1 x")
    ],
)
def test_what_cannot_be_read_is_unknown_and_other_lines_are_no_notifications(line: bytes, expected: object) -> None:
    assert read_notification(line) == expected
