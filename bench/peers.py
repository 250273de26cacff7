"""Other MCP servers that run commands, where they can be had: how fast, how right, at what cost. None is guessed at.

Each is installed from its registry into a folder of its own, at the version that is current there; one that cannot be
installed, or does not start, is reported as such. `output` counts as right if it equals what the command wrote once
carriage returns and one final newline are dropped; nothing may be added.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable  # noqa: TC003 - a dataclass names it
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.contenders import MUXWIRE, McpServer, temporary_home
from bench.scenario import Report, Scale

Answer = tuple[str, int | None]  # the output, and the exit code if the server has one

RUNS, RUNS_SHORT = 30, 3
# npm takes two minutes for Desktop Commander's 700 packages.
INSTALL_SECONDS = 300
WAIT_SECONDS = 3
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}

# What is run, what it writes, and its exit code.
CASES: dict[str, tuple[str, str, int]] = {
    "echo": ("echo hi", "hi", 0),
    "no output": ("true", "", 0),
    "failure": ("false", "", 1),
    "a status of its own": ("(exit 42)", "", 42),
    "no final newline": ("printf 'a\\nb'", "a\nb", 0),
    "both streams": ("echo out; echo err >&2", "out\nerr", 0),
    "5,000 lines": ("seq 5000", "\n".join(map(str, range(1, 5001))), 0),
    "a line of 300": ("printf '%0300d\\n' 7", "0" * 299 + "7", 0),
    "blank lines": ("printf 'a\\n\\n\\nb\\n'", "a\n\n\nb", 0),
    "tab, blanks": ("printf 'a\\tb   \\nc\\n'", "a\tb   \nc", 0),
    "not ASCII": ("echo 'héllo 漢字 🙂'", "héllo 漢字 🙂", 0),
    "a comment": ("echo a # c", "a", 0),
    "a semicolon": ("echo a;", "a", 0),
    "two lines": ("echo one\necho two", "one\ntwo", 0),
    "a here-document": ("cat <<'EOF'\nx\n\n  y\nEOF", "x\n\n  y", 0),
    "history mark": ('echo "a !x"', "a !x", 0),
    "a second": ("sleep 1; echo done", "done", 0),
    "state kept": ("cd /usr && X=1", "", 0),
    "state there": ('pwd; echo "$X"', "/usr\n1", 0),
}


@dataclass(frozen=True)
class Peer:
    """How to get a server, start it and ask it to run a command."""

    name: str
    install: Callable[[Path], list[list[str]]]
    argv: Callable[[Path], list[str]]
    run: Callable[[McpServer, str], Answer]
    environ: dict[str, str] = field(default_factory=dict)
    prepare: Callable[[McpServer], object] = lambda _server: None
    needs: str = ""


def _venv(folder: Path, *packages: str) -> list[list[str]]:
    return [
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "pip"), "install", "-q", *packages],
    ]


def _ours(server: McpServer, command: str) -> Answer:
    result: Any = server.call("execute_command", window_id="@1", command=command, max_chars=100_000)
    found = result["structuredContent"]
    return found["output"], found["exit_code"]


def _libtmux_mcp(server: McpServer, command: str) -> Answer:
    result: Any = server.call("run_command", command=command, session_name="bench")
    found = result["structuredContent"]
    return "\n".join(found["output"]), found["exit_status"]


def _shell_server(server: McpServer, command: str) -> Answer:
    result: Any = server.call("shell_execute", command=["bash", "-c", command], directory="/")
    return "\n".join(block["text"] for block in result["content"]), None


def _desktop_commander(server: McpServer, command: str) -> Answer:
    """Two calls: the first has the output so far, the second the exit code."""
    started: Any = server.call("start_process", command=command, timeout_ms=WAIT_SECONDS * 1000)
    text = started["content"][0]["text"]
    pid = re.search(r"PID (\d+)", text)
    output = text.partition("Initial output:\n")[2]
    if pid is None:
        return text, None
    read: Any = server.call("read_process_output", pid=int(pid[1]), timeout_ms=WAIT_SECONDS * 1000)
    code = re.search(r"exit code (-?\d+)", read["content"][0]["text"])
    return output, int(code[1]) if code else None


NPM = ("npm", "install", "--no-audit", "--no-fund", "--silent")
_DC = "node_modules/@wonderwhy-er/desktop-commander/dist/index.js"
PEERS = (
    Peer(
        "muxwire",
        lambda _folder: [],
        lambda _folder: list(MUXWIRE),
        _ours,
        prepare=lambda server: server.call("create_tab", shell="bash", cwd="/"),
    ),
    Peer(
        "libtmux-mcp",
        lambda folder: _venv(folder, "--pre", "libtmux-mcp"),
        lambda folder: [str(folder / "bin" / "libtmux-mcp")],
        _libtmux_mcp,
        {"LIBTMUX_TOOLSETS": "inspect,manage,execute,teardown"},
        lambda server: server.call("create_session", session_name="bench"),
    ),
    Peer(
        "mcp-shell-server",
        lambda folder: _venv(folder, "mcp<2", "mcp-shell-server"),
        lambda folder: [str(folder / "bin" / "mcp-shell-server")],
        _shell_server,
        {"ALLOW_COMMANDS": "bash"},
    ),
    Peer(
        "Desktop Commander",
        lambda folder: [[*NPM, "--ignore-scripts", "--prefix", str(folder), "@wonderwhy-er/desktop-commander"]],
        lambda folder: ["node", str(folder / _DC), "--no-onboarding"],
        _desktop_commander,
        {"DESKTOP_COMMANDER_DISABLE_TELEMETRY": "1"},
        needs="npm",
    ),
    Peer(
        "tmux-mcp",
        lambda folder: [[*NPM, "--prefix", str(folder), "tmux-mcp"]],
        lambda folder: [str(folder / "node_modules/.bin/tmux-mcp")],
        lambda _server, _command: ("", None),
        needs="npm",
    ),
)


def installed(peer: Peer, folder: Path) -> str:
    """Install a peer; return why it cannot be had, or nothing."""
    if peer.needs and shutil.which(peer.needs) is None:
        return f"{peer.needs} is not here"
    folder.mkdir(parents=True, exist_ok=True)
    for argv in peer.install(folder):
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"not installed: {type(error).__name__}"
        if done.returncode:
            return "not installed: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1][:80]
    return ""


def forks() -> int:
    """How many processes were ever started on this machine (proc(5), `stat`)."""
    (line,) = (line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("processes "))
    return int(line.split()[1])


def tree_cpu(pid: int) -> float:
    """CPU seconds of a process, and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def measured(peer: Peer, home: Path, folder: Path, runs: int) -> tuple[str | float, ...]:
    """One row: speed, correctness, processes, CPU, the cost of waiting, the size of the tools' list."""
    server = McpServer(home, peer.argv(folder), environ=peer.environ | {"TMUX_TMPDIR": str(home)})
    try:
        server.request("initialize", HELLO)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        listed = len(str(server.request("tools/list", {})))
        peer.prepare(server)
        peer.run(server, "true")
        outputs = codes = 0
        for command, output, code in CASES.values():
            got, status = peer.run(server, command)
            outputs += got.replace("\r", "").removesuffix("\n") == output
            codes += status == code
        times, before, cpu = [], forks(), tree_cpu(server.pid)
        for _ in range(runs):
            begun = time.perf_counter()
            peer.run(server, "true")
            times.append((time.perf_counter() - begun) * 1000)
        forked, cpu = (forks() - before) / runs, (tree_cpu(server.pid) - cpu) / runs * 1000
        waited, waiting = forks(), tree_cpu(server.pid)
        peer.run(server, f"sleep {WAIT_SECONDS - 1}")
        cost = f"{(tree_cpu(server.pid) - waiting) * 1000:.0f} ms, {forks() - waited} forks"
    finally:
        server.close()
    right = f"{outputs} of {len(CASES)}", f"{codes} of {len(CASES)}"
    return (peer.name, statistics.median(times), *right, forked, cpu, cost, listed)


async def run(scale: Scale) -> Report:
    """All that can be had; the short run installs nothing and measures only us."""
    rows: list[tuple[str | float, ...]] = []
    notes = []
    for peer in PEERS[:1] if scale.short else PEERS:
        with temporary_home() as name:
            home = Path(name)
            missing = installed(peer, home / "peer")
            if missing:
                notes.append(f"{peer.name}: {missing}")
                continue
            try:
                rows.append(measured(peer, home, home / "peer", scale.of(RUNS, RUNS_SHORT)))
            except (RuntimeError, OSError, KeyError) as error:
                notes.append(f"{peer.name}: installed, but it did not work here: {error!r}")
            finally:
                environ = {"TMUX_TMPDIR": name, "PATH": os.environ["PATH"]}
                subprocess.run(["tmux", "kill-server"], env=environ, check=False, capture_output=True)
    columns = (
        "server",
        "`true` p50 ms",
        "output right",
        "code right",
        "forks",
        "CPU ms",
        "waiting 2 s",
        "tools/list bytes",
    )
    notes.append("forks are counted on the whole machine; CPU is the server's own and that of children it waited for")
    return Report("peers", "MCP servers that run commands", columns, tuple(rows), notes=tuple(notes))
