"""Draw at_work.svg: an agent's calls, and the terminal of a person who answers a question in the same tab.

python docs/pictures/at_work.py: both are real, `muxwire serve` on the left and `muxwire attach` on the right.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import anyio

import muxwire
from muxwire.vt.svg import svg

PICTURE = Path(__file__).with_name("at_work.svg")
MUXWIRE = [sys.executable, "-m", "muxwire"]
# Of the calls, and of the terminal of the person, whose status line has room for all that it says.
COLUMNS, WIDE, ROWS = 58, 80, 11
# Seconds that no step needs.
LONG = 30
FIRST = ("execute_command", {"command": "./deploy"})
THEN = ("command_result", {"wait_ms": 60000})
DEPLOY = """#!/bin/bash
echo "deploying to staging"
read -rsp "Passphrase for the deploy key: " passphrase; echo
echo "key unlocked"
for part in api web worker; do echo "$part ... done"; done
"""
TYPED = "correct horse"
# What the status line says of the tab then.
ASKED = "password"
WHEN_ASKED = (
    "The agent runs ./deploy; the call returns with the question",
    "You see the same terminal (muxwire attach), and type the passphrase",
)
WHEN_DONE = ("The agent goes on; it never sees the passphrase", "What you see then")


def between_fields(document: str) -> list[str]:
    """Compact JSON in lines that end between two fields where they can: nothing is added to it."""
    lines = [""]
    for field in re.split(r'(?<=,)(?=")', document):
        if len(lines[-1]) + len(field) > COLUMNS - 3:
            lines.append("")
        lines[-1] += field
    return [part for line in lines for part in textwrap.wrap(line, COLUMNS - 3, break_on_hyphens=False)]


class Agent:
    """An MCP client at `muxwire serve`, one call after the other."""

    def __init__(self, name: str, environ: dict[str, str]) -> None:
        self.server = subprocess.Popen(
            [*MUXWIRE, "serve", "--name", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, text=True
        )
        self.lines: list[str] = []
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
        self._ask("initialize", hello)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool, and write down what was asked and answered, which is returned."""
        (result,) = self._ask("tools/call", {"name": tool, "arguments": arguments})["content"]
        asked = textwrap.wrap(f"{tool}({json.dumps(arguments)})", COLUMNS - 2, subsequent_indent="    ")
        answered = between_fields(result["text"])
        self.lines += [*asked, *(("-> " if number == 0 else "   ") + line for number, line in enumerate(answered)), ""]
        found: dict[str, Any] = json.loads(result["text"])
        return found

    def drawn(self) -> str:
        """What was asked and answered since this was last called, as a picture."""
        lines, self.lines = self.lines[:ROWS], []
        return svg(lines, (), columns=COLUMNS, rows=ROWS, title="an agent's calls")

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        for line in self.server.stdout:
            if (answer := json.loads(line)).get("id") == method:
                found: dict[str, Any] = answer["result"]
                return found
        raise RuntimeError("the server has ended")


async def draw(home: Path) -> str:
    """The picture."""
    environ = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "MUXWIRE_STATE_DIR": str(home / "state")}
    environ |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", "PS1": "$ ", "SHELL": "/bin/bash"}
    (home / "bin").mkdir()
    (home / "bin" / "muxwire").symlink_to(Path(sys.executable).with_name("muxwire"))
    environ["PATH"] = f"{home / 'bin'}:{environ['PATH']}"  # as for a person who has installed it
    (home / ".bashrc").write_text("PS1='\\[\\e[32m\\]\\w $\\[\\e[m\\] '\n")
    (home / "deploy").write_text(DEPLOY)
    (home / "deploy").chmod(0o755)
    os.chdir(home)
    agent = Agent("work", environ)
    try:
        command = agent.call(*FIRST)["command_id"]
        async with muxwire.open_terminals(environ=environ) as terminals:
            with anyio.fail_after(LONG):
                person = await terminals.create_tab(
                    command=[*MUXWIRE, "attach", "--name", "work"], size=(WIDE, ROWS), cwd=home
                )
                await terminals.wait_for([person.window_id], until="Passphrase", timeout=LONG)
                await terminals.wait_for([person.window_id], until=ASKED, timeout=LONG)
                asked = framed(agent.drawn(), (await person.snapshot(cells=True)).svg(), *WHEN_ASKED)
                await person.send_keys([TYPED, "Enter"])
                tool, arguments = THEN
                await anyio.to_thread.run_sync(agent.call, tool, {"command_id": command, **arguments})
                await terminals.wait_for([person.window_id], until="worker ... done", from_byte=0, timeout=LONG)
                done = framed(agent.drawn(), (await person.snapshot(cells=True)).svg(), *WHEN_DONE)
    finally:
        agent.server.kill()
        agent.server.wait()
        await anyio.run_process([*MUXWIRE, "kill", "--name", "work", "--all", "-f"], env=environ)
    return below(asked, done)


def framed(left: str, right: str, *said: str) -> str:
    """Two pictures next to each other, each under a line that says what it is."""
    (width, height), (other, _) = size(left), size(right)
    gap, top = 16, 28
    wide, high = f"{width + gap + other:g}", f"{height + top:g}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">',
        '<g font-family="sans-serif" font-size="15" fill="#8c959f">',
        f'<text x="4" y="18">{said[0]}</text>',
        f'<text x="{width + gap + 4:g}" y="18">{said[1]}</text></g>',
        left.replace("<svg ", f'<svg x="0" y="{top}" ', 1),
        right.replace("<svg ", f'<svg x="{width + gap:g}" y="{top}" ', 1),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def below(first: str, second: str) -> str:
    """One picture under the other."""
    (width, height), gap = size(first), 14
    high = f"{height + gap + size(second)[1]:g}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {high}" width="{width:g}" height="{high}">'
    return "\n".join([head, first, second.replace("<svg ", f'<svg y="{height + gap:g}" ', 1), "</svg>\n"])


def size(picture: str) -> tuple[float, float]:
    """Its width and height."""
    width, height = re.findall(r' (?:width|height)="([0-9.]+)"', picture)[:2]
    return float(width), float(height)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mw") as made:
        PICTURE.write_text(anyio.run(draw, Path(made)))
