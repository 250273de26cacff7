"""Two clients of others, from npm, run a command through the pump, each call a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.users import environ_of, needs

# Packages come from their registry, which may be slow.
pytestmark = pytest.mark.timeout(1800)
SERVE = ("-c", "import muxwire_client; muxwire_client.main()", "serve", "--name", "n")
NPX = ("npx", "--yes", "--package=node@22")  # a machine's own may be too old for them
COMMAND = "command=echo $((6 * 7)) $kept; kept=yes"
CLIENTS = {
    "@modelcontextprotocol/inspector@2.12.0": (
        "mcp-inspector", "--cli", "--config", "servers.json", "--server", "muxwire", "--method", "tools/call",
        "--tool-name", "execute_command", "--tool-arg", COMMAND,
    ),
    "mcporter@0.9.0": ("mcporter", "--config", "servers.json", "call", "muxwire.execute_command", COMMAND),
}  # fmt: skip


@pytest.mark.parametrize("package", CLIENTS)
def test_a_client_from_npm_runs_commands_in_one_shell(package: str, home: Path) -> None:
    needs("npx")
    environ = environ_of(home / "home", runtime=home / "run")
    server = {"command": sys.executable, "args": SERVE, "env": environ}
    Path(home, "servers.json").write_text(json.dumps({"mcpServers": {"muxwire": server}}))
    for shown in ("42", "42 yes"):
        # In the environment of who runs the tests, which knows where packages come from.
        argv = [*NPX, f"--package={package}", *CLIENTS[package]]
        done = subprocess.run(argv, cwd=home, capture_output=True, text=True, check=False)
        assert f"{shown}\\n" in done.stdout, done.stdout + done.stderr
