"""A log is byte for byte what tmux's own `pipe-pane -o 'cat >>file'` writes of the same pane at the same time."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import anyio

import muxwire
from muxwire.logs.read import read_raw

# Everything that somebody on the way could change: controls, escapes, what is no UTF-8, what tmux answers or draws.
AWKWARD = (
    bytes(range(256)) * 3
    + "漢字✨é\U0001f468‍\U0001f469\r\n".encode()
    + b"\x1b[2J\x1b[H\x1b[?1049h\x1b]0;title\x07\x1b[c\x1b[6n\x1bPq#0\x1b\\\x1b[?1049l\x1bc"
    + b"\\033 %output %1 x\r\n%begin 1 1 1\r\n%end 1 1 1\r\n%exit\r\n"
    + b"\xff\xfe\xc3\xe2\x82\x00\x00\\"
)


async def piped(tab: muxwire.Tab, folder: Path) -> tuple[int, Path]:
    """Have tmux write the pane's output to a file too, and return the offset at which it begins, and the file.

    Of bytes that come while tmux answers nobody knows whether the pipe has them: then it is opened again.
    """
    for number in itertools.count():
        start, file = tab.next_byte, folder / f"piped-{number}"
        await tab.client.command("pipe-pane", "-o", "-t", tab.pane_id, f"cat >> {file}")
        if tab.next_byte == start:
            return start, file
        await tab.client.command("pipe-pane", "-t", tab.pane_id)
    raise AssertionError


async def same(tab: muxwire.Tab, start: int, file: Path) -> None:
    """The log from an offset on is the file, once cat has written what tmux gave it."""
    end = -1
    while not file.exists() or file.stat().st_size != end - start:
        await anyio.sleep(0.005)
        assert await tab.pane.stream.log.flushed()
        end = tab.next_byte
    raw, theirs = read_raw(tab.log_path, start, end), file.read_bytes()
    assert len(raw) == len(theirs) == end - start
    assert raw == theirs


async def test_programs_write_the_same_bytes_into_both(alone: muxwire.Terminals, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(AWKWARD + random.Random(5).randbytes(3_000_000) + AWKWARD)
    tab = await alone.create_tab(
        command=["sh", "-c", f"read x; stty -echo raw; cat {source}; stty sane; seq 1 100000; echo done; read x"]
    )
    start, file = await piped(tab, tmp_path)
    await tab.send_keys(["Enter"])
    while not tab.pane.stream.ring.read(0).endswith(b"done\r\n"):
        await tab.pane.stream.changed()
    assert await tab.pane.stream.log.flushed()
    assert source.read_bytes() in read_raw(tab.log_path, 0, tab.next_byte)
    await same(tab, start, file)
