"""The rows of exec_cases.json, and what we know to be wrong in which shell, and why it stays so."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "exec_cases.json").read_text())
# A row with a `setup` gets a fresh tab. `ctrl-z` needs that: ksh 93u+m 1.0.4 ignores SIGTSTP once it has run a program,
# also without us, and then C-z does not stop its builtin sleep.
_KSH_TRACE = "ksh traces the redirection that hides the wrapper"
MISSES = {
    ("ksh", "set-x"): _KSH_TRACE,
    ("ksh", "set-x-same-command"): _KSH_TRACE,
    ("ksh", "trap-debug"): "ksh runs the trap for the wrapper too",
    ("zsh", "job-number"): "in zsh every construct around a command takes a job number",
    ("ksh", "alias-then-use-multiline"): "ksh parses an eval as a whole",
    ("ksh", "ctrl-backslash"): "sleep is a builtin of ksh that ignores SIGQUIT",
}
_BASH = os.environ.get("MUXWIRE_TEST_BASH")
if _BASH and b"version 3." in subprocess.check_output([_BASH, "--version"]):
    for _name in ("trap-debug", "trap-debug-two-commands"):
        MISSES["bash", _name] = "it hides a sourced file from the trap"


def as_bytes(value: dict[str, Any]) -> bytes:
    """What a row's input or output stands for."""
    if "text" in value:
        return str(value["text"]).encode()
    if "b64" in value:
        return base64.b64decode(value["b64"])
    made: dict[str, Any] = value["gen"]
    if "seq" in made:
        return b"".join(b"%d\n" % number for number in range(made["seq"][0], made["seq"][1] + 1))
    prefix, repeat, suffix = (base64.b64decode(made.get(f"{key}_b64", "")) for key in ("prefix", "repeat", "suffix"))
    return prefix + repeat * int(made["count"]) + suffix
