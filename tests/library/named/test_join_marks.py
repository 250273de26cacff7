"""The mark that joins two streams of a pane is nobody's output: what stands before it was written last all the same."""

from __future__ import annotations

import os
import re
import subprocess
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

import muxwire
from muxwire.host.bootstrap import helper_script
from muxwire.host.processes import print_mark
from muxwire.instance.stream_join import KeptOutput, StreamJoin, new_mark
from muxwire.shell.marks import ID_RANDOM, is_join_mark, join_mark, without_join_marks
from tests.library.opened import known_prompt

from .conftest import Instance

DEADLINE = 30
NONCE = "0123456789abcdef"


async def marked(tab: muxwire.Tab) -> None:
    """Print such a mark, as a process does that takes the tab up, and return when the stream ends with it."""
    stream = tab.pane.stream
    tab.pane.host.print_mark(tab.pane.tty, new_mark(tab), tab.pane.leader_pid)
    while stream.written_end == stream.end:
        await stream.changed()


async def test_a_prompt_behind_which_a_mark_came_is_still_known(instance: Instance) -> None:
    async with instance.open() as owner:
        tab = await owner.create_tab(shell="bash")
        await known_prompt(tab)
        spoken = tab.pane.stream.last_output
        await marked(tab)
        assert tab.pane.session.reads == "editor"
        assert tab.pane.stream.last_output == spoken
        assert (await tab.execute("echo on")).output == "on\n"


async def test_a_question_for_a_password_is_still_one(instance: Instance) -> None:
    async with instance.open() as owner:
        tab = await owner.create_tab(shell="bash")
        result = await tab.execute("read -r -s -p 'Password: ' word; echo; echo $word", async_=True)
        while not tab.pane.terminal.asks_secret():
            await tab.pane.stream.changed()
        await marked(tab)
        assert tab.pane.terminal.asks_secret()
        await tab.send_keys(["secret", "Enter"])
        ended = await owner.command_result(result.command_id, wait=DEADLINE)
        assert (ended.output, ended.exit_code) == ("Password: \nsecret\n", 0)


class Unanswered(KeptOutput):
    """Output that is kept where no question is answered, nor waited for: the client closes."""

    look_seconds = 0.001

    def __init__(self) -> None:
        self.asked = 0

    async def read(self, tab: Any, offset: int) -> None:
        self.asked += 1
        assert self.asked < 3, "asked again before anything else could run"


async def test_a_client_can_close_while_a_stream_is_joined() -> None:
    """Of another machine. The questions failed at once, and nothing else of the process ever ran again."""
    pane = SimpleNamespace(
        host=SimpleNamespace(print_mark=lambda *_: None),
        session=SimpleNamespace(closed=False, nonce=NONCE),
        stream=SimpleNamespace(end=0, log=SimpleNamespace(late=lambda: None), rejoining=False),
        tty="",
        leader_pid=0,
    )
    tab: Any = SimpleNamespace(pane=pane, pane_id="%1")
    client: Any = SimpleNamespace(attach_pane=lambda *_: None, closed=False)

    async def closes() -> None:
        client.closed = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(closes)
        assert not await StreamJoin(tab, Unanswered(), client, "").run()


def printed_here(tty: str, mark: bytes, leader: int) -> None:
    print_mark(tty, mark, leader)


def printed_there(tty: str, mark: bytes, leader: int) -> None:
    """As the helper of another machine does it."""
    wanted = r"^number_of\(\) \{.*\}$|^print_mark\(\) \{\n(?:.*\n)*?\}$"
    functions = re.findall(wanted, helper_script(), re.MULTILINE)
    assert len(functions) == 2
    words = (tty, "".join(f"\\0{byte:o}" for byte in mark), str(leader))
    called = "\n".join((*functions, 'print_mark "$@"'))
    subprocess.run(["sh", "-c", called, "sh", *words], check=False)


@pytest.mark.parametrize("printed", [printed_here, printed_there])
def test_a_mark_is_printed_on_the_terminal_of_its_pane_only(printed: Any) -> None:
    """Another terminal may have the path of one that is gone. A mark stood in the output of another instance."""
    mark, other = (join_mark(bytes(random), NONCE) for random in (range(ID_RANDOM), range(1, 1 + ID_RANDOM)))
    master, terminal = os.openpty()
    try:
        tty = os.ttyname(terminal)
        takes = ["sh", "-c", 'exec <"$1"; echo; exec sleep 1000', "sh", tty]
        with subprocess.Popen(takes, stdout=subprocess.PIPE, start_new_session=True) as leader:
            assert leader.stdout is not None
            leader.stdout.readline()
            printed(tty, other, os.getpid())
            printed(tty, mark, leader.pid)
            leader.kill()
        printed(tty, other, leader.pid)
        printed(tty, other, 0)
        os.write(terminal, b"end")
        shown = b""
        while not shown.endswith(b"end"):
            shown += os.read(master, 4096)
        assert shown == mark + b"end"
    finally:
        os.close(master)
        os.close(terminal)


def test_a_mark_of_this_tab_and_nothing_else() -> None:
    mark = join_mark(bytes(range(ID_RANDOM)), NONCE)
    assert is_join_mark(mark, NONCE)
    others = (b"", mark[:-1], mark + b"x", mark.replace(b"R", b"S"), b"\x1b]7770;R;0123456789abcdef\x07")
    assert not any(is_join_mark(data, NONCE) for data in others)
    assert not is_join_mark(mark, NONCE[::-1])
    kept = (b"a", others[3], others[4], b"z")
    assert without_join_marks(mark.join(kept), NONCE) == b"".join(kept)
