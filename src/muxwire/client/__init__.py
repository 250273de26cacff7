"""The connection to one tmux server: a transport, its reader, and the callers that wait for answers.

1. The reader drains the transport at all times. What it calls must not wait: no disk, no screen, no MCP client.
   tmux discards a control client that is 300 s behind, and its flow control loses output.
2. Commands are answered in the order in which they were written; `Pending` is one line that waits for its blocks.
3. Commands that crash a server in use, freeze it, or break the count of answers are refused (forbidden.py).
4. `tmux -C` ends with this process: SIGKILL of its driver would otherwise freeze every pane (watchdog.py).
5. A tmux that is stopped closes nothing and says nothing. Each caller has a limit of its own (`Patience`), and a late
   answer still counts.
6. What was sent over a connection that is lost fails. Over a network it waits, and what tmux had not run goes again
   (far/resending.py).
7. The transport is a byte stream: `tmux -C` here, a program that reaches another machine (far/transport.py), or a
   double in memory (tests/doubles).
"""

from __future__ import annotations
