"""Programs that compute: what shares the processors with what is looked at."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPUTES = "while True: pass"


@contextmanager
def computing(count: int) -> Iterator[None]:
    """That many of them, beside what is done meanwhile."""
    with ExitStack() as ends:
        for _ in range(count):
            # In a session of its own, as programs of other terminals are: the scheduler shares by session.
            process = subprocess.Popen([sys.executable, "-c", COMPUTES], start_new_session=True)
            ends.callback(process.wait)
            ends.callback(process.kill)
        yield
