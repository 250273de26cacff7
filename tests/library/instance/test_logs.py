"""Logs are read as a person saw them: exactly N lines, pieces of any size, from any offset, of tabs long gone too."""

from __future__ import annotations

from functools import partial

import pytest

import muxwire
from tests.beside import beside
from tests.deadline import DEADLINE
from tests.library.opened import closed, seen


async def test_the_log_of_one_command(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab()
    await tab.execute("seq 5")
    done = await tab.execute("printf '\\033[1mseq\\033[0m\\n'; seq 11; printf 'a\\rend\\n'")
    await tab.execute("seq 5")
    log = await alone.read_logs(command_id=done.command_id)
    assert log.content == done.output
    assert (log.first_byte, log.next_byte, log.truncated) == (done.from_byte, done.next_byte, False)
    assert (await alone.read_logs(command_id=done.command_id, lines=1)).content == "a\rend\n"
    assert (await alone.read_logs(command_id=done.command_id, lines=2, strip_ansi=True)).content == "11\nend\n"
    for plain in (False, True):
        found = await alone.read_logs(command_id=done.command_id, grep="^1", after=1, strip_ansi=plain)
        assert [match.line for match in found.matches] == [2, 11, 12]
        assert (await alone.stream_logs(tab.key, from_byte=found.matches[0].byte, max_bytes=3)).chunk == "1\r\n"
    whole = await alone.read_logs(tab.key, grep="^11$")
    every = (await alone.read_logs(tab.key)).content.split("\n")
    assert [every[match.line - 1] for match in whole.matches if match.line] == ["11"]
    waits = await tab.execute("echo begun; read x", timeout=DEADLINE)
    assert (await alone.read_logs(command_id=waits.command_id)).content == "begun\n"
    with pytest.raises(muxwire.NoSuchTarget):
        await alone.read_logs(command_id="nosuch")
    with pytest.raises(muxwire.InvalidArgument, match="grep is not given"):
        await alone.read_logs(tab.key, before=3)


async def test_a_stream_waits_for_what_comes_and_for_the_end(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab(command=["sh", "-c", "read -r line; echo got $line; read -r line; exit 0"])
    follow = partial(alone.stream_logs, tab.window_id, wait=DEADLINE)
    async with beside(follow, from_byte=0) as chunks:
        await tab.start_process("a\r", append_newline=False)
    assert chunks[0].chunk.startswith("a\r\n")
    await seen(tab, b"got a\r\n")
    async with beside(follow, from_byte=tab.next_byte) as chunks:
        await tab.start_process("b\r", append_newline=False)
    assert chunks[0].chunk.startswith("b")
    await closed(tab)
    last = await follow(from_byte=chunks[0].next_byte)
    assert last.closed
    assert last.eof
