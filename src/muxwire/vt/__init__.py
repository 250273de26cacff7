"""What a terminal gets, as values: bytes in, text, cells and screens out. No clock, no file, no pane.

1. Bytes stay bytes until a text or a screen is made of them: tmux cuts output inside UTF-8 characters.
2. A position is an absolute offset in a pane's output since its log began (ring.py), never an index in a chunk.
3. There is no terminal emulator here. tmux is the emulator of what lives: `cells.py` reads what it prints. pyte is the
   emulator of what has passed, in `replay.py` alone, with what tmux does and pyte does not.
4. The text of an output (readable.py) is what a person would have read: escape sequences removed, and carriage
   returns, backspaces, erasures and cursor moves played.
5. pyte takes long to import, so only functions that play something import `replay.py`.
"""

from __future__ import annotations
