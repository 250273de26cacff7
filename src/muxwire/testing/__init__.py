"""Doubles for what muxwire talks to, public and held to the same checks as the real thing.

MemoryTransport     a transport in memory: say what tmux says, read what was sent to it
ScriptedTmux        a transport that plays a transcript
RecordingTransport  wraps a transport and writes its transcript
Transcript          a recorded control stream, as values and as a file
open_private_tmux   a real server for one test
"""

from __future__ import annotations

from muxwire.testing.private import Observer, PrivateTmux, open_private_tmux, start_tmux
from muxwire.testing.transcript import Ended, Passed, Received, Sent, Transcript
from muxwire.testing.transports import MemoryTransport, RecordingTransport, ScriptedTmux

__all__ = (
    "Ended", "MemoryTransport", "Observer", "Passed", "PrivateTmux", "Received", "RecordingTransport",
    "ScriptedTmux", "Sent", "Transcript", "open_private_tmux", "start_tmux",
)  # fmt: skip
