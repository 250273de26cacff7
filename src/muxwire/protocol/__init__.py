"""tmux's control mode without I/O: bytes in, events out, commands to bytes.

`ControlProtocol` (control.py) is the connection. `receive_data` takes bytes that may be cut anywhere,
`events_received` returns values that nobody changes (events.py), `send_command` returns the line to write. Nothing
that tmux sends raises. The package knows no clock, no file and no pane of muxwire's.

Rules (tmux(1) CONTROL MODE; control.c, control-notify.c, cmd-queue.c):

1. tmux answers per command, not per line: `a ; b` gives two blocks. If `a` fails, `b` is dropped without a block. So
   a line holds one command, or a list whose number of answers is counted.
2. Blocks of this client's commands carry the flag 1; the start-up block and those of hooks carry 0. Only blocks with
   the flag 1 answer a line.
3. A block ends only on %end or %error with its own time, number and flags. Every other line is its body.
4. An empty line detaches the client, and a comment gives no block. Both are refused.
5. %end does not mean that the command has done its work: `wait-for` closes its block and then holds up all later
   commands. Commands that wait are refused (client/forbidden.py). An error that comes late, outside of a block, is an
   event.
6. A notification that a command itself causes (`refresh-client -A` has %pause) stands inside its block, as its text.
7. Of a pane's output only bytes below 0x20 and the backslash are escaped. All else is raw, invalid UTF-8 included.
8. When an answer begins, all output that the server had read before has arrived. Output of a new pane can come before
   the answer that holds its id.
"""

from __future__ import annotations
