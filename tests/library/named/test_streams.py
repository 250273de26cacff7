"""A stream of a living log: all of it is there at `eof`, and its pieces give the whole, whoever types meanwhile."""

from __future__ import annotations

import pytest

from .conftest import Instance


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
