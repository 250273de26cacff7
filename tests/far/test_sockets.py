"""Who waits for input, here and on another machine: also where a peer, or a relay, stands beside the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.far.host import PaneAnswer
from muxwire.host import look, processes
from muxwire.shell.look import PaneLook, Process, Shown, Sleep, TtyModes
from tests.deadline import DEADLINE
from tests.users import needs

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


SEEN = [
    ["m", "-icanon -echo"],
    ["s", "5", "S", "1", "5", "7", "0", "do_wait", "/bin/bash"],
    ["s", "7", "S", "5", "7", "7", "0", "poll_schedule_timeout", "/usr/bin/script"],
    ["d", "7", "poll", "1", "", "endless"],
    ["i", "7", "3"],
    ["I", "3", "icanon echo"],
    ["p", "3", "8", "S", "7", "8", "8", "8", "wait_woken", "/bin/dash"],
    ["d", "8", "read", "1", "", ""],
]


def test_an_answer_makes_the_same_look_as_this_machine_s_kernel() -> None:
    answer = PaneAnswer()
    for kind, *fields in SEEN:
        answer.take(kind, fields)
    look = answer.look(5, tells=True)
    inside = Process(8, 7, 8, 8, program="dash", sleeps=(Sleep("S", "wait_woken", "read", tty=True),))
    lines, raw = TtyModes(icanon=True, echo=True, isig=False, opost=False), TtyModes(False, False, False, False)
    polls = Sleep("S", "poll_schedule_timeout", "poll", tty=True, endless=True)
    assert look.modes == raw
    assert look.process(7) == Process(
        7, 5, 7, 5, program="script", sleeps=(polls,), inner=(PaneLook(0, lines, 8, (inside,)),)
    )
    assert look.judge(5, Shown()).waiting == "line"


SPAWN = f"{sys.executable} -c 'import pty, sys; pty.spawn(sys.argv[1:])'"
READS = """sh -c 'printf "Name? "; read x; echo "got $x."'"""
WORKS = """sh -c 'printf "Continue? [Y/n] "; sleep 2; exit 0'"""


@pytest.mark.parametrize("tab", ["there"], indirect=True)
@pytest.mark.parametrize("relay", ["script -qec {quoted} /dev/null", SPAWN + " {plain}", "busybox {plain}"])
async def test_what_runs_in_a_relay_there_is_seen(terminals: Terminals, tab: Tab, relay: str) -> None:
    """What works waits for nothing, whatever it shows; what reads is seen wherever it is."""
    needs("script")
    needs("busybox")
    works, reads = (relay.format(quoted=shlex.quote(one), plain=one) for one in (WORKS, READS))
    done = await tab.execute(works, timeout=DEADLINE)
    assert (done.exit_code, done.running, done.note) == (0, False, ""), done
    asked = await tab.execute(reads, timeout=DEADLINE)
    assert (asked.state, asked.running, "a line of input" in asked.note) == ("interactive", True, True), asked
    await tab.send_keys(["me", "Enter"])
    assert "got me." in (await terminals.command_result(asked.command_id, wait=DEADLINE)).output
