"""Tables of hosts, and the machine that most of them mean: this one, behind what leaves no environment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def words_there(environ: dict[str, str], temporary: Path) -> list[str]:
    """The words that reach the other machine, which is this one: the same home, other temporary files."""
    there = {name: environ[name] for name in ("HOME", "PATH", "SHELL")} | {"TMPDIR": str(temporary)}
    return ["env", "-i", *(f"{name}={value}" for name, value in there.items())]


def user_of(environ: dict[str, str], path: Path, *, allow: Sequence[str] = (), **hosts: Any) -> dict[str, str]:
    """The environment of a person whose file of hosts is at `path`, with those tables."""
    lines = [f"allow = {json.dumps(allow)}"]
    for name, table in hosts.items():
        lines += [f"[hosts.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    path.write_text("\n".join(lines))
    return environ | {"MUXWIRE_HOSTS": str(path)}
