"""Every shell that is there, tried for real: a tab in an instance of its own, a command, its output, its exit code.

And another machine, in the same way.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import HostUnavailable, MuxwireError
from muxwire.host.local import LocalHost
from muxwire.library.doctor.finding import Finding
from muxwire.library.opening import open_terminals
from muxwire.vt.text import strip_ansi, undo_onlcr

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab

SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")
# A shell with a framework of plugins takes a second or two; one that takes longer than this is not in use.
PATIENCE_S = 20.0
# What a person notices at every new tab.
SLOW_S = 3.0
# A command that takes so long on another machine is not worth waiting for.
HOST_SECONDS = 30.0
# Quotes, two lines, no newline at the end, a status: all that a shell without integration gets wrong, in the words of
# every shell.
COMMAND = "printf 'one\\n  \"two\"'; sh -c 'exit 7'"
OUTPUT, STATUS = 'one\n  "two"', 7
_TAIL_BYTES = 2000


@asynccontextmanager
async def _instance(environ: Mapping[str, str]) -> AsyncIterator[Terminals]:
    with tempfile.TemporaryDirectory(prefix="muxwire-doctor-", ignore_cleanup_errors=True) as state:
        async with open_terminals(state_dir=state, environ=environ) as terminals:
            yield terminals


async def every_shell(environ: Mapping[str, str]) -> list[Finding]:
    """Try the user's shell and every other that is known and there; MuxwireError if no instance can be opened."""
    usual = LocalHost(environ).default_shell()
    paths = installed(environ, usual)
    async with _instance(environ) as terminals:
        findings = [await _shell(terminals, path, usual=path == usual) for path in paths]
    return [*unknown(environ, usual), *findings]


def installed(environ: Mapping[str, str], usual: str) -> list[str]:
    """The shells that are there, the usual one first. /bin may be a link to /usr/bin: each file once."""
    found = [path for name in SHELLS if (path := LocalHost(environ).which(name))]
    once: dict[Path, str] = {}
    for path in (usual, *found):
        once.setdefault(Path(path).resolve(), path)
    return list(once.values())


def unknown(environ: Mapping[str, str], usual: str) -> list[Finding]:
    wanted = environ.get("SHELL", "")
    if not wanted or wanted == usual:
        return []
    message = f"SHELL={wanted} is not known, or cannot be run: tabs get {usual} instead"
    return [Finding("shell", "warning", message, f"export SHELL={usual}, or give `create_tab` a shell")]


async def _shell(terminals: Terminals, path: str, *, usual: bool) -> Finding:
    """Start one shell and run a command in it. The shell that tabs get unasked has to work. MuxwireError: no tab."""
    check = f"shell {Path(path).name}"
    mine = " (the one that tabs get)" if usual else ""
    by_hand = f"check its start-up files; compare with `HOME=$(mktemp -d) {path} -i`"
    began, failure = time.monotonic(), ""
    tab = await terminals.create_tab(shell=path)
    try:
        with anyio.fail_after(PATIENCE_S):
            await tab.execute("true", timeout=PATIENCE_S)  # it is run at the first prompt
            ready = time.monotonic() - began
            result = await tab.execute(COMMAND, timeout=PATIENCE_S)
        if (result.output, result.exit_code) != (OUTPUT, STATUS):
            failure = f"answers {result.output!r} with exit code {result.exit_code} to {COMMAND!r}"
    except TimeoutError:
        failure = f"shows no prompt within {PATIENCE_S:.0f} s"
    except MuxwireError as error:
        failure = str(error)
    last = _last_line(tab)
    await tab.close(force=True)
    if failure:
        shown = f"; its last line: {last!r}" if last else ""
        return Finding(check, "broken" if usual else "warning", f"{path}{mine} {failure}{shown}", by_hand)
    if ready > SLOW_S:
        return Finding(check, "warning", f"{path}{mine} takes {ready:.1f} s to its prompt", by_hand)
    return Finding(check, "ok", f"{path}{mine}: output and exit code are exact, prompt after {ready:.2f} s")


def _last_line(tab: Tab) -> str:
    """The last line that a shell showed: often it says what it waits for."""
    ring = tab.pane.stream.ring
    text = strip_ansi(undo_onlcr(ring.read(ring.end - _TAIL_BYTES)).decode("utf-8", "replace"))
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


async def examine_host(environ: Mapping[str, str], name: str) -> Finding:
    """Open a tab on that host, run a command and leave nothing there."""
    check = f"host {name}"
    try:
        async with _instance(environ) as terminals:
            begun = time.monotonic()
            tab = await terminals.create_tab(host=name)
            opened = time.monotonic() - begun
            done = await tab.execute(COMMAND, timeout=HOST_SECONDS)
            (row,) = (await terminals.list_tabs()).tabs
        if (done.output, done.exit_code) != (OUTPUT, STATUS):
            return Finding(
                check, "broken", f"a command gave {done.output!r} and {done.exit_code}", "check its shell there"
            )
        shell = tab.pane.shell.name if tab.pane.shell is not None else "a shell that is not known"
        return Finding(check, "ok", f"{shell}, exact; open in {opened:.1f} s, round trip {row.rtt_ms:.0f} ms")
    except HostUnavailable as error:
        return Finding(check, "broken", f"{error.stage}: {error.reason}", error.remedy)
    except MuxwireError as error:
        return Finding(check, "broken", str(error), error.remedy or "try it in a terminal")
