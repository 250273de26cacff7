"""`true` on a machine that ssh reaches, by what a user would do instead: ssh each time, or tmux through ssh.

The machine is this one, by a server of our own on the loopback interface.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.contenders import clean_environment, temporary_home
from bench.driver_process import driver_process
from bench.measure import in_turn
from bench.packages import FromPyPI, installed
from bench.processes import forked
from bench.scenario import Report, Scale, Unavailable
from bench.ssh_server import free_port, ssh_server
from muxwire import open_terminals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.contenders import Once
    from bench.driver_process import Take

RUNS, RUNS_SHORT = 100, 2
COUNTED, COUNTED_SHORT = 5, 1
OURS = "muxwire"
# Its client of a remote server imports aiohttp, which it does not ask for.
SWE_REX = FromPyPI(("swe-rex==1.4.0", "aiohttp"))
# As tmux-mcp and its like do it, in one ssh: type, wait for the signal, read the screen.
_TMUX = f"tmux -L bench-{os.getpid()}"
_TYPED = f"{_TMUX} send-keys -t work 'true; {_TMUX} wait-for -S done' Enter"
_STEP = f"{_TYPED} && {_TMUX} wait-for done && {_TMUX} capture-pane -p -t work"


@contextmanager
def _swerex(ssh: list[str], scale: Scale, home: Path) -> Iterator[Take]:
    """SWE-ReX's server on the other machine, reached by a port that ssh forwards. Unavailable."""
    package = (scale.installed or home) / SWE_REX.label.replace(" ", "-")
    if scale.short:
        raise Unavailable(f"the short run does not install {SWE_REX.label}")
    if why := installed(SWE_REX, package):
        raise Unavailable(f"{SWE_REX.label}: {why}")
    here, there = free_port(), free_port()
    python, token = str(package / "bin" / "python"), secrets.token_hex()
    serve = [python, "-m", "swerex.server", "--host", "127.0.0.1", "--port", str(there), "--auth-token", token]
    words = [*ssh[:-1], "-tt", "-L", f"{here}:127.0.0.1:{there}", ssh[-1], shlex.join(serve)]
    # With a terminal: the server there gets a hangup when ssh ends.
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tunnel:
        try:
            argv = [python, "-m", "bench.peers.swerex_session", str(here), token]
            with driver_process(SWE_REX.label, argv, os.environ) as take:
                yield take
        finally:
            tunnel.terminate()


def _once(words: list[str]) -> Once:
    async def once() -> None:
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True)

    return once


def _taken(take: Take) -> Once:
    async def once() -> float:
        told = await take("true")
        assert told.get("exit_code") == 0, told
        return float(told["took"])

    return once


@contextmanager
def _master(ssh: list[str], folder: Path) -> Iterator[list[str]]:
    """The words of an ssh that uses a connection which stays open (ControlMaster)."""
    shared = [*ssh[:-1], "-o", f"ControlPath={folder}/master", ssh[-1]]
    subprocess.run([*shared[:-1], "-M", "-N", "-f", shared[-1]], check=True, capture_output=True)
    try:
        yield shared
    finally:
        subprocess.run([*shared[:-1], "-O", "exit", shared[-1]], check=False, capture_output=True)


async def run(scale: Scale) -> Report:
    """All in turn; a table without rows where there is no server for ssh."""
    with temporary_home() as name, tempfile.TemporaryDirectory(prefix="mws") as made, ExitStack() as stack:
        home, folder = Path(name), Path(made)
        try:
            options = stack.enter_context(ssh_server(folder))
        except Unavailable as reason:
            return _report([], (str(reason),))
        notes = ["the processes are those of both sides", "tmux by ssh returns the screen, no exit code"]
        ssh = ["ssh", *options, "127.0.0.1"]
        shared = stack.enter_context(_master(ssh, folder))
        subprocess.run([*shared, f"{_TMUX} new-session -d -s work bash"], check=True, stdin=subprocess.DEVNULL)
        stack.callback(subprocess.run, [*shared, f"{_TMUX} kill-server"], check=False, capture_output=True)
        contenders = {
            "`ssh HOST true` each time": _once([*ssh, "true"]),
            "the same, ControlMaster": _once([*shared, "true"]),
            "tmux by ssh, ControlMaster": _once([*shared, _STEP]),
        }
        try:
            theirs = stack.enter_context(_swerex(ssh, scale, home))
            contenders["SWE-ReX remote, by a port of ssh"] = _taken(theirs)
        except Unavailable as reason:
            notes.append(str(reason))
        hosts = home / "hosts.toml"
        hosts.write_text(f"[hosts.box]\nvia = {json.dumps(ssh)}\nlogin_shell = true\n")
        environ = clean_environment(home) | {"MUXWIRE_HOSTS": str(hosts)}
        async with open_terminals(environ=environ, state_dir=home / "state") as terminals:
            tab = await terminals.create_tab(host="box", shell="bash")

            async def ours() -> None:
                assert (await tab.execute("true")).exit_code == 0

            every: dict[str, Once] = {OURS: ours, **contenders}
            processes = {title: await forked(once, scale.of(COUNTED, COUNTED_SHORT)) for title, once in every.items()}
            found = await in_turn(every, scale.of(RUNS, RUNS_SHORT))
    rows = [(title, one.p50, one.p99, one.p50 / found[OURS].p50, processes[title]) for title, one in found.items()]
    return _report(rows, tuple(notes))


def _report(rows: list[tuple[str, float, float, float, float]], notes: tuple[str, ...]) -> Report:
    columns = ("approach", "p50 ms", "p99 ms", "times ours", "forks")
    return Report("ssh", "`true` in bash over ssh to this machine", columns, tuple(rows), (), notes)
