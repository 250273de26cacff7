"""The machine of the panes: processes, terminals, signals, directories, locks.

1. `Host` (host.py) is all that is asked of that machine and done on it. `LocalHost` asks this kernel; another machine
   is one of the package `far`, which is found by its name (elsewhere.py). Callers do not know which it is.
2. What is read of a process is read of one that may have ended, or whose number may have been given to another: a
   process is named by its pid and its start time.
3. A file that holds what was typed, run or printed has the mode 0600, in a directory of the mode 0700.
"""

from __future__ import annotations
