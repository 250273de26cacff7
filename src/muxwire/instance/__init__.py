"""An instance over time: connecting, reattaching, spools, a person's server.

1. One process has an instance, by an OS lock (tmux/server.py, `Access`).
2. What a pane of a named instance writes while no process is attached is stored by tmux (spools.py), and reaches the
   log exactly once.
3. Notifications that arrive while tabs are reattached wait until all tabs are known (notifications.py).
4. At a person's server (adopted.py) nothing that muxwire did not make is changed, resized or ended.
5. A tmux on another machine is the same server over another transport (far/connection.py); what of its output was
   written without a connection is joined as a spool is (stream_join.py).
"""

from __future__ import annotations
