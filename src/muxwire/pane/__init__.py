"""One live pane: its output as it arrives, what is typed into it, and the commands that run in it.

What the shell does is decided in `shell/` (ShellSession), and so is what is done about it, over a port
(`shell/port.py`), which port.py carries out. What the kernel says of the terminal comes from `host/`. Here all of it
meets the stream.

1. All bytes enter a pane in one place, keyboard.py, by `set-buffer` and `paste-buffer`. `send-keys` is never used:
   copy mode takes such keys, and some of them block the control connection.
2. One command at a time types into a pane (`Runner.turn`).
3. Output is fed once, as it arrives: ring, log, marks, then the calls that wait (stream.py).
4. The result of a command is the bytes between its marks (output.py). Nothing is removed from them but what
   muxwire itself typed or printed, which is known by its marks.
5. An interrupt escalates only while the command has not ended (interrupt.py).
"""

from __future__ import annotations
