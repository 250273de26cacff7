"""`strip_ansi` gives what a person would have read, wherever it is read."""

from __future__ import annotations

import pytest

import muxwire
from muxwire import Tab
from tests.deadline import DEADLINE
from tests.library.opened import known_prompt, tab_for

# A bar that is drawn over 300 times, a word printed bold, five lines that are drawn twice, a full-screen program.
SHOWN = (
    r"""for i in $(seq 300); do printf '\r%d of 300' $i; done; echo; printf 'ab\bc\nN\bNA\bA\n'; """
    r"""printf '1\n2\n\033[2A'; printf '\033[Kone\n\033[Ktwo\n'; printf '\033[?1049h\033[H~\n~\n\033[?1049l'; """
    r"""printf '%0300d\n' 7"""
)
READ = "300 of 300\nac\nNA\none\ntwo\n" + "0" * 299 + "7\n"


async def test_every_reader_reads_the_same(terminals: muxwire.Terminals, tab: Tab) -> None:
    begin = tab.next_byte
    result = await tab.execute(SHOWN, strip_ansi=True)
    assert result.output == READ
    assert not result.note  # of what was left out logs speak
    # The echo of the command has escapes of its own as text; what follows it is the output.
    tail = await terminals.read_logs(tab.window_id, strip_ansi=True)
    assert "\n" + READ in tail.content
    assert "\r" not in tail.content
    assert "alternate screen" in tail.note
    assert "\n" + READ in (await terminals.stream_logs(tab.window_id, from_byte=begin, strip_ansi=True)).chunk
    assert (await terminals.read_logs(tab.window_id, strip_ansi=True, grep="^300 of 300$")).content == "300 of 300\n"
    assert READ in (await terminals.wait_for([tab.window_id], prompt=True, timeout=DEADLINE)).tail


@pytest.mark.parametrize("size", [7, 100, 1000, 65536])
async def test_pieces_are_cut_where_lines_end(terminals: muxwire.Terminals, tab: Tab, size: int) -> None:
    begin = tab.next_byte
    await tab.execute(SHOWN)
    await terminals.wait_for([tab.window_id], prompt=True, timeout=DEADLINE)
    text, position, eof = "", begin, False
    while not eof:
        chunk = await terminals.stream_logs(tab.window_id, from_byte=position, max_bytes=size, strip_ansi=True)
        assert chunk.next_byte > position or chunk.eof
        text, position, eof = text + chunk.chunk, chunk.next_byte, chunk.eof
    # A line that does not fit into a piece comes again as it is drawn over; those that do are there once.
    lines = text.split("\n")
    assert [line for line in lines if line in ("300 of 300", "ac", "NA", "one", "two")][:3] == [
        "300 of 300",
        "ac",
        "NA",
    ]
    assert "0" * 299 + "7" in lines
    assert not any("~" in line for line in lines if "printf" not in line)
    if size >= 65536:
        assert "\n" + READ in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash", "ksh"])
async def test_an_answer_that_begins_after_a_prompt_is_read_there(terminals: muxwire.Terminals, shell: str) -> None:
    """Line editors move the cursor to columns that count from the line's beginning."""
    async with tab_for(terminals, shell=shell) as tab:
        await known_prompt(tab)
        for paste in (False, True):
            keys = ["echo typed, and a good deal of it", *([] if paste else ["Enter"])]
            sent = await tab.send_keys(keys, paste=paste, enter=paste, wait=DEADLINE)
            assert sent.outcome == "ended", sent
            assert sent.output.startswith("echo typed, and a good deal of it\ntyped, and a good deal of it\n"), sent
            await known_prompt(tab)
