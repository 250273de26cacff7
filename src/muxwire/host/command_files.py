"""The files that a tab's shell reads. Some are kept open: to make one anew takes as long as a short command."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, final

from muxwire.host.descriptors import OURS, open_file
from muxwire.host.folders import private_folder, write_private
from muxwire.shell import WRAPPERS

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.host.host import Lines

# Above the directory of a tab are that of its instance and that of all instances.
_PARENTS = 2


@final
class WrapperFile:
    """A private file. Its content is replaced for each command, while no shell reads it."""

    def __init__(self, path: Path) -> None:
        """Say where it is to be; it is made when it is first written."""
        self.path = path
        self._descriptor: int | None = None
        self._size = 0

    def write(self, content: bytes) -> None:
        """Replace the content; OSError, with its path. A link in its place is refused by the kernel."""
        try:
            self._replace(content)
        except OSError as error:  # pwrite(2) knows no path
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def _replace(self, content: bytes) -> None:
        descriptor = self._opened()
        OURS.keep(self)
        self._size = max(self._size, len(content))  # if this write fails half-way, the next one cuts off what it left
        written = os.pwrite(descriptor, content, 0)
        while written < len(content):
            written += os.pwrite(descriptor, content[written:], written)
        if len(content) < self._size:
            os.ftruncate(descriptor, len(content))
        self._size = len(content)

    def _opened(self) -> int:
        # A program that removes old files may have removed this one.
        if self._descriptor is not None and not os.fstat(self._descriptor).st_nlink:
            self.close()
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor, self._size = open_file(self.path, flags), 0
        return self._descriptor

    def close(self) -> None:
        OURS.forget(self)
        self.let_go()

    def let_go(self) -> bool:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        return True


@final
class LocalFiles:
    def __init__(self, folder: Path) -> None:
        """Each file is made when it is first written."""
        self._folder = folder
        self._kept: dict[str, WrapperFile] = {}

    def write(self, name: str, content: bytes) -> Lines:
        try:
            self._write(name, content)
        except FileNotFoundError:  # the runtime directory was removed: the user's last login has ended
            for folder in (*reversed(self._folder.parents[:_PARENTS]), self._folder):
                private_folder(folder)
            self._write(name, content)
        return ()

    def _write(self, name: str, content: bytes) -> None:
        if name not in WRAPPERS:
            write_private(self._folder / name, content)
            return
        if name not in self._kept:
            self._kept[name] = WrapperFile(self._folder / name)
        self._kept[name].write(content)

    def close(self, *, remove: bool) -> None:
        for file in self._kept.values():
            file.close()
        if remove:
            shutil.rmtree(self._folder, ignore_errors=True)
