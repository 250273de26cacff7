"""Another machine, tried for real: a tab there, a command, and how long the way is."""

from __future__ import annotations

import shutil
import tempfile
import time
from typing import TYPE_CHECKING

from muxwire.errors import HostUnavailable, MuxwireError
from muxwire.library.doctor.finding import Finding, broken, ok
from muxwire.library.doctor.trials import COMMAND, OUTPUT, STATUS
from muxwire.library.opening import open_terminals

if TYPE_CHECKING:
    from collections.abc import Mapping

# A command that takes so long there is not worth waiting for.
_SECONDS = 30.0


async def host(environ: Mapping[str, str], name: str) -> Finding:
    """Open a tab on that host, run a command and leave nothing there."""
    check = f"host {name}"
    state = tempfile.mkdtemp(prefix="muxwire-doctor-")
    try:
        async with open_terminals(state_dir=state, environ=environ) as terminals:
            begun = time.monotonic()
            tab = await terminals.create_tab(host=name)
            opened = time.monotonic() - begun
            done = await tab.execute(COMMAND, timeout=_SECONDS)
            (row,) = (await terminals.list_tabs()).tabs
        if (done.output, done.exit_code) != (OUTPUT, STATUS):
            return broken(check, f"a command gave {done.output!r} and {done.exit_code}", "look at its shell there")
        shell = tab.pane.shell.name if tab.pane.shell is not None else "a shell that is not known"
        return ok(check, f"{shell}, exact; open in {opened:.1f} s, round trip {row.rtt_ms:.0f} ms")
    except HostUnavailable as error:
        return broken(check, f"{error.stage}: {error.reason}", error.remedy)
    except MuxwireError as error:
        return broken(check, str(error), error.remedy or "try it in a terminal")
    finally:
        shutil.rmtree(state, ignore_errors=True)
