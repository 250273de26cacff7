"""Logs are read as a person saw them: exactly N lines, pieces of any size, from any offset, of tabs long gone too."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest

import muxwire
from muxwire.logs.read import LogPiece, View, read_range
from muxwire.logs.store import RETRY_SECONDS
from muxwire.tabs.log_access import LogSource
from tests.library.opened import begun, closed, seen

DEADLINE = 60
PIECES = (1, 7, 64, 1000, 65536)
# Of a log that was read so before, by another name: a piece that cuts a character, and one of some lines.
PIECES_AGAIN = (7, 1000)
# Output that a cut could harm: wide characters, escape sequences, long lines, a line without its end.
COMMANDS = (
    "seq 10",
    r"printf '\033[31mred\033[0m 漢字✨ é\r\nx\033]0;title\007\n'",
    "printf '%0150d\\n' 7",
    "cat <<'E'\n  two\n\n\tlines\nE",
    "printf 'no end'",
)


async def whole(terminals: muxwire.Terminals, target: str) -> bytes:
    """What was seen of the whole log, read in one piece from the file that the library names."""
    path = {row.window_id: row.log_path for row in (await terminals.list_tabs()).tabs}[target]
    await terminals.read_logs(target)  # has everything written
    return read_range(Path(path), 0, Path(path).stat().st_size + 1, View(final=True)).data


async def pieces(
    terminals: muxwire.Terminals, target: str, size: int, start: int = 0
) -> tuple[str, list[tuple[int, int]]]:
    """The log from an offset on, in pieces of a size; and where each begins: its raw offset, what was seen before."""
    text, offset, marks = "", start, []
    while True:
        marks.append((offset, len(text)))
        chunk = await terminals.stream_logs(target, from_byte=offset, max_bytes=size)
        assert chunk.dropped == 0
        assert chunk.next_byte > offset or chunk.eof
        text += chunk.chunk
        if chunk.eof:
            return text, marks
        offset = chunk.next_byte


async def check_pieces(terminals: muxwire.Terminals, target: str, sizes: tuple[int, ...]) -> None:
    seen = (await whole(terminals, target)).decode()
    assert "no end" in seen
    assert "7770" not in seen
    assert "_mux" not in seen
    for size in sizes:
        text, marks = await pieces(terminals, target, size)
        assert text == seen, size
        # From wherever an earlier call ended, and with pieces of another size.
        for offset, before in marks[:: max(1, len(marks) // 10)]:
            again, _ = await pieces(terminals, target, 4096, offset)
            assert again == seen[before:], (size, offset)


# zsh's line editor writes five times as much, which a byte at a time would take a processor 8 s to read.
@pytest.mark.parametrize(("shell", "sizes"), [("bash", PIECES), ("zsh", PIECES[1:])], ids=["bash", "zsh"])
@pytest.mark.timeout(180)
async def test_pieces_of_any_size_give_the_whole_log(
    alone: muxwire.Terminals, shell: str, sizes: tuple[int, ...]
) -> None:
    tab = await alone.create_tab(shell=shell)
    for command in COMMANDS:
        await tab.execute(command)
    await tab.execute("exec sleep 1000", async_=True)
    await seen(tab, b"sleep 1000\r\n")  # all that it will ever write
    await begun(tab)
    live = (await pieces(alone, tab.window_id, 1 << 20))[0]
    for size in sizes:
        assert (await pieces(alone, tab.window_id, size))[0] == live, size
    await tab.close(force=True)
    await check_pieces(alone, tab.window_id, sizes)
    # The server dies, another is started, and counts its windows from the start again.
    client = (await alone.server()).client
    (pid,) = await client.command("display-message", "-p", "#{pid}")
    os.kill(int(pid), signal.SIGKILL)
    await client.wait_closed()
    await alone.server()
    await check_pieces(alone, "@1", PIECES_AGAIN)
    await alone.create_tab(shell=shell)
    await check_pieces(alone, "1/@1", PIECES_AGAIN)


async def test_exactly_so_many_lines(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab(command=["seq", "1", "1000"])
    await closed(tab)
    for lines in (1, 2, 500, 999, 1000, 1001, 100_000):
        tail = await alone.read_logs(tab.window_id, lines=lines)
        wanted = min(lines, 1000)
        assert tail.content == "".join(f"{number}\n" for number in range(1001 - wanted, 1001)), lines
        assert (tail.returned_lines, tail.truncated) == (wanted, lines < 1000)
        assert tail.next_byte == tab.next_byte
    found = await alone.read_logs(tab.window_id, lines=3, grep="^9[0-9]$")
    assert found.content == "97\n98\n99\n"
    assert found.truncated
    for size, last in ((1, "seen"), (7, "seen")):
        tab = await alone.create_tab(command=["printf", "a\\nb\\n" + last])
        await closed(tab)
        tail = await alone.read_logs(tab.window_id, lines=size)
        assert tail.content == f"a\nb\n{last}"[-4 if size == 1 else -8 :]
        assert (tail.returned_lines, tail.truncated) == (min(size, 3), size == 1)


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
        raw = await alone.stream_logs(tab.key, from_byte=found.matches[0].byte, max_bytes=3)
        assert raw.chunk == "1\r\n"
    whole = await alone.read_logs(tab.key, grep="^11$")
    every = (await alone.read_logs(tab.key)).content.split("\n")
    assert [every[match.line - 1] for match in whole.matches if match.line] == ["11"]
    waits = await tab.execute("echo begun; read x", timeout=DEADLINE)
    assert (await alone.read_logs(command_id=waits.command_id)).content == "begun\n"
    with pytest.raises(muxwire.NoSuchTarget):
        await alone.read_logs(command_id="nosuch")


async def test_no_log_is_an_empty_log(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab(command=["sleep", "1000"])
    assert await alone.read_logs(tab.window_id) == muxwire.LogTail("", 0, truncated=False, next_byte=0)
    assert await alone.stream_logs(tab.window_id) == muxwire.LogChunk("", 0, eof=True, closed=False, dropped=0)


async def test_a_stream_waits_for_what_comes_and_for_the_end(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab(command=["sh", "-c", "read -r line; echo got $line; read -r line; exit 0"])
    chunks: list[muxwire.LogChunk] = []

    async def follow(start: int) -> None:
        chunks.append(await alone.stream_logs(tab.window_id, from_byte=start, wait=DEADLINE))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow, 0)
        await tab.start_process("a\r", append_newline=False)
    assert chunks[0].chunk.startswith("a\r\n")
    await seen(tab, b"got a\r\n")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow, tab.next_byte)
        await tab.start_process("b\r", append_newline=False)
    assert chunks[1].chunk.startswith("b")
    await closed(tab)
    last = await alone.stream_logs(tab.window_id, from_byte=chunks[1].next_byte, wait=DEADLINE)
    assert last.closed
    assert last.eof


async def test_a_tab_that_ends_while_its_log_is_read_has_not_ended_for_that_reader(
    alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await alone.create_tab(command=["sh", "-c", "echo first; read -r go; echo last"])
    await alone.wait_for([tab.window_id], until="first", timeout=DEADLINE)

    async def end() -> None:
        await tab.send_keys(["Enter"])
        await closed(tab)

    def read_and_end(*arguments: Any) -> LogPiece:
        monkeypatch.undo()
        piece = read_range(*arguments)
        anyio.from_thread.run(end)
        return piece

    monkeypatch.setattr("muxwire.tabs.log_access.read_range", read_and_end)
    before = await alone.stream_logs(tab.window_id, from_byte=0, max_bytes=1000)
    after = await alone.stream_logs(tab.window_id, from_byte=before.next_byte, max_bytes=1000, wait=DEADLINE)
    assert (before.chunk, before.eof, before.closed) == ("first\r\n", True, False)
    assert after.chunk.endswith("last\r\n")
    assert (after.eof, after.closed) == (True, True)


async def test_half_a_mark_of_a_tab_that_just_ends_is_not_shown(
    alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await alone.create_tab(command=["sh", "-c", "echo hello; read -r go"])
    await alone.wait_for([tab.window_id], until="hello", timeout=DEADLINE)
    tab.pane.stream.feed(b"\x1b]7770;X;")
    flushed = LogSource.flushed

    async def and_ends(source: LogSource) -> bool:
        monkeypatch.undo()
        done = await flushed(source)
        tab.pane.close("it ended")
        return done

    monkeypatch.setattr(LogSource, "flushed", and_ends)
    assert (await alone.read_logs(tab.window_id)).content == "hello\n"


async def test_who_waits_for_a_full_disk_sleeps(alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch) -> None:
    tab = await alone.create_tab(command=["sh", "-c", "echo begun; read -r go; echo more; read -r go"])
    await alone.wait_for([tab.window_id], until="begun", timeout=DEADLINE)
    before = await alone.stream_logs(tab.window_id, from_byte=0)
    looks = []

    def look(*arguments: Any) -> LogPiece:
        looks.append(arguments)
        return read_range(*arguments)

    def refuse(_descriptor: int, _buffers: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("muxwire.tabs.log_access.read_range", look)
    with monkeypatch.context() as full:
        full.setattr(os, "writev", refuse)
        await tab.send_keys(["Enter"])
        await alone.wait_for([tab.window_id], until="more", from_byte=before.next_byte, timeout=DEADLINE)
        nothing = await alone.stream_logs(tab.window_id, from_byte=before.next_byte, wait=RETRY_SECONDS)
        assert (nothing.chunk, len(looks) <= 3) == ("", True)
    after = await alone.stream_logs(tab.window_id, from_byte=before.next_byte, wait=DEADLINE)
    assert after.chunk.endswith("more\r\n")


async def test_logs_of_tabs_that_are_no_longer_listed_can_be_read(
    alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muxwire.tabs.book.REMEMBERED_TABS", 2)
    for number in range(4):
        tab = await alone.create_tab(command=["echo", str(number)])
        await closed(tab)
    assert [row.window_id for row in (await alone.list_tabs()).tabs] == ["@3", "@4"]
    for number in range(4):
        assert (await alone.read_logs(f"@{number + 1}")).content == f"{number}\n"


async def test_a_log_outlives_the_instance_that_wrote_it(
    open_alone: Callable[..., AbstractAsyncContextManager[muxwire.Terminals]], folder: Path
) -> None:
    async with open_alone() as first:
        tab = await first.create_tab(command=["seq", "3"])
        await closed(tab)
        path = str(tab.log_path)
    async with open_alone() as second:
        tail = await second.read_logs(path)
        piece = await second.stream_logs(path, from_byte=3)
        for stranger in ("/etc/hostname", str(folder / "state" / "none.log"), path + "/../../../../../x.log"):
            with pytest.raises(muxwire.NoSuchTarget):
                await second.read_logs(stranger)
    assert (tail.content, tail.truncated) == ("1\n2\n3\n", False)
    assert (piece.chunk, piece.eof, piece.closed) == ("2\r\n3\r\n", True, True)
