"""How many steps of ours a command takes: a count that may only fall, where a time would depend on the machine."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import muxwire
from muxwire import Tab, Terminals

# Calls of functions of muxwire for `true` in bash, from the call to the shell's next prompt, with all that is noted:
# 245 where nothing else runs, some more on a busy machine. Lower it when a command takes fewer.
CALLS_OF_A_COMMAND = 255
# The smallest of so many counts: on a busy machine more reads, and looks between them, add to the others.
TRIED = 60
OURS = str(Path(muxwire.__file__).parent)


async def calls_of(tab: Tab, command: str) -> int:
    """The calls of one run of `command`, up to the next prompt."""
    counted = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal counted
        counted += event == "call" and frame.f_code.co_filename.startswith(OURS)

    sys.setprofile(count)
    try:
        await tab.execute(command)
        await tab.pane.stream.until(lambda: tab.pane.session.reads != "", 10)
        tab.pane.stream.settle()
    finally:
        sys.setprofile(None)
    return counted


async def test_a_command_takes_few_calls(terminals: Terminals) -> None:
    tab = await terminals.create_tab(shell="bash")
    counts = [await calls_of(tab, "true") for _ in range(TRIED)]
    assert min(counts) <= CALLS_OF_A_COMMAND
