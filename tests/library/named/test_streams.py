"""A stream of a living log: all of it is there at `eof`, and its pieces give the whole, whoever types meanwhile."""

from __future__ import annotations

import anyio
import pytest

import muxwire
from muxwire.vt.text import strip_ansi
from tests.library.opened import drawn

from .conftest import Instance

DEADLINE = 50
COMMANDS = 15


@pytest.mark.parametrize("said", ["Name: ", "Name: \\n", "\\n ", "a\\t", "100 % "])
@pytest.mark.parametrize("strip_ansi", [False, True])
async def test_a_blank_at_the_end_is_streamed(instance: Instance, said: str, strip_ansi: bool) -> None:
    seen = said.replace("\\n", "\r\n").replace("\\t", "\t")
    shown = seen.replace(" \r\n", "\n") if strip_ansi else seen  # a row that has ended does so at its last character
    async with instance.open() as terminals:
        tab = await terminals.create_tab(command=["sh", "-c", f"printf %b '{said}'; exec sleep 1000"])
        while tab.next_byte < len(seen):
            await tab.pane.stream.changed()
        chunk = await terminals.stream_logs(tab.window_id, strip_ansi=strip_ansi)
        assert chunk.chunk.replace("\r", "") == shown.replace("\r", "")
        assert (chunk.eof, chunk.next_byte) == (True, tab.next_byte)
        tail = await terminals.read_logs(tab.window_id, lines=10, strip_ansi=strip_ansi)
        assert tail.content == shown.replace("\r", "")
        await tab.close(force=True)


async def test_a_prompt_is_streamed_with_its_blank(instance: Instance) -> None:
    async with instance.open() as terminals:
        tab = await terminals.create_tab(shell="bash")
        await tab.execute("true")
        await terminals.wait_for([tab.window_id], prompt=True, timeout=DEADLINE)
        await drawn(tab)
        chunk = await terminals.stream_logs(tab.window_id)
        assert strip_ansi(chunk.chunk).endswith("b$ ")
        assert (chunk.eof, chunk.next_byte) == (True, tab.next_byte)


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
@pytest.mark.parametrize("typist", ["the reader", "another process"])
async def test_the_pieces_of_a_log_that_is_typed_into_give_the_whole(
    instance: Instance, shell: str, typist: str
) -> None:
    async def follow(terminals: muxwire.Terminals, target: str, text: list[str]) -> None:
        next_byte = 0
        while "done\r\n" not in "".join(text):
            chunk = await terminals.stream_logs(target, from_byte=next_byte, wait=DEADLINE)
            text.append(chunk.chunk)
            next_byte = chunk.next_byte

    async with instance.open() as owner:
        tab = await owner.create_tab(name="shared", shell=shell)
        async with instance.open() as follower:
            assert follower.role == "follower"
            text: list[str] = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow, follower if typist == "another process" else owner, "shared", text)
                for number in range(COMMANDS):
                    await tab.execute(f"echo {number}")
                await tab.execute("printf 'do'; echo ne; exec sleep 1000", async_=True)
        await tab.close(force=True)
        whole = await owner.stream_logs(tab.address)
        assert whole.chunk.startswith("".join(text))
        assert "_mux" not in whole.chunk
