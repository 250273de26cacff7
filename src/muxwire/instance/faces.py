"""The instances that run, and what a person knows them by: client, directory, age, tabs.

The instance's process writes client and directory into options of its tmux server, where they end with it. A process
that asks asks tmux, by a client of its own: no instance is opened for it.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

from muxwire.errors import TmuxUnavailable
from muxwire.host.elsewhere import links
from muxwire.host.folders import EPHEMERAL, folders_for
from muxwire.host.local import LocalHost
from muxwire.host.locks import named_server
from muxwire.tmux.program import program_for
from muxwire.tmux.start import HUB
from muxwire.vt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from muxwire.host.elsewhere import Linked
    from muxwire.tmux.server import TmuxServer

# Server options: the MCP client, with its version, and the directory of the process that drives the instance.
CLIENT, DIRECTORY = "@muxwire-client", "@muxwire-directory"
# A name in one column of a table.
CLIENT_CHARS = 40
# A server in good health answers in milliseconds. One that does not answer in this time is `silent`.
_ANSWER_SECONDS = 1.0
# One line each: a directory may hold blanks.
_ASKED = ("#{start_time}", f"#{{{CLIENT}}}", f"#{{{DIRECTORY}}}")
# A format of tmux: whether a pane is muxwire's. Then its supervisor prints the mark X.
OURS = "#{m:*7770;X;*,#{pane_start_command}}"

# driven: a process uses it now; kept: only its tmux runs, and what runs in its tabs; silent: its tmux does not answer;
# remote: a process uses it, whose tabs are all on other machines.
Condition = Literal["driven", "kept", "silent", "remote"]


@final
@dataclass(frozen=True, slots=True)
class Running:
    """An instance whose tmux server runs, here or on another machine: its name, and the directory of its socket.

    `hosts`: the machines on which it has its tabs, if no server of it runs here. What follows is set for such an
    instance only: what its process has noted on this machine, as in `Face`.
    """

    name: str
    runtime: Path
    hosts: tuple[str, ...] = ()
    client: str = ""
    directory: str = ""
    started: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Face:
    """What a person knows a running instance by.

    `started`: in Unix seconds, None where its tmux does not answer. `tabs`: the number of tabs here, None in the
    same case, and where no tmux of it runs here. `hosts`: as in `Running`.
    """

    name: str
    client: str
    directory: str
    started: float | None
    tabs: int | None
    state: Condition
    hosts: tuple[str, ...] = ()


def introduce(server: TmuxServer, client: str, directory: str) -> None:
    """Note what drives this instance: an MCP client; if "", a program or a verb, which notes only its directory."""
    directory = one_line(directory)
    if client:
        server.client.submit(("set-option", "-s", CLIENT, one_line(client)[:CLIENT_CHARS]))
        server.client.submit(("set-option", "-s", DIRECTORY, directory))
    else:
        server.client.submit(("set-option", "-soq", DIRECTORY, directory))


def all_running(environ: Mapping[str, str]) -> list[Running]:
    """The instances that run whose state is in the state directory of this environment, each in order of name.

    Each server has noted there where it listens: MCP clients start servers with few variables, often without
    XDG_RUNTIME_DIR. Last come the instances whose tabs are all on other machines.
    """
    noted = {path.parent.name: named_server(path) for path in sorted(folders_for("", environ).state.glob("*/server"))}
    found = [Running(name, Path(socket).parent) for name, (pid, socket) in noted.items() if pid]
    return [*found, *_elsewhere(environ, [one.name for one in found])]


def _elsewhere(environ: Mapping[str, str], here: Collection[str]) -> list[Running]:
    """The instances of this state directory that have tabs on other machines, and no server here.

    If no process uses one, it is not known whether its servers there still run; who names it is told.
    """
    folders = folders_for("", environ)
    noted: dict[str, list[Linked]] = {}
    for link in links(folders.state):
        noted.setdefault(link.instance, []).append(link)
    return [
        _running_elsewhere(name, folders.runtime, of)
        for name, of in sorted(noted.items())
        if name not in here and any(link.driven for link in of)
    ]


def _running_elsewhere(name: str, runtime: Path, links: Sequence[Linked]) -> Running:
    newest = max(links, key=lambda link: (link.driven, link.began or 0.0))
    return Running(
        name,
        runtime,
        hosts=tuple(sorted({link.host for link in links})),
        client=one_line(newest.client)[:CLIENT_CHARS],
        directory=one_line(newest.cwd),
        started=min((link.began for link in links if link.began is not None), default=None),
    )


def environment_of(one: Running, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment in which the directories of that instance are chosen (`folders_for`)."""
    above = str(one.runtime.parent)
    if one.runtime.name == f"muxwire-{os.getuid()}":
        return {**environ, "TMPDIR": above, "XDG_RUNTIME_DIR": ""}
    return {**environ, "XDG_RUNTIME_DIR": above}


def faces(running: Sequence[Running], environ: Mapping[str, str]) -> list[Face]:
    """What each of them is known by; all are asked at once."""
    asked = [(one, None if one.hosts else _ask(one, environ)) for one in running]
    deadline = time.monotonic() + _ANSWER_SECONDS
    return [_face(one, _answer(process, deadline), environ) for one, process in asked]


def _ask(one: Running, environ: Mapping[str, str]) -> subprocess.Popen[str] | None:
    socket = one.runtime / f"{one.name}.sock"
    host = LocalHost(environ)
    try:
        words = [program_for(host.listening_pid(socket), host), "-N", "-u", "-S", str(socket)]
        for line in _ASKED:
            words += ["display-message", "-p", "-t", f"={HUB}:", line, ";"]
        words += ["list-panes", "-a", "-f", OURS, "-F", "#{window_id}"]
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            errors="replace",
        )  # fmt: skip
    except (OSError, TmuxUnavailable):
        return None


def _answer(process: subprocess.Popen[str] | None, deadline: float) -> list[str]:
    """The lines of a server's answer; none if it does not come."""
    if process is None:
        return []
    with process:  # not read to its end: a server that is stopped holds the other end of the pipe too
        try:
            said, _ = process.communicate(timeout=max(deadline - time.monotonic(), 0.01))
        except subprocess.TimeoutExpired:
            process.kill()
            return []
    return said.splitlines() if process.returncode == 0 else []


def _face(one: Running, said: list[str], environ: Mapping[str, str]) -> Face:
    if one.hosts:
        return Face(one.name, one.client, one.directory, one.started, None, "remote", one.hosts)
    if len(said) < len(_ASKED):
        return Face(one.name, "", "", None, None, "silent")
    started, client, directory = said[: len(_ASKED)]
    tabs = len(set(said[len(_ASKED) :]))
    driven = EPHEMERAL.match(one.name) is not None or named_server(folders_for(one.name, environ).lock)[0] > 0
    return Face(one.name, client, directory, float(started), tabs, "driven" if driven else "kept")
