"""Writes numbered lines until a file is there, then `end N`: `python numbered.py LINES-A-SECOND STOP-FILE`.

0 lines a second means as fast as it goes, which is for a while: every line has to be looked at in the end, and on a
busy machine the test takes longer, not the terminal.
"""

from __future__ import annotations

import os
import sys
import time

# So many lines between two looks at the file, and at the clock.
_FLOOD, _STEADY = 500, 10
# A flood is over after so many lines, three seconds of what tmux reads when it has nothing else to do.
_FLOOD_LINES, _AFTERWARDS = 1_000_000, 1000


def main(rate: int, stop: str) -> None:
    number, begun = 0, time.monotonic()
    while number % (_STEADY if rate else _FLOOD) or not os.path.exists(stop):  # noqa: PTH110
        sys.stdout.write(f"{number:012d} so that a line has some length\n")
        number += 1
        if not rate and number == _FLOOD_LINES:
            rate, begun = _AFTERWARDS, time.monotonic() - number / _AFTERWARDS
        if rate and number % _STEADY == 0:
            sys.stdout.flush()
            time.sleep(max(0.0, begun + number / rate - time.monotonic()))
    print("end", number)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
