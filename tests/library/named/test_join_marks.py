"""The mark that joins two streams of a pane is nobody's output: what stands before it was written last all the same."""

from __future__ import annotations

import anyio
import pytest

import muxwire
from muxwire.shell.marks import ID_RANDOM, is_join_mark, join_mark, without_join_marks

from .conftest import Instance

pytestmark = pytest.mark.anyio

DEADLINE = 30
NONCE = "0123456789abcdef"


async def marked(tab: muxwire.Tab) -> None:
    """Return when the stream ends with such a mark."""
    stream = tab.pane.stream
    while stream.written_end == stream.end:
        await stream.changed()


async def test_a_prompt_behind_which_a_follower_came_is_still_known(instance: Instance) -> None:
    with anyio.fail_after(DEADLINE):
        async with instance.open() as owner, instance.open() as follower:
            tab = await owner.create_tab(shell="bash")
            for _ in range(3):
                await tab.execute("true")
            while not tab.pane.prompt_whole:
                await tab.pane.stream.changed()
            spoken = tab.pane.stream.last_output
            await follower.server()
            await marked(tab)
            assert tab.pane.prompt_whole
            assert tab.pane.stream.last_output == spoken
            assert (await tab.execute("echo on")).output == "on\n"


async def test_a_question_for_a_password_is_still_one(instance: Instance) -> None:
    with anyio.fail_after(DEADLINE):
        async with instance.open() as owner, instance.open() as follower:
            tab = await owner.create_tab(shell="bash")
            result = await tab.execute("read -r -s -p 'Password: ' word; echo; echo $word", wait=False)
            while not tab.pane.asks_secret():
                await tab.pane.stream.changed()
            await follower.server()
            await marked(tab)
            assert tab.pane.asks_secret()
            await tab.send_keys(["secret", "Enter"])
            ended = await owner.command_result(result.command_id, wait=DEADLINE)
            assert (ended.output, ended.exit_code) == ("Password: \nsecret\n", 0)


def test_a_mark_of_this_tab_and_nothing_else() -> None:
    mark = join_mark(bytes(range(ID_RANDOM)), NONCE)
    assert is_join_mark(mark, NONCE)
    others = (b"", mark[:-1], mark + b"x", mark.replace(b"R", b"S"), b"\x1b]7770;R;0123456789abcdef\x07")
    assert not any(is_join_mark(data, NONCE) for data in others)
    assert not is_join_mark(mark, NONCE[::-1])
    kept = (b"a", others[3], others[4], b"z")
    assert without_join_marks(mark.join(kept), NONCE) == b"".join(kept)
