"""Commands that outlast their call: left running, interrupted, cancelled, asked about later."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.pane.state import end_of
from muxwire.pane.stream import PaneStream
from tests.deadline import DEADLINE
from tests.library.opened import known_prompt
from tests.processes import stopped


async def test_what_was_left_running_gives_the_rest_and_its_true_status(
    terminals: Terminals, any_tab: Tab, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    waits = f"until [ -e {gate} ]; do sleep 0.05; done"
    left = await any_tab.execute(f"sh -c 'echo early; {waits}; echo late; exit 4'", timeout=1.0, on_timeout="leave")
    gate.touch()
    assert (left.output, left.running, left.timed_out, left.exit_code) == ("early\n", True, True, None)
    rest = await terminals.command_result(left.command_id, wait=DEADLINE / 2)
    assert (rest.output, rest.running, rest.exit_code, rest.state) == ("late\n", False, 4, "prompt")
    assert not rest.timed_out  # it ended by itself
    assert (rest.from_byte, (await terminals.command_result(left.command_id)).output) == (left.next_byte, "")
    assert (await any_tab.execute("echo ok")).output == "ok\n"


async def test_a_command_that_ends_while_its_output_is_read_gives_all_of_it(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = await tab.execute("echo early; read -r go; echo late; (exit 4)", timeout=1.0, on_timeout="leave")
    running = tab.pane.session.current
    assert running is not None
    running.read_up_to = left.from_byte

    async def ends_meanwhile(stream: PaneStream, begin: int, end: int) -> AsyncIterator[tuple[bytes, int]]:
        """Between a read of the stream and its return, as where the log has to be read."""
        monkeypatch.undo()
        async for part in stream.parts(begin, end):
            yield part
        await tab.send_keys(["Enter"])
        await end_of(running).wait()

    monkeypatch.setattr(PaneStream, "parts", ends_meanwhile)
    result = await tab.result(running)
    assert (result.output, result.running, result.exit_code) == ("early\n\nlate\n", False, 4)


async def test_what_has_half_arrived_waits_for_its_other_half(terminals: Terminals, tab: Tab) -> None:
    left = await tab.execute("read -r go", timeout=1.0, on_timeout="leave")
    for arrived, given in (
        (b"\xc3", ""),
        (b"\xa4\r", "ä"),
        (b"\n", "\n"),
        (b"\x1b]7770;E;0", ""),
        (b"!", "\x1b]7770;E;0!"),
    ):
        tab.pane.stream.feed(arrived)
        assert (await terminals.command_result(left.command_id)).output == given


# One shell that says when a line is accepted, and one that does not; all of them are in the recordings.
@pytest.mark.parametrize("shell", ["bash", "dash"])
async def test_a_late_end_never_shifts_the_next_output(terminals: Terminals, tab: Tab) -> None:
    await known_prompt(tab)
    for number in range(3):
        left = await tab.execute(f"sleep 0.6; echo late {number}", timeout=0.3, on_timeout="leave")
        assert (await tab.execute(f"echo next {number}", timeout=5)).output == f"next {number}\n"
        rest = await terminals.command_result(left.command_id)
        # Where this process stood still for longer than the command ran, the first call has all of it.
        assert left.output + rest.output == f"late {number}\n", (left, rest)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_a_command_that_begins_behind_its_time_gives_all_of_its_output(terminals: Terminals, tab: Tab) -> None:
    await known_prompt(tab)
    with stopped(tab.pane.session.shell_pid):
        left = await tab.execute("echo late", timeout=0.02, on_timeout="leave")
        assert (left.output, left.running, left.timed_out) == ("", True, True), left
    assert (await tab.execute("echo next")).output == "next\n"
    rest = await terminals.command_result(left.command_id)
    assert (rest.output, rest.exit_code) == ("late\n", 0), rest


async def test_a_cancelled_call_interrupts_its_command(terminals: Terminals, tab: Tab) -> None:
    await tab.execute("true")
    with anyio.move_on_after(0.3):
        await tab.execute("sleep 30; echo never", timeout=60)
    after = await tab.execute("echo ok", timeout=5)
    assert (after.output, after.exit_code) == ("ok\n", 0)


async def test_who_interrupts_a_command_that_has_just_ended_spares_the_next(terminals: Terminals, tab: Tab) -> None:
    await tab.execute("true")
    ended = tab.pane.session.current
    assert ended is not None
    after = await tab.execute("echo begun; read -r line; echo $line", timeout=5)
    assert after.state == "interactive"
    await tab.runner.interrupt(ended)
    assert ended.signal_sent == ""
    await tab.send_keys(["mine", "Enter"])
    rest = await terminals.command_result(after.command_id, wait=DEADLINE / 2)
    assert (rest.output, rest.exit_code) == ("mine\nmine\n", 0)


async def test_progress_tells_bytes_and_the_last_line(tab: Tab) -> None:
    heard: list[tuple[int, str]] = []

    async def progress(written: int, line: str) -> None:
        heard.append((written, line))

    command = "for i in 1 2 3 4 5 6 7 8; do printf 'x\\r\\33]0;t\\7\\33[31mline\\t%s\\r\\n' $i; sleep 0.1; done"
    result = await tab.execute(command, on_progress=progress)
    assert result.exit_code == 0
    assert heard
    assert [written for written, _ in heard] == sorted(written for written, _ in heard)
    assert heard[-1][1].startswith("line ")  # not the title, the colour, and what was written over


async def test_long_output_keeps_head_and_tail_and_its_log_all_of_it(tab: Tab) -> None:
    """Where it is cut, tests/pane/test_output.py says."""
    result = await tab.execute("seq 1 100000", max_chars=1000)
    assert (result.truncated, result.omitted_bytes > 500_000, len(result.output) <= 1000 + 200) == (True, True, True)
    assert result.output[slice(*result.omission)].startswith(f"[... {result.omitted_bytes} bytes left out; ")
    noise = await tab.execute("head -c 20000 /dev/zero | tr '\\0' '\\377'", max_chars=8000)
    assert (noise.omitted_bytes, noise.truncated) == (12_000, True)  # no UTF-8: each byte is a character
    chunk = await tab.stream_logs(from_byte=result.from_byte, max_bytes=1 << 20)
    assert chunk.chunk.replace("\r\n", "\n").startswith("".join(f"{n}\n" for n in range(1, 100001)))


@pytest.mark.parametrize("shell", ["bash", "zsh"])
async def test_a_duration_does_not_count_what_is_waited_for_before_the_start(tab: Tab, shell: str) -> None:
    """The shell takes our line late, and the command itself is short."""
    hook = {"bash": "PS0='$(sleep 0.3)'$PS0", "zsh": "preexec() { sleep 0.3 }"}
    await tab.execute(hook[shell])
    begun = time.monotonic()
    result = await tab.execute("sleep 0.1")
    assert 100 <= result.duration_ms <= 1000 * (time.monotonic() - begun) - 300
