"""The connection: one `tmux -C` process or another transport, its always-draining reader, its callers.

client.py      ControlClient: commands in, pane output and notifications out
pending.py     one command line that waits for its blocks
patience.py    how long it waits for them
unknown.py     output of panes that nobody has claimed yet
forbidden.py   the tmux commands that are never sent, and why
descriptors.py what is kept open, and what is closed when no descriptor is left
transport.py   the seam: what a connection must be able to do
process.py     the `tmux -C` process over pipes
watchdog.py    a script of its own: ends what must not outlive us, also when we are killed
adopted_watchdog.py  another one: closes what we made at a person's tmux server, when we are gone
liveness.py    starts the watchdog and tells it what to end
"""

from __future__ import annotations
