"""What a terminal gets, as values: bytes in, text, cells and screens out. No clock, no file, no pane.

1. Bytes stay bytes until a text or a screen is made of them: tmux cuts output inside UTF-8 characters.
2. A position is an absolute offset in a pane's output since its log began (ring.py), never an index in a chunk.
3. There is no terminal emulator here. tmux is the emulator of what a screen shows, now and in the past; `cells.py`
   reads what it prints.
4. Escape sequences are read in bytes by `text.py`: where each begins and ends. What needs to know more of them, bells
   or switches of the screen, looks for it in what that gives.
5. The text of an output (readable.py) is what a person would have read: escape sequences removed, and carriage
   returns, backspaces, erasures and cursor moves played by pyte (player.py), which only outputs that need it import.
"""

from __future__ import annotations
