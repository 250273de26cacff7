"""Waits see what stands on the screen, however it was drawn there, and ask tmux no more than that takes."""

from __future__ import annotations

import sys

from muxwire import Tab, Terminals
from tests.deadline import DEADLINE

# Draws, as it is told by lines in hex, exactly these bytes; an empty line ends it. With `-` after it, a spinner turns.
PAINTER = r"""
import os, sys, termios, threading, time
modes = termios.tcgetattr(0)
modes[3] &= ~termios.ECHO
termios.tcsetattr(0, termios.TCSANOW, modes)
turning = threading.Event()
def turn():
    while True:
        turning.wait()
        for frame in b'-\\|/':
            os.write(1, b'\x1b7\x1b[3;70H%c\x1b8' % frame); time.sleep(0.02)
threading.Thread(target=turn, daemon=True).start()
os.write(1, b'ready\n')
for line in sys.stdin:
    if line == 'turn\n': turning.set()
    elif line == 'hold\n': turning.clear()
    elif not line.strip(): sys.exit(3)
    else: os.write(1, bytes.fromhex(line))
"""

WAYS = {
    "plain": b"all is done\r\n",
    "coloured": b"\x1b[1mall\x1b[0m \x1b[32mis\x1b[m done\r\n",
    "blanks are cursor moves": b"all\x1b[1Cis\x1b[1Cdone\r\n",
    "drawn from its end": b"\x1b[9;12Hdone\x1b[9;5Hall\x1b[9;9His\r\n",
    "drawn over": b"now is done\rall\r\n",
    "corrected": b"a1l\b\bl\x1b[1C is done\r\n",
    "inserted": b"done\r\x1b[7@all is\r\n",
    "on a screen of its own": b"\x1b[?1049h\x1b[H\x1b[2J\x1b[4;4Hall\x1b[4;8Hi\x1b[4;9Hs\x1b[4;11Hdone",
}


async def painter(terminals: Terminals) -> Tab:
    tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", PAINTER])
    assert (await terminals.wait_for([tab.key], until="ready\n", timeout=DEADLINE)).outcome == "met"
    return tab


def drawing(data: bytes) -> list[str]:
    return [data.hex(), "Enter"]


async def test_no_way_of_drawing_is_missed(terminals: Terminals) -> None:
    tab = await painter(terminals)
    for way, data in WAYS.items():
        assert (await tab.send_keys(drawing(data), until="all is done", wait=DEADLINE)).outcome == "met", way
        # The same by a wait that begins when it is there already.
        found = await terminals.wait_for([tab.key], until="all is done", timeout=0)
        assert (found.outcome, found.match, found.matched_at_entry) == ("met", "all is done", True), way
        assert "all is done" in found.tail, way
        await tab.send_keys(drawing(b"\x1b[?1049l\x1b[H\x1b[2Jcleared\r\n"), until="cleared", wait=9)
    await tab.close(force=True)


async def test_what_stood_there_does_not_count_and_what_goes_does(terminals: Terminals) -> None:
    """An old row is not met, but said; a prompt's blank that is a move is; `gone`, `stable` beside a spinner."""
    tab = await painter(terminals)

    async def sent(data: bytes, *, wait: float = DEADLINE, **wanted: object) -> str | None:
        return (await tab.send_keys(drawing(data), **wanted, wait=wait)).outcome  # type: ignore[arg-type]

    old = b"\x1b[H\x1b[2Jo\x1b[1Bl\x1b[1Ad w\x1b[1Cork\x1b[2;1Hname:\x1b[1C"
    assert await sent(old, until="name: ") == "met"
    assert await sent(b"\x1b[1;40Hx\x1b[2;7H", until="o d", wait=0.3) == "timed_out"
    stood = await terminals.wait_for([tab.key], until="name: ", from_byte=tab.next_byte, timeout=0.2)
    assert (stood.outcome, stood.matched_at_entry, "stood there" in stood.note) == ("timed_out", False, True)
    assert await sent(b"\x1b[2;1H\x1b[K", until="name: ", gone=True) == "met"
    await tab.send_keys(["turn", "Enter"])
    assert await sent(b"\x1b[m", stable=1.0, wait=0.5) == "timed_out"
    assert (await terminals.wait_for([tab.key], until="never shown", timeout=0.3)).outcome == "timed_out"
    await tab.send_keys(["hold", "Enter"])
    still = await terminals.wait_for([tab.key], stable=0.2, timeout=DEADLINE)
    assert (still.outcome, still.match) == ("met", "stable")
    await tab.close(force=True)


async def test_rows_that_are_drawn_once_more_are_not_new(terminals: Terminals) -> None:
    """As Ink draws: up over its rows, and all of them again."""
    tab = await painter(terminals)
    await tab.send_keys(drawing(b"\x1b[2J\x1b[Hdone\r\n> "))
    await tab.wait_for(until="done\n> ", timeout=DEADLINE)
    again, new = b"\r\x1b[1A\x1b[Jdone\r\n> ", b"\r\x1b[1A\x1b[Jdone\r\ndone\r\n> "
    told = await tab.send_keys(drawing(again), until="done", wait=DEADLINE)
    assert told.outcome == "asks", told
    # What comes once more further down is new, also after what was drawn again.
    told = await tab.send_keys(drawing(again) + drawing(new), until="done", wait=DEADLINE)
    assert told.outcome == "met", told
    # An erased screen tells nothing of what stood there.
    told = await tab.send_keys(drawing(b"\x1b[H\x1b[2Jdone\r\ndone\r\n> "), until="done", wait=DEADLINE)
    assert told.outcome == "met", told


async def test_a_command_line_that_is_shown_is_no_output(tab: Tab) -> None:
    """The readable command stands on the screen before the output begins; what it draws counts."""
    draws = r"printf 'it\033[1Bx\033[1A\033[1Cis\033[1Cup\n'; read go"
    started = await tab.start_process(f"true 'it is never'; {draws}", ready="it is never", ready_timeout=0.5)
    assert started.ready is False
    await tab.stop_process()
    started = await tab.start_process(f"true 'is up'; {draws}", ready="is up", ready_timeout=DEADLINE)
    assert started.ready is True


# As Ink draws: up over the rows of its frame, all of them once more, and what is to stay above them. A spinner turns.
INK = r"""
import os, select, time, tty
tty.setraw(0)
box, height, turns = '', 0, 0
while True:
    new = []
    for key in os.read(0, 1000).decode() if select.select([0], [], [], 0.02)[0] else '':
        box += key
        if key == '\r':
            new += ['> ' + box[:-1], *['* Done'] * (box == 'go\r')]
            new += [*map(str, range(60)), '* Done'] if box == 'much\r' else []
            box = ''
    turns += 1
    frame = ['%s Working' % '-\\|/'[turns % 4], '> ' + box, 'Done: so far 0']
    up = '\x1b[2K' + '\x1b[1A\x1b[2K' * (height - 1) + '\x1b[G' if height else ''
    height = len(frame)
    os.write(1, (up + '\r\n'.join([*new, *frame])).encode())
"""


async def test_a_program_that_draws_its_rows_all_the_time_meets_a_wait_by_what_is_new(terminals: Terminals) -> None:
    tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", INK])
    await tab.wait_for(until="Working", timeout=DEADLINE)

    async def sent(line: str, *, wait: float = DEADLINE) -> str | None:
        return (await tab.send_keys([line, "Enter"], until="Done", wait=wait)).outcome

    for _ in range(2):
        assert await sent("nothing", wait=0.3) == "timed_out"
        assert await sent("is it Done", wait=0.3) == "timed_out"  # its echo moves from the box up to the lines above
        assert await sent("go") == "met"
        assert await sent("much") == "met"  # what stood there has scrolled off meanwhile
    await tab.close(force=True)
