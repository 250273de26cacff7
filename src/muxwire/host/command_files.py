"""The files that a tab's shell reads."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, final

from muxwire.errors import cannot
from muxwire.host.folders import private_folder, write_private

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.host.host import Lines

# Above the directory of a tab are that of its instance and that of all instances.
_PARENTS = 2


@final
class LocalFiles:
    def __init__(self, folder: Path) -> None:
        """Each file is made when it is first written."""
        self._folder = folder

    def write(self, name: str, content: bytes) -> Lines:
        """Write what the line that is typed next reads; InstanceUnavailable if that cannot be typed therefore."""
        path = f"{self._folder}/{name}"  # joined as paths, they take longer than the write
        try:
            try:
                write_private(path, content)
            except FileNotFoundError:  # the runtime directory was removed: the user's last login has ended
                for folder in (*reversed(self._folder.parents[:_PARENTS]), self._folder):
                    private_folder(folder)
                write_private(path, content)
        except OSError as error:
            raise cannot(f"run the command, whose text goes to {path}", error) from error
        return ()

    def close(self, *, remove: bool) -> None:
        if remove:
            shutil.rmtree(self._folder, ignore_errors=True)
