"""How many steps of ours a command takes: a count that may only fall, where a time would depend on the machine."""

from __future__ import annotations

import sys
from types import FrameType

import muxwire

# Calls of functions of muxwire for `true` in bash, from the call to the shell's next prompt, with all that is noted;
# lower it when a command takes fewer. The smallest of so many counts: on a busy machine more reads, and looks between
# them, add to the others.
CALLS_OF_A_COMMAND, TRIED = 246, 60


async def test_a_command_takes_few_calls(terminals: muxwire.Terminals) -> None:
    tab = await terminals.create_tab(shell="bash")
    counts = [0] * TRIED
    for number in range(TRIED):

        def count(frame: FrameType, event: str, _: object, number: int = number) -> None:
            ours = frame.f_code.co_filename.startswith(muxwire.__file__.removesuffix("__init__.py"))
            counts[number] += ours and event == "call"

        sys.setprofile(count)
        await tab.execute("true")
        await tab.pane.stream.until(lambda: tab.pane.session.reads != "", 10)
        tab.pane.stream.settle()
        sys.setprofile(None)
    assert min(counts) <= CALLS_OF_A_COMMAND
