"""The debugging REPL: one prompt on a control connection, and everything that tmux sends, above the prompt.

1. A line is sent as it was typed, in tmux's language, which is not parsed here. A sentinel, a command whose answer is
   known, follows it in the same write: what is answered before the sentinel's answer belongs to the line.
2. What tmux sends is seen by an `Observer` of the transport (client/transport.py): the connection behaves as without
   the REPL.
3. A word that begins with `:` is the REPL's own (session.py).
"""

from __future__ import annotations
