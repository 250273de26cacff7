"""Programs that wait for a peer: the kernel names the same function for it as for a read of the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire.host import look, processes
from muxwire.host.remote import PaneAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from muxwire import Tab, Terminals

pytestmark = pytest.mark.anyio

DEADLINE = 30.0
# The peer answers long after a program that is silent would be taken for one that waits for a line.
CLIENT = """
import getpass, socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
peer, _ = listener.accept()
if sys.argv[1] == "recv":
    threading.Timer(0.6, peer.sendall, [b"late"]).start()
    print(client.recv(10).decode())
elif sys.argv[1] == "line":
    print("got", input("Name: "))
else:
    print("got", getpass.getpass("", stream=sys.stdout))
"""


@pytest.fixture
def client(folder: Path) -> str:
    path = folder / "client.py"
    path.write_text(CLIENT)
    return f"{sys.executable} {path}"


@pytest.fixture(params=["here", "here, descriptor unknown", "there"])
async def tab(
    request: pytest.FixtureRequest, terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Tab]:
    """With Yama the kernel does not tell which descriptor a process reads that is no child of ours."""
    if request.param == "here, descriptor unknown":
        read = processes.read_proc
        monkeypatch.setattr(look, "read_proc", lambda pid, name: b"" if name.endswith("syscall") else read(pid, name))
    with anyio.fail_after(DEADLINE):
        made = await terminals.create_tab(host="box" if request.param == "there" else "", shell="bash")
        yield made
        await made.close(force=True)


async def test_a_program_that_waits_for_a_peer_waits_for_no_line(tab: Tab, client: str) -> None:
    done = await tab.execute(f"{client} recv", timeout=DEADLINE)
    assert (done.output, done.exit_code, done.state) == ("late\n", 0, "prompt"), done


@pytest.mark.parametrize("what", ["line", "password"])
async def test_a_program_with_a_peer_that_asks_waits_for_a_line(
    terminals: Terminals, tab: Tab, client: str, what: str
) -> None:
    asked = await tab.execute(f"{client} {what}", timeout=DEADLINE)
    assert (asked.state, asked.running) == ("interactive", True), asked
    await tab.send_keys(["me", "Enter"])
    done = await terminals.command_result(asked.command_id, wait=DEADLINE)
    assert done.output.endswith("got me\n"), done


@pytest.mark.parametrize("there", ["socket", "tty or socket", "wait_woken"])
def test_where_a_process_there_sleeps_is_read(there: str) -> None:
    answer = PaneAnswer()
    answer.take("s", ["7", "S", "1", "7", "7", "0", there, "/bin/cat"])
    (sleep,) = answer.look(7, tells=True).processes[0].sleeps
    assert sleep.tty is {"socket": False, "tty or socket": None, "wait_woken": True}[there]
