"""Waits end at the right byte, with what was seen, and cost nothing until then."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import pytest

from muxwire.errors import InvalidArgument
from muxwire.library.terminals import Terminals
from muxwire.results import WaitOutcome
from muxwire.tabs.searches import OVERLAP, SLICE
from muxwire.tabs.tab import Tab
from muxwire.tabs.waits import Wanted
from muxwire.verbs.catalogue import Wait
from tests.beside import beside
from tests.deadline import DEADLINE

# A program that prints, as it is told by lines in hex, exactly these bytes; nothing is echoed. An empty line ends it.
PRINTER = r"""
import os, sys, termios
modes = termios.tcgetattr(0)
modes[1] &= ~termios.OPOST
modes[3] &= ~termios.ECHO
termios.tcsetattr(0, termios.TCSANOW, modes)
os.write(1, b'READY\r\n')
for line in sys.stdin:
    if not line.strip(): sys.exit(7)
    count, _, text = line.strip().partition('*')
    data = bytes.fromhex(text) * int(count)
    while data: data = data[os.write(1, data):]
"""


class Printer:
    """A tab whose output a test decides."""

    def __init__(self, terminals: Terminals, tab: Tab) -> None:
        self.terminals = terminals
        self.tab = tab

    async def print(self, data: bytes, times: int = 1) -> None:
        await self.tab.send_keys([f"{times}*{data.hex()}\n"])

    async def wait(self, *, timeout: float = DEADLINE, **wanted: object) -> WaitOutcome:
        with anyio.fail_after(DEADLINE * 2):
            return await self.terminals.wait_for([self.tab.window_id], timeout=timeout, **wanted)  # type: ignore[arg-type]

    async def printed(self, data: bytes) -> int:
        """Print, and return once it is here; the offset behind it."""
        start = self.tab.next_byte
        await self.print(data)
        with anyio.fail_after(DEADLINE):
            while self.tab.next_byte < start + len(data):
                await self.tab.pane.stream.changed()
        return self.tab.next_byte


async def open_printer(terminals: Terminals) -> Printer:
    tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", PRINTER])
    printer = Printer(terminals, tab)
    assert (await printer.wait(until="READY\n")).outcome == "met"
    return printer


@pytest.fixture
async def printer(terminals: Terminals) -> AsyncIterator[Printer]:
    opened = await open_printer(terminals)
    yield opened
    await opened.tab.close(force=True)


@pytest.mark.parametrize(
    "wanted",
    [
        Wait(until="a", regex="b"), Wait(gone=True), Wait(gone=True, idle=1.0), Wait(regex="("), Wait(regex="a*"),
    ],
)  # fmt: skip
async def test_what_can_never_be_waited_for_is_refused(wanted: Wait) -> None:
    with pytest.raises(InvalidArgument):
        await Wanted.of(wanted)


async def test_text_that_is_there_already_and_text_that_comes(printer: Printer) -> None:
    end = await printer.printed(b"one two\r\n")
    there = await printer.wait(until="one")
    assert (there.outcome, there.match, there.matched_at_entry) == ("met", "one", True)
    assert there.next_byte == end - len(b" two\r\n")
    assert there.tail.endswith("one two\n")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(printer.print, b"one \x1b[1mth\x1b[0mree\r\n")
        coming = await printer.wait(until="one three", from_byte=end)
    assert (coming.outcome, coming.which, coming.match) == ("met", printer.tab.window_id, "one three")
    assert not coming.matched_at_entry
    assert coming.next_byte == end + len(b"one \x1b[1mth\x1b[0mree")
    assert (await printer.wait(until="one", from_byte=coming.next_byte, timeout=0.0)).outcome == "timed_out"
    assert coming.tail.startswith("one three")
    nothing = await printer.wait(until="one", from_byte=printer.tab.next_byte, timeout=0.0)
    assert (nothing.outcome, nothing.tail) == ("timed_out", "")


@pytest.mark.parametrize(
    ("text", "regex", "match", "rest"),
    [
        ("Wort für\r\nWort 終わり", r"^Wort für\nWort 終わり$", "Wort für\nWort 終わり", ""),
        # As Python's prompt ends a line from 3.13 on.
        (">>> 6*7\x1b[3D\n\r\x1b[?2004l42", "^42$", "42", "\r\n"),
        (">>> 6*7\x1b[3D\n\r\x1b[?2004l42\r\n", "^42\n", "42\n", ""),
    ],
)
async def test_matches_go_across_chunks_lines_and_characters(
    printer: Printer, text: str, regex: str, match: str, rest: str
) -> None:
    """Wherever a look cuts it, and of what is there already."""
    start = printer.tab.next_byte
    async with beside(printer.wait, regex=regex, from_byte=start) as results:
        for byte in text.encode():
            assert not results
            await printer.printed(bytes((byte,)))
    end = printer.tab.next_byte
    await printer.printed(rest.encode())
    results.append(await printer.wait(regex=regex, from_byte=start))
    assert [(one.match, one.next_byte) for one in results] == [(match, end)] * 2


async def test_a_needle_anywhere_in_a_lot_of_output(printer: Printer) -> None:
    """Around the edges of a slice, of the ring (1 MiB), and of the overlap; the log has what the ring gave up."""
    start = printer.tab.next_byte
    for filler in (SLICE - 20, 3_000_000, OVERLAP):
        await printer.print(b"filler\r\n", filler // 8)
        await printer.print(b"needle")
        await printer.print(b" " * 100 + b"END\r\n")
        found = await printer.wait(until="needle", from_byte=start)
        assert found.outcome == "met"
        end = await printer.wait(regex=r"^needle {100}END$", from_byte=start)
        assert end.next_byte == found.next_byte + 103
        start = end.next_byte
    await printer.print(b"x", 40_000)
    await printer.print(b"\r\n")
    assert (await printer.wait(regex=r"x$", from_byte=start)).outcome == "met"
    # A line's beginning is not where our memory of it begins.
    assert (await printer.wait(regex=r"^x+y|^y", from_byte=start, timeout=0.0)).outcome == "timed_out"


async def test_silence_is_counted_from_the_call_and_from_every_byte(printer: Printer) -> None:
    await printer.printed(b"before\r\n")
    quiet = await printer.tab.wait_for(timeout=DEADLINE)  # without a condition
    assert (quiet.outcome, quiet.match) == ("met", "idle")
    results: list[tuple[WaitOutcome, float]] = []

    async def wait() -> None:
        results.append((await printer.wait(idle=2.0), time.monotonic()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        for _ in range(5):
            await printer.wait(idle=0.1)
            assert not results
            await printer.printed(b".")
    [(met, at)] = results
    assert (met.outcome, met.match) == ("met", "idle")
    assert at - printer.tab.pane.stream.last_output >= 2.0


async def test_bells_but_not_the_ends_of_titles(printer: Printer) -> None:
    start = await printer.printed(b"\x1b]0;title\x07")
    assert (await printer.wait(bell=True, from_byte=0, timeout=0.0)).outcome == "timed_out"
    end = await printer.printed(b"\x1b]0;title\x07ding\x07dong")
    rung = await printer.wait(bell=True, from_byte=start)
    assert (rung.outcome, rung.match, rung.next_byte, rung.matched_at_entry) == ("met", "bell", end - 4, True)
    assert (await printer.wait(bell=True, timeout=0.0)).outcome == "timed_out"  # without an offset: the next one


async def test_the_first_of_several_tabs(terminals: Terminals) -> None:
    printers = [await open_printer(terminals) for _ in range(3)]
    names = [printer.tab.window_id for printer in printers]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(printers[0].tab.send_keys, ["\n"])  # one that ends ends nothing for the others
        tasks.start_soon(printers[2].print, b"here\r\n")
        found = await terminals.wait_for(names, until="here", timeout=DEADLINE)
    assert (found.outcome, found.which) == ("met", names[2])
    late = await terminals.wait_for(names[1:], until="there", timeout=0.0)
    assert (late.outcome, late.which) == ("timed_out", "")
    with pytest.raises(InvalidArgument, match="one tab"):
        await terminals.wait_for(names[1:], until="x", from_byte=0)
    for printer in printers[1:]:
        await printer.tab.close(force=True)
    assert (await terminals.wait_for(names, until="there")).outcome == "closed"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash", "ksh"])
async def test_a_prompt_comes_with_the_exit_code(terminals: Terminals, shell: str) -> None:
    tab = await terminals.create_tab(shell=shutil.which(shell), name=f"named-{shell}")
    await terminals.wait_for([tab.window_id], prompt=True, timeout=DEADLINE)
    for status, command in ((3, "sh -c 'exit 3'"), (0, "true"), (143, "sh -c 'kill $$'")):
        sent = await tab.send_keys([command, "Enter"])
        met = await terminals.wait_for([tab.name], prompt=True, from_byte=sent.next_byte, timeout=DEADLINE)
        assert (met.match, met.exit_code, met.which) == ("prompt", status, tab.name)
    late = await terminals.wait_for([tab.window_id], prompt=True, from_byte=tab.next_byte, timeout=0.0)
    assert late.outcome == "timed_out"  # the prompt that stands there came before
    sent = await tab.send_keys(["exit 5", "Enter"])
    ended = await terminals.wait_for([tab.window_id], exit=True, timeout=DEADLINE)
    assert (ended.match, ended.exit_code, ended.which) == ("exit 5", 5, tab.window_id)
    assert (await terminals.wait_for([tab.window_id], until="never", timeout=0)).exit_code is None


async def test_our_own_typed_line_and_marks_are_not_seen(terminals: Terminals, tab: Tab) -> None:
    assert (await tab.execute("echo out'put'")).exit_code == 0
    seen = await terminals.wait_for([tab.window_id], regex=r"muxwire|7770|_{2}", from_byte=0, timeout=0.0)
    assert seen.outcome == "timed_out", seen
    running = await tab.execute("echo starting; read -r go; echo finished", async_=True)
    asked = await terminals.wait_for([tab.window_id], until="starting", timeout=DEADLINE)
    assert asked.outcome == "met"
    assert asked.next_byte >= running.from_byte
    # The text of the command is not its output.
    assert (await terminals.wait_for([tab.window_id], until="finished", timeout=0.0)).outcome == "timed_out"
    await tab.send_keys(["go", "Enter"])
    assert (await terminals.wait_for([tab.window_id], until="finished", timeout=DEADLINE)).outcome == "met"


async def test_an_offset_beyond_the_end_is_refused(printer: Printer) -> None:
    for named, said, asked in (
        ([printer.tab.key], "the output has offsets 0 to", {"until": "x", "from_byte": printer.tab.next_byte + 1}),
        ([printer.tab.key], "this tab runs no shell that marks its prompts", {"prompt": True}),
        ([printer.tab.key] * 2, f"{printer.tab.key} runs no shell that marks its prompts", {"prompt": True}),
    ):
        with pytest.raises(InvalidArgument, match=said):
            await printer.terminals.wait_for(named, **asked)


async def test_a_line_that_the_terminal_wrapped_is_one_line(printer: Printer) -> None:
    start = printer.tab.next_byte
    await printer.print(b"x" * 117 + b"needle" + b"y" * 300 + b"\r\n")  # around the right edge of 120 columns
    met = await printer.wait(regex=r"^x+needley+$", from_byte=start)
    assert (met.outcome, len(met.match)) == ("met", 423)


async def test_the_end_of_the_program(printer: Printer) -> None:
    async with beside(printer.wait, until="never printed", from_byte=0) as ends, beside(printer.tab.send_keys, ["\n"]):
        ended = await printer.wait(exit=True, until="never printed")
    assert (ended.outcome, ended.match, ended.exit_code) == ("met", "exit 7", 7)
    assert (ends[0].outcome, ends[0].which, ends[0].match) == ("closed", printer.tab.window_id, "")
    assert "READY" in ends[0].tail
    for wanted in ({"exit": True}, {"until": "READY", "from_byte": 0}):
        late = await printer.wait(**wanted)
        assert (late.outcome, late.matched_at_entry) == ("met", True)


@pytest.mark.parametrize(
    "asks",
    [
        "read -p 'A? ' a; read -p 'B? ' b; echo do''ne",
        "sh -c 'read -p \"A? \" a; read -p \"B? \" b'; echo do''ne",
    ],
)
async def test_a_wait_for_text_ends_when_the_program_asks(tab: Tab, asks: str) -> None:
    """Of the shell itself too. What a result has told ends no other wait, which says it at its end."""
    began = await tab.start_process(asks, ready="done", ready_timeout=DEADLINE)
    assert (began.ready, began.state, "waits for a line" in began.note) == (False, "interactive", True), began
    told = await tab.send_keys(["x", "Enter"], until="done", wait=DEADLINE)
    assert (told.outcome, told.state, told.output, told.note) == ("asks", "interactive", "x\nB? ", began.note), told
    late = await tab.wait_for(until="done", timeout=0.0)
    assert (late.outcome, late.state, late.note) == ("timed_out", "interactive", began.note), late
    assert (await tab.send_keys(["y", "Enter"], wait=DEADLINE)).outcome == "ended"
    assert (await tab.send_keys([asks, "Enter"], until="done", wait=DEADLINE)).outcome == "asks"
