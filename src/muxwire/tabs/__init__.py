"""Tabs: windows that muxwire made or adopted. How they are made, named, found, waited for, listed and closed.

1. A tab is known by its window id. Names, sessions and positions are looked up (targets.py).
2. A tab begins in maker.py, and is remembered in book.py until it is closed and its log is complete.
3. What the next process must know of a tab is in files of the tab's directory (record.py).
4. Waits are evaluated as bytes arrive; in silence it is looked whether the program asks something (waits.py).
5. An event is recorded when the mark, the byte or the notification arrives that shows it (tab_events.py).
"""

from __future__ import annotations
