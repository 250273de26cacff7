"""Output handed on while a command runs: the same bytes as a result brings, before the end, whatever cuts them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from muxwire import Tab
from muxwire.host.local import LocalHost
from muxwire.host.shells import shell_for
from muxwire.logs.store import LogStore
from muxwire.pane.output import LiveOutput
from muxwire.pane.state import PaneState
from muxwire.pane.stream import PaneStream
from muxwire.shell.execution import Execution

ID = "0123456789abcdef"
NONCE = "fedcba9876543210"


def pane(folder: Path, store: LogStore, shell: str) -> tuple[PaneState, Execution]:
    """A pane with an open command, fed by the test instead of tmux."""
    state = PaneState(
        host=LocalHost(os.environ),
        pane_id="%1",
        nonce=NONCE,
        shell=shell_for(shell),
        leader_pid=os.getpid(),
        tty="",
        cwd="/",
    )
    state.stream = PaneStream(store.open(folder / "pane.log"), state.session.on_mark)
    execution = Execution(command_id=ID, command=b"x", prompt_seq=1, typed_at=0, typed_time=0.0)
    state.session.typed(execution)
    return state, execution


@pytest.mark.parametrize("step", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("shell", "written", "end", "output"),
    [
        ("bash", b"a\r\nb\r", f"\x1b]7770;E;{ID};0;/;{ID}\x07", b"a\nb\r"),
        ("bash", b"\x1b]7770;\r\r\n\x1b]777", f"\x1b]7770;E;{ID};3;/a\r\nb;{ID}\x07", b"\x1b]7770;\r\n\x1b]777"),
        ("bash", b"", f"\x1b]7770;E;{ID};0;/;{ID}\x07", b""),
        # Cut short by C-c: a prompt mark is the end, and what zsh prints before it is no output.
        ("zsh", b"x" * 3 + b"\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m" + b" " * 9 + b"\r \r",
         f"\x1b]7770;P;{NONCE};2;1;130;/;{NONCE}\x07", b"xxx"),
        ("fish", b"one\r\n", f"\x1b]7770;D;{NONCE};0;5\x07\x1b[?1h\x1b]7770;P;{NONCE};2;1;5;/;{NONCE}\x07", b"one\n"),
        # fish 4 tells its terminal too, which is no output; what only begins like it is.
        ("fish", b"one\r\n\x1b]133;D;5\x07", f"\x1b]7770;D;{NONCE};0;5\x07\x1b]7770;P;{NONCE};2;1;5;/;{NONCE}\x07",
         b"one\n"),
        ("fish", b"\x1b]133;D;5\x07\x1b]133;D", f"\x1b]7770;E;{ID};0;/;{ID}\x07", b"\x1b]133;D;5\x07\x1b]133;D"),
    ],
)  # fmt: skip
async def test_every_cut_gives_the_same(
    tmp_path: Path, step: int, shell: str, written: bytes, end: str, output: bytes
) -> None:
    got: list[bytes] = []

    async def take(data: bytes) -> None:
        got.append(data)

    async with LogStore() as store:
        state, execution = pane(tmp_path, store, shell)
        stream = f"\x1b]7770;S;{ID}\x07".encode() + written + end.encode() + b"prompt$ "

        async def feed() -> None:
            for at in range(0, len(stream), step):
                state.stream.feed(stream[at : at + step])
                await anyio.lowlevel.checkpoint()
                await anyio.lowlevel.checkpoint()

        await LiveOutput(execution, state.stream, take, state.shell).during(feed)
        assert b"".join(got) == output
        assert not execution.running
        assert execution.read_up_to == execution.end
        state.stream.close()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash"])
async def test_output_comes_while_the_command_runs(tab: Tab, tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    got = bytearray()

    async def take(data: bytes) -> None:
        got.extend(data)
        if bytes(got) == b"first\n":
            await anyio.to_thread.run_sync(fifo.write_text, "")

    result = await tab.execute(f"echo first; cat {fifo}; printf 'last\\r\\n\\033[1m%%'", timeout=30, on_output=take)
    assert (bytes(got), result.output, result.exit_code) == (b"first\nlast\r\n\x1b[1m%", "", 0)


async def test_a_flood_arrives_whole_at_a_slow_reader(tab: Tab) -> None:
    got = bytearray()

    async def take(data: bytes) -> None:
        got.extend(data)
        await anyio.sleep(0.01)  # slower than tmux: what memory gave up comes from the log

    result = await tab.execute("seq 500000", timeout=30, on_output=take)
    assert (result.exit_code, result.output, result.note) == (0, "", "")
    assert bytes(got) == b"".join(b"%d\n" % number for number in range(1, 500001))


async def refuse(*_: object) -> None:
    """A function that fails."""
    raise BrokenPipeError(32, "nobody reads")


@pytest.mark.parametrize(
    ("given", "then"),
    [
        ({"on_output": refuse}, "sleep 1000"), ({"on_start": refuse}, "sleep 1000"), ({"on_input": refuse}, "read x"),
        ({"on_progress": refuse}, "sleep 1000"), ({"on_progress": refuse, "on_output": len}, "sleep 1000"),
    ],
)  # fmt: skip
async def test_a_function_that_fails_ends_the_command(tab: Tab, given: dict[str, Any], then: str) -> None:
    with pytest.raises(BrokenPipeError):
        await tab.execute(f"echo x; {then}", timeout=900, **given)
    assert (await tab.execute("echo free", timeout=5)).output == "free\n"


async def test_waiting_for_input_is_told_and_waited_through(tab: Tab) -> None:
    asked: list[str] = []
    got = bytearray()

    async def take(data: bytes) -> None:
        got.extend(data)

    async def answer(what: str) -> None:
        asked.append(what)
        await tab.send_keys(["blue", "Enter"])

    result = await tab.execute("read -p 'colour? ' c; echo got $c", timeout=30, on_output=take, on_input=answer)
    assert (result.exit_code, result.note, asked) == (0, "", ["a line of input"])
    assert bytes(got) == b"colour? blue\ngot blue\n"
