"""Draw docs/pictures/at_work.svg: an agent's calls, and the terminal of a person who is attached to the same tab.

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
COLUMNS, ROWS = 74, 19
# Seconds that no step needs.
LONG = 30
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("execute_command", {"command": "cd project && python3 check.py"}),
    (
        "execute_command",
        {"command": "sed -i 's/a - b/a + b/' total.py && python3 check.py && git diff --stat", "strip_ansi": True},
    ),
    ("start_process", {"command": "python3 -u -m http.server 8080", "ready": "Serving HTTP"}),
)
PROJECT = {
    "total.py": "def total(a, b):\n    return a - b\n",
    "check.py": "import sys\nfrom total import total\n\nfound = total(2, 3)\nprint('total(2, 3) is', found)\n"
    "sys.exit(found != 5)\n",
}


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

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        """Call a tool, and write down what was asked and answered."""
        (result,) = self._ask("tools/call", {"name": tool, "arguments": arguments})["content"]
        asked = textwrap.wrap(f"{tool}({json.dumps(arguments)})", COLUMNS - 2, subsequent_indent="    ")
        answered = between_fields(result["text"])
        self.lines += [*asked, *(("-> " if number == 0 else "   ") + line for number, line in enumerate(answered)), ""]

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
    (home / ".bashrc").write_text("PS1='\\[\\e[32m\\]\\w $\\[\\e[m\\] '\n")
    (home / "project").mkdir()
    for name, text in PROJECT.items():
        (home / "project" / name).write_text(text)
    git = "cd project && git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm begin"
    await anyio.run_process(["sh", "-c", git], cwd=home, env=environ)
    os.chdir(home)
    agent = Agent("work", environ)
    try:
        agent.call(*CALLS[0])
        async with muxwire.open_terminals(environ=environ) as terminals:
            with anyio.fail_after(LONG):
                person = await terminals.create_tab(
                    command=[*MUXWIRE, "attach", "--name", "work"], size=(COLUMNS, ROWS), cwd=home
                )
                await terminals.wait_for([person.window_id], until="[muxwire work]", timeout=LONG)
                for tool, arguments in CALLS[1:]:
                    await anyio.to_thread.run_sync(agent.call, tool, arguments)
                await terminals.wait_for([person.window_id], until="Serving HTTP", from_byte=0, timeout=LONG)
                seen = (await person.snapshot(cells=True)).svg()
    finally:
        agent.server.kill()
        agent.server.wait()
        await anyio.run_process([*MUXWIRE, "kill", "--name", "work", "--all", "-f"], env=environ)
    return framed(svg(agent.lines[:ROWS], (), columns=COLUMNS, rows=ROWS, title="an agent's calls"), seen)


def framed(left: str, right: str) -> str:
    """Two pictures next to each other, each under a line that says what it is."""
    (width, height), (other, _) = (
        [float(value) for value in re.findall(r' (?:width|height)="([0-9.]+)"', one)[:2]] for one in (left, right)
    )
    gap, top = 16, 28
    wide, high = f"{width + gap + other:g}", f"{height + top:g}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">',
        '<g font-family="sans-serif" font-size="15" fill="#8c959f">',
        '<text x="4" y="18">An agent calls tools (muxwire serve)</text>',
        f'<text x="{width + gap + 4:g}" y="18">A person is attached to the same terminal (muxwire attach)</text></g>',
        left.replace("<svg ", f'<svg x="0" y="{top}" ', 1),
        right.replace("<svg ", f'<svg x="{width + gap:g}" y="{top}" ', 1),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mw") as made:
        PICTURE.write_text(anyio.run(draw, Path(made)))
