"""Blocking twins of the library, for programs without an event loop.

    import muxwire.sync

    with muxwire.sync.open_terminals() as terminals:
        tab = terminals.create_tab()
        print(tab.execute("ls").output, end="")

Every call waits for its answer. All run in one event loop, in a thread of its own (`loop.py`), so they may come from
several threads, from a notebook's cell, and from inside another event loop (which they hold up). C-c interrupts the
command that is waited for, and leaves the tab ready. What is open is closed when the program ends.
"""

from __future__ import annotations

from muxwire.sync.twins import Tab as Tab, Terminals as Terminals, open_terminals as open_terminals

__all__ = ("Tab", "Terminals", "open_terminals")
