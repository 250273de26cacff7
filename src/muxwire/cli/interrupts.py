"""C-c while nothing has begun that would have to be undone: it ends us, as it ends any program.

Python makes an exception of SIGINT. While modules are imported no code can be trusted with it: where a class is being
made, it comes out as a RuntimeError.
"""

from __future__ import annotations

import signal


def end_by_them() -> None:
    """Have C-c end us; who starts us may have it ignored, and that stays."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def raise_them() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
