"""tmux: whether it is there, and new enough for what is used of it."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final

from muxwire.errors import TmuxUnavailable
from muxwire.library.doctor.finding import Finding, broken, ok, warning
from muxwire.tmux.program import (
    MINIMUM_VERSION,
    find_tmux,
    how_to_install,
    program_for,
    program_version,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire.host.folders import Folders
    from muxwire.host.host import Host

# It only prints its version.
_SECONDS = 10
_VERSION = re.compile(r"tmux (?:next-)?(\d+)\.(\d+)")

# What is used, and the first version that has it (tmux's CHANGES).
FEATURES: Final = (
    ((3, 2), "control clients that hand over their pipes"),
    ((3, 2), "subscriptions (refresh-client -B)"),
    ((3, 2), "-N, to ask without starting a server"),
    ((3, 3), "dead panes that do not crash the server"),
)
# Faults that a later version has mended, with what they cost until then; docs/protocol.md has all of them.
MENDED: Final = (
    ((3, 6), "capture-pane -p leaks memory in the server, so screens are read through a buffer of our own"),
    ((3, 7), "a global window-size and switching output off crash it, so both are refused"),
)


def tmux(host: Host) -> Finding:
    try:
        path = find_tmux(host)
    except TmuxUnavailable as error:
        return broken("tmux", str(error), error.remedy)
    try:
        answer = subprocess.run([path, "-V"], capture_output=True, text=True, timeout=_SECONDS, check=False, env={})
    except (OSError, subprocess.SubprocessError) as error:
        return broken("tmux", f"{path} -V fails: {error}", how_to_install(host))
    return judged(path, answer.stdout.strip() or answer.stderr.strip(), host)


def judged(path: str, said: str, host: Host) -> Finding:
    found = _VERSION.match(said)
    if found is None:
        # A build from git calls itself `tmux master`.
        if said.startswith("tmux "):
            return ok("tmux", f"{said} at {path}: newer than all that has a number")
        return broken("tmux", f"{path} -V says {said!r}", how_to_install(host))
    version = (int(found[1]), int(found[2]))
    lacking = [feature for since, feature in FEATURES if version < since]
    if version < MINIMUM_VERSION or lacking:
        return broken("tmux", f"{said} at {path} is too old; it lacks: {'; '.join(lacking)}", how_to_install(host))
    costs = [f"{fault} (mended in {since[0]}.{since[1]})" for since, fault in MENDED if version < since]
    return ok("tmux", "; ".join((f"{said} at {path}", *costs)))


def servers(places: Folders, host: Host) -> Iterator[Finding]:
    """Servers that were started before tmux was replaced by another version, which cannot talk to them."""
    try:
        installed = find_tmux(host)
    except TmuxUnavailable:
        return  # said already
    for path in sorted(places.runtime.glob("*.sock")):
        own = program_for(host.listening_pid(path), host)
        if own != installed and (version := program_version(own)) != program_version(installed):
            said = f"the server of {path.stem} is tmux {version}, not the one at {installed}; its own program is used"
            yield warning("server version", said, f"muxwire kill --all --name {path.stem}")
