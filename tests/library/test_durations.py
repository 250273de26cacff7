"""How long a command took, as a result says it: never less than it can have been."""

from __future__ import annotations

import shutil
import time

import pytest

from muxwire import Terminals

TIMES = 20
# The time between its two readings of the clock lies within the command.
READS_THE_CLOCK = {
    "bash": "a=$EPOCHREALTIME; /bin/true; b=$EPOCHREALTIME; echo $a $b",
    "zsh": "zmodload zsh/datetime; a=$EPOCHREALTIME; /bin/true; b=$EPOCHREALTIME; echo $a $b",
    "ksh": "a=$(printf '%(%s.%N)T' now); /bin/true; b=$(printf '%(%s.%N)T' now); echo $a $b",
    "dash": "date +%s.%N; /bin/true; date +%s.%N",
    "fish": "date +%s.%N; /bin/true; date +%s.%N",
}


@pytest.mark.parametrize("shell", READS_THE_CLOCK)
async def test_a_command_took_as_long_as_it_says_itself(terminals: Terminals, shell: str) -> None:
    tab = await terminals.create_tab(shell=shutil.which(shell), cwd="/")
    await tab.execute("true")
    for _ in range(TIMES):
        result = await tab.execute(READS_THE_CLOCK[shell])
        first, last = map(float, result.output.split())
        assert result.duration_ms >= 1000 * (last - first)
    await tab.close(force=True)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
async def test_what_is_waited_for_before_the_start_does_not_count(terminals: Terminals, shell: str) -> None:
    """The shell takes our line late, and the command itself is short."""
    tab = await terminals.create_tab(shell=shutil.which(shell), cwd="/")
    hook = {"bash": "PS0='$(sleep 0.3)'$PS0", "zsh": "preexec() { sleep 0.3 }"}
    await tab.execute(hook[shell])
    begun = time.monotonic()
    result = await tab.execute("sleep 0.1")
    assert 100 <= result.duration_ms <= 1000 * (time.monotonic() - begun) - 300
    await tab.close(force=True)
