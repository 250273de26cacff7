"""C-c before anything has begun that would have to be undone: the signal ends this process, as it ends any program.

Python turns SIGINT into a KeyboardInterrupt. While modules are imported that cannot be relied on: raised while a class
is being made, it comes out as a RuntimeError.
"""

from __future__ import annotations

import signal


def end_by_them() -> None:
    """Have C-c end this process. If its parent had SIGINT ignored, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def raise_them() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
