"""The tmux of this machine, to be run on another one that has none: the program, its loader and libraries.

The loader is started by its path and told where the libraries are (ld.so(8)), so nothing of the other machine's own
libraries is used, and none of these libraries is found by its programs. With it go the terminfo entries of the
terminal that tmux emulates and of those that its clients run in, and the locale C.UTF-8: tmux needs a UTF-8 locale.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import final

from muxwire.errors import MuxwireError

# Where distributions keep compiled entries (terminfo(5)); the first letter of a name is a directory.
_TERMINFO = ("/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo")
_TERMINALS = ("tmux-256color", "tmux", "screen-256color", "screen", "xterm-256color", "xterm", "linux", "vt100", "dumb")
_LOCALES = ("/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8")
# A line of ldd(1): `libm.so.6 => /lib/libm.so.6 (0x...)`, or the path of the loader alone.
_LIBRARY = re.compile(r"\s*(?:(\S+) => )?(/\S+) \(0x[0-9a-f]+\)")
_LOADER = re.compile(r"/ld-(?:linux|musl)[^/]*\.so[^/]*\Z")
_LDD_SECONDS = 10.0
# Higher levels take much longer for the last percent: at this one 4.7 MB become 2.1 MB in 0.1 s.
_LEVEL = 4
# What a path or a file's name in the bundle may hold: a shell there reads them.
_NAME = re.compile(r"[A-Za-z0-9._+/-]+\Z")


@final
class NotPacked(MuxwireError):
    """The tmux of this machine cannot be copied to another one; the text says why."""


@final
@dataclass(frozen=True, slots=True)
class Bundle:
    """The files, one after the other, packed with gzip.

    `machine` is the processor as uname(1) says it, `loader` the name of the loader among the files.
    """

    machine: str
    digest: str
    loader: str
    files: tuple[tuple[str, int], ...]
    packed: bytes

    @property
    def size(self) -> int:
        """Bytes of all files, unpacked."""
        return sum(size for _, size in self.files)


@lru_cache(1)
def own_bundle(path: str) -> Bundle:
    """Pack the tmux of `$PATH`; NotPacked."""
    program = shutil.which("tmux", path=path)
    if program is None or not shutil.which("ldd", path=path):
        raise NotPacked("this machine has no tmux to copy there" if program is None else "this machine has no ldd")
    libraries = _libraries(os.path.realpath(program))
    loader = next((name for name, path in libraries.items() if _LOADER.search(path)), "")
    if not loader:
        raise NotPacked(f"{program} of this machine has no loader that can be copied")
    found = {"tmux.bin": program, **libraries}
    for name in _TERMINALS:
        entry = next((f"{place}/{name[0]}/{name}" for place in _TERMINFO if Path(place, name[0], name).is_file()), "")
        found |= {f"terminfo/{name[0]}/{name}": entry} if entry else {}
    locale = next(filter(os.path.isdir, _LOCALES), "")
    found |= {"locale/C.UTF-8/LC_CTYPE": f"{locale}/LC_CTYPE"} if locale else {}
    if strange := next((name for name in found if not _NAME.match(name)), None):
        raise NotPacked(f"{strange!r} is not the name of a library that can be copied")
    try:
        contents = [(name, Path(path).read_bytes()) for name, path in found.items()]
    except OSError as error:
        raise NotPacked(f"{error.filename} of this machine cannot be read: {error.strerror}") from error
    whole = b"".join(data for _, data in contents)
    files = tuple((name, len(data)) for name, data in contents)
    digest = hashlib.sha256(repr(files).encode() + whole).hexdigest()[:16]
    return Bundle(platform.machine(), digest, loader, files, gzip.compress(whole, _LEVEL, mtime=0))


def _libraries(program: str) -> dict[str, str]:
    """What a program is linked with, as ldd(1) says it: names and paths; NotPacked."""
    try:
        told = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=_LDD_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotPacked(f"ldd {program}: {error}") from error
    found = {}
    for line in told.stdout.splitlines():
        if (match := _LIBRARY.match(line)) is not None:
            found[match[1] or os.path.basename(match[2])] = match[2]  # noqa: PTH119
    return found


def bring_line(bundle: Bundle) -> bytes:
    """The line that the script there reads when it has said that it needs a tmux (bootstrap.sh)."""
    words = " ".join(f"{name}:{size}" for name, size in bundle.files)
    variables = {
        "machine": bundle.machine, "digest": bundle.digest, "loader": bundle.loader, "files": words,
        "packed": str(len(bundle.packed)), "size": str(bundle.size),
    }  # fmt: skip
    return " ".join(f"{name}='{value}'" for name, value in variables.items()).encode() + b"\n"
