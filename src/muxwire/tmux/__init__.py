"""The tmux server of an instance: its program, configuration, start and sessions. It knows no tab.

One server for each instance, on its own socket, without the user's configuration. Every tab is a window of one
session, the hub, which also holds a keeper window: so one control client receives the output of every pane, and any
window may end without ending the session. Further sessions hold links to windows of the hub.

A process that starts a server, or attaches to one, holds the start lock of the instance: two `new-session -A` at once
can leave a server without a socket.

What is asked about a screen, and what is made of the answer, is in `screens.py`. Screens of the past are drawn by other
servers, private ones that live for a moment (`past.py`).
"""

from __future__ import annotations
