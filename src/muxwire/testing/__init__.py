"""Doubles for what muxwire talks to, public and held to the same checks as the real thing.

MemoryTransport     a transport in memory: say what tmux says, read what was sent to it
ScriptedTmux        a transport that plays a transcript
RecordingTransport  wraps a transport and writes its transcript
Transcript          a recorded control stream, as values and as a file
open_private_tmux   a real server for one test
SCENARIOS           what any transport to a tmux must pass
"""

from __future__ import annotations

from muxwire.testing.conformance import SCENARIOS as SCENARIOS
from muxwire.testing.conformance import Observer as Observer
from muxwire.testing.memory import MemoryTransport as MemoryTransport
from muxwire.testing.private import (
    PrivateTmux as PrivateTmux,
)
from muxwire.testing.private import (
    open_private_tmux as open_private_tmux,
)
from muxwire.testing.private import (
    start_tmux as start_tmux,
)
from muxwire.testing.recording import RecordingTransport as RecordingTransport
from muxwire.testing.scripted import ScriptedTmux as ScriptedTmux
from muxwire.testing.transcript import (
    Ended as Ended,
)
from muxwire.testing.transcript import (
    Passed as Passed,
)
from muxwire.testing.transcript import (
    Received as Received,
)
from muxwire.testing.transcript import (
    Sent as Sent,
)
from muxwire.testing.transcript import (
    Transcript as Transcript,
)

__all__ = (
    "SCENARIOS",
    "Ended",
    "MemoryTransport",
    "Observer",
    "Passed",
    "PrivateTmux",
    "Received",
    "RecordingTransport",
    "ScriptedTmux",
    "Sent",
    "Transcript",
    "open_private_tmux",
    "start_tmux",
)
