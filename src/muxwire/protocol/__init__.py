"""The wire: tmux control mode as bytes in, events out, commands to bytes. No clock, no file, no await.

control.py       ControlProtocol, the one door: send_command, receive_data, receive_eof, events_received
correlation.py   which block answers which command, as numbered rules
events.py        one frozen value per thing that tmux can say
notifications.py the table from a notification's name to the reader of its fields
commands.py      arguments to exactly one line of bytes
quoting.py       one argument as tmux's parser reads it back, byte for byte
escaping.py      the octal escapes inside %output
lines.py         bytes to complete lines, bounded
"""

from __future__ import annotations
