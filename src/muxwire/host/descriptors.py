"""Files that are kept open because to open them anew takes long, and a spare descriptor for when there is no other.

A process may have 1,024 descriptors by default, sometimes 64, and what else uses them is not known. So the files are
few, the one used longest ago is closed first, and with no descriptor left they are closed before anything fails: to
examine the kernel's account of a pane, to write what its shell reads, and to close it takes one for a moment.
"""

from __future__ import annotations

import errno
import os
import resource
import threading
from collections import OrderedDict
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Result = TypeVar("_Result")

# Enough that no tab in use opens its files anew.
_KEPT_MAX = 256
# One part in so many of the limit: the logs keep as many open, and the rest is for a program that uses the library and
# for what is opened for a moment.
_SHARE = 8
_KEPT_MIN = 4
# So many times _KEPT_MAX: for the logs, for the files that are kept here, and for a program that uses the library.
_BESIDE = 3


def kept_max() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _KEPT_MAX if soft == resource.RLIM_INFINITY else min(_KEPT_MAX, max(_KEPT_MIN, soft // _SHARE))


def make_room(files: int) -> None:
    """Raise this process's soft limit so that `files` can be open besides muxwire's own, as far as the hard one allows.

    The soft limit is usually 1,024 for the sake of programs that use select(2); the hard one is far above.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files + _BESIDE * _KEPT_MAX
    if soft == resource.RLIM_INFINITY or wanted <= soft:
        return
    with suppress(OSError, ValueError):  # then it is refused where a file is opened
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )


class Kept(Protocol):
    """What keeps a file open."""

    def let_go(self) -> bool:
        """Close it, to be opened again when needed; False if that cannot be now."""


@final
class Descriptors(threading.local):
    """The descriptors of this process that may be given up; each thread has its own."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Kept, None] = OrderedDict()
        self._instances = 0
        self._spare: int | None = None

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Have a spare descriptor for as long as the block lasts."""
        self._instances += 1
        self._reserve()
        try:
            yield
        finally:
            self._instances -= 1
            if not self._instances:
                self._give_spare()

    def keep(self, file: Kept) -> None:
        """Note that `file`, which stays open, was just used: it is closed after all others."""
        if file in self._kept:
            self._kept.move_to_end(file)
            return
        self._kept[file] = None
        if len(self._kept) > kept_max():
            self._free_one(spared=file)

    def forget(self, file: Kept) -> None:
        self._kept.pop(file, None)

    def opening(self, call: Callable[[], _Result]) -> _Result:
        """Call what opens a file; with no descriptor left, close another file first. OSError."""
        if self._instances and self._spare is None:
            self._reserve()
        try:
            return call()
        except OSError as error:
            if error.errno != errno.EMFILE or not (self._free_one() or self._give_spare()):
                raise
        return call()

    def _reserve(self) -> None:
        with suppress(OSError):  # later, when there is room
            self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _give_spare(self) -> bool:
        spare, self._spare = self._spare, None
        if spare is not None:
            os.close(spare)
        return spare is not None

    def _free_one(self, spared: Kept | None = None) -> bool:
        for file in self._kept:
            if file is not spared and file.let_go():
                self._kept.pop(file, None)
                return True
        return False

    def lacking(self) -> str:
        """Say so if this process can open nothing; "" if it can."""
        try:
            os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            return f"muxwire cannot open a file to find out: {error.strerror} ({errno.errorcode.get(error.errno or 0)})"
        return ""


OURS: Final = Descriptors()


def open_file(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file as `os.open` does, with mode 0600; it takes the spare descriptor if no other is free. OSError."""
    return OURS.opening(lambda: os.open(path, flags, 0o600))


def list_folder(path: str) -> list[str]:
    """As os.listdir, with the spare descriptor if there is no other. OSError."""
    return OURS.opening(lambda: os.listdir(path))  # noqa: PTH208 - names are enough
