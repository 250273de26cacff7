"""What ends the tmux server on another machine, and what does not: a lost socket, a shortage of processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire import HostUnavailable, TabUnavailable
from muxwire.client.watchdog import process_table
from muxwire.host import remote as questions
from muxwire.host.remote import RemoteHost
from tests.remote.proxied import PATIENT, Proxied, environ_there, place_of, proxied

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from muxwire import Tab

DEADLINE = 60.0
# A user of its own, so that its limit of processes counts nobody else's.
USER = 54321
PROCESSES = 60
# So many questions without an answer: after two a call was refused.
ASKED_IN_VAIN = 8


@pytest.fixture
async def box(folder: Path, environ: dict[str, str]) -> AsyncIterator[Proxied]:
    (folder / "there").mkdir(mode=0o700, exist_ok=True)
    with anyio.fail_after(DEADLINE):
        async with proxied(folder, environ) as opened:
            yield opened


async def server_of(tab: Tab) -> int:
    (pid,) = await tab.client.command("display-message", "-p", "#{pid}")
    return int(pid)


async def gone(path: Path) -> None:
    while path.exists():
        await anyio.sleep(0.05)


def remove(place: Path, folder: Path) -> None:
    """Remove a socket or a directory, at once: the helper makes it anew as soon as it finds it gone."""
    if place.is_dir():
        shutil.rmtree(place.resolve().rename(folder / "removed"))
    else:
        place.unlink()


@pytest.mark.parametrize("removed", ["s", "", "../.."], ids=["socket", "directory", "directories above"])
async def test_a_far_server_whose_socket_was_removed_lives_on(box: Proxied, folder: Path, removed: str) -> None:
    """As systemd-tmpfiles does, or a build's `rm -rf /tmp/*`."""
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("kept=yes")
    pid, there = await server_of(tab), place_of(tab)
    remove(there / removed, folder)
    while not (there / "s").exists():  # the helper asks for it
        await anyio.sleep(0.05)
    await box.cut(tab, "kill")
    assert (await tab.execute("echo $kept", timeout=PATIENT)).output == "yes\n"
    assert await server_of(tab) == pid


@pytest.mark.parametrize("removed", ["s", ""], ids=["socket", "directory"])
async def test_a_far_server_whose_socket_was_removed_ends_with_its_instance(
    folder: Path, environ: dict[str, str], removed: str
) -> None:
    """And not after `keep`: what cannot be asked of it is asked once it has made its socket anew."""
    (folder / "there").mkdir(mode=0o700, exist_ok=True)
    async with proxied(folder, environ) as box:
        tab = await box.opened.create_tab(host="box", shell="bash")
        await tab.execute("trap '' HUP; sleep 1000 &")
        pid, there = await server_of(tab), place_of(tab)
        remove(there / removed, folder)
    await gone(Path(f"/proc/{pid}"))
    await gone(there)


async def test_a_far_server_in_a_directory_that_cannot_be_made_anew_ends(folder: Path, environ: dict[str, str]) -> None:
    """Nothing can connect to it any more, so it lives for `keep` and no longer.

    The client there is killed with its connection, for it does not always end by itself: this one is stopped.
    """
    there, a_file = folder / "there", folder / "file"
    there.rename(folder / "directory")
    there.symlink_to(folder / "directory")
    a_file.touch()
    async with proxied(folder, environ, 'keep = "2s"\n') as box:
        tab = await box.opened.create_tab(host="box", shell="bash")
        pid = await server_of(tab)
        (client,) = await tab.client.command("display-message", "-p", "#{client_pid}")
        os.kill(int(client), signal.SIGSTOP)
        await box.outage(tab)
        a_file.rename(there)  # in one step: the helper makes a directory that it finds missing
        try:
            await gone(Path(f"/proc/{pid}"))
        finally:
            with suppress(ProcessLookupError):
                os.kill(int(client), signal.SIGKILL)
            there.unlink()
            box.over()


async def test_a_socket_that_was_removed_is_made_anew_by_the_next_connection(box: Proxied) -> None:
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("kept=yes")
    connections = tab.client.connections
    (place_of(tab) / "s").unlink()
    box.lose("kill")
    await box.regained(tab, connections)
    assert (await tab.execute("echo $kept", timeout=PATIENT)).output == "yes\n"


async def test_a_helper_that_is_late_has_no_call_refused(box: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it said last is old: whether the tab is still busy is not known, so the call waits."""
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("true")
    host = tab.pane.host
    assert isinstance(host, RemoteHost)
    await tab.send_keys(["echo begun; read -r line", "Enter"])  # as a person does
    await box.opened.wait_for([tab.key], regex="^begun", timeout=PATIENT)
    with monkeypatch.context() as late:
        late.setattr(questions, "_ANSWER_SECONDS", 0.0)
        async with anyio.create_task_group() as calls:

            async def call() -> None:
                assert (await tab.execute("echo after", timeout=PATIENT)).output == "after\n"

            calls.start_soon(call)
            asked = host._helper._number
            while host._helper._number < asked + ASKED_IN_VAIN:
                await anyio.sleep(0.01)
            late.undo()
            await tab.send_keys(["x", "Enter"])


async def test_the_reason_of_an_end_there_is_told(box: Proxied) -> None:
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("true")
    there = place_of(tab)
    os.kill(await server_of(tab), signal.SIGKILL)
    await gone(there)
    while not tab.pane.session.dead:
        await tab.pane.stream.changed()
    assert "the tmux server there has ended: something has killed it" in tab.end_reason
    assert not there.with_name(there.name + ".ended").exists()  # it was read


@asynccontextmanager
async def limited(folder: Path, environ: dict[str, str], keep: str) -> AsyncIterator[Proxied]:
    """A machine whose user may have few processes."""
    if os.geteuid() or not shutil.which("prlimit"):
        pytest.skip("only root can be another user")
    there = folder / "few"
    there.mkdir(mode=0o700)
    os.chown(there, USER, USER)
    words = [
        "prlimit",
        f"--nproc={PROCESSES}",
        "setpriv",
        f"--reuid={USER}",
        f"--regid={USER}",
        "--clear-groups",
        "env",
        "-i",
    ]
    words += [f"{name}={value}" for name, value in (environ_there(environ, there) | {"HOME": str(there)}).items()]
    proxy = [sys.executable, str(Path(__file__).with_name("disturbed.py")), "cut", str(folder / "proxy" / "pid")]
    more = f"[hosts.few]\nvia = {json.dumps([*proxy, *words])}\nkeep = {json.dumps(keep)}\n"
    for part in (folder, *folder.parents):
        if part.stat().st_uid == os.geteuid() and part != Path("/") and part != Path("/tmp"):
            part.chmod(part.stat().st_mode | 0o711)
    try:
        async with proxied(folder, environ, more) as box:
            yield box
    finally:
        for pid in of_user():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(there, ignore_errors=True)


# It takes every process that the user may have, as soon as there is one, until it is told to end.
FILLER = f"""
import os, resource, signal, sys, time
resource.setrlimit(resource.RLIMIT_NPROC, ({PROCESSES}, {PROCESSES}))
os.setgroups([])
os.setgid({USER})
os.setuid({USER})
taken = []

def give_back(*_):
    for pid in taken:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    sys.exit()

signal.signal(signal.SIGTERM, give_back)
while True:
    try:
        pid = os.fork()
    except OSError:
        time.sleep(0.001)
        continue
    if not pid:
        signal.pause()
    taken.append(pid)
"""


def of_user() -> dict[int, str]:
    """The command lines of that user's processes."""
    found = {}
    for pid in process_table():
        path = Path(f"/proc/{pid}")
        with suppress(OSError):
            if path.stat().st_uid == USER:
                found[pid] = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await anyio.sleep(0.05)


async def test_a_shortage_of_processes_there_passes(
    folder: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with limited(folder, environ, "5s") as box:
        tab = await box.opened.create_tab(host="few", shell="bash")
        await tab.execute("kept=yes")
        pid, there = await server_of(tab), place_of(tab)
        filler = subprocess.Popen([sys.executable, "-c", FILLER])
        # The helper could not start what it asks with, and began anew.
        await until(lambda: any("/helper" in line and " again " in line for line in of_user().values()))
        with suppress(TabUnavailable):
            await tab.execute("true", timeout=2.0)
        monkeypatch.setattr(questions, "_SHORT_SECONDS", 0.5)
        with pytest.raises(HostUnavailable, match="could not start a process"):  # "not a directory", it said
            await box.opened.create_tab(host="few", shell="bash", cwd="/")
        filler.terminate()
        filler.wait()
        assert (await tab.execute("echo $kept", timeout=PATIENT)).output == "yes\n"
        assert await server_of(tab) == pid
        new = await box.opened.create_tab(host="few", shell="bash")
        assert (await new.execute("uname", timeout=PATIENT)).exit_code == 0
        # The watch is there still: without a connection all ends after `keep`.
        box.refuse()
        box.lose("kill")
        await until(lambda: not there.exists())
        box.over()
