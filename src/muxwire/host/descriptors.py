"""How many files this process may open: room is made at the start, so that nothing has to be closed for another file.

A process may have 1,024 descriptors by default, sometimes 64, and what else uses them is not known.
"""

from __future__ import annotations

import resource
from contextlib import suppress
from typing import Final

# For the logs, for what each tab and each machine needs besides, and for a program that uses the library.
_OURS: Final = 768


def make_room(files: int = 0) -> None:
    """Raise this process's soft limit so that `files` can be open besides muxwire's own, as far as the hard one allows.

    The soft limit is usually 1,024 for the sake of programs that use select(2); the hard one is far above.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files + _OURS
    if soft == resource.RLIM_INFINITY or wanted <= soft:
        return
    with suppress(OSError, ValueError):  # then it is refused where a file is opened
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
