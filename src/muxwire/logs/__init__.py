"""What the panes wrote, on disk, by offset: segments, limits, reading, searching. It knows no tab.

1. A log holds the pane's raw bytes, exactly those that `pipe-pane` would have written. Marks are in it; readers cut
   them.
2. An offset never changes: not by rotation, not by a restart. Bytes that were lost are a hole of their size.
3. One thread writes (store.py). The reader of the control connection never waits for it.
4. The file that is written is always `pane-@N.log`. Only a file that no process writes is removed.
5. What tmux itself stored of a named instance's pane while no process wrote its log is a spool (segments.py). It is
   joined to the log at a mark R that both streams contain (instance/stream_join.py).
"""

from __future__ import annotations
