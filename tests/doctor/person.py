"""What a person does at the doctor's: ask it, and read what it found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

from muxwire.library.doctor.finding import Finding

# Every shell is tried, and a machine may be busy.
SECONDS = 50


def doctor(environ: dict[str, str], *arguments: str, limit: str = "") -> subprocess.CompletedProcess[str]:
    """Run `muxwire doctor`, under a `limit` that a shell sets."""
    script = f"{limit}exec {sys.executable} -m muxwire doctor {' '.join(arguments)}"
    argv = ["/bin/sh", "-c", script]
    return subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False)


def only(findings: Iterable[Finding]) -> Finding:
    """The one finding that there is."""
    (found,) = findings
    return found
