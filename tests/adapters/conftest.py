"""Small stand-ins for the frameworks, with the types that the adapters use: the real ones need newer Pythons."""

from __future__ import annotations

import sys
from pathlib import Path

STAND_INS = str(Path(__file__).with_name("stand_ins"))
if STAND_INS not in sys.path:
    sys.path.append(STAND_INS)  # last: what is installed counts
