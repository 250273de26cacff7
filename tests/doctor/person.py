"""What a person does at the doctor's: ask it, read what it found, paste the remedy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from muxwire.library.doctor.finding import Finding
from tests.users import SYSTEM_PATH

# Every shell is tried, and a machine may be busy.
SECONDS = 50


def doctor(environ: dict[str, str], *arguments: str, limit: str = "") -> subprocess.CompletedProcess[str]:
    """Run `muxwire doctor`, under a `limit` that a shell sets."""
    script = f"{limit}exec {sys.executable} -m muxwire doctor {' '.join(arguments)}"
    argv = ["/bin/sh", "-c", script]
    return subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False)


def do(remedy: str, environ: dict[str, str]) -> None:
    """Paste the command."""
    subprocess.run(["/bin/sh", "-c", remedy], env=environ, check=True, timeout=SECONDS)


def only(findings: Iterable[Finding]) -> Finding:
    """The one finding that there is."""
    (found,) = findings
    return found


def install_tmux(home: Path, script: str) -> dict[str, str]:
    """Put a program of that name first on the path; return the variable."""
    program = home / "bin" / "tmux"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{SYSTEM_PATH}"}
