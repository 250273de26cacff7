"""What is drawn on the alternate screen is no output; its rows come with a result. Silence may end a call.

The program is a few lines of sh: it draws, waits for a line, and leaves.
"""

from __future__ import annotations

from muxwire import Cursor, Tab, Terminals
from tests.deadline import DEADLINE

EDITOR = (
    r"echo before; printf '\033[?1049h\033[H\033[2J\033[3;3Hdrawn\033[9;1Hstatus'; read x;"
    r" printf '\033[4;3Hmore'; read x; printf '\033[?1049l'; echo after"
)


async def test_drawing_is_no_output_and_its_rows_are_the_screen(terminals: Terminals, tab: Tab) -> None:
    began = await tab.execute(EDITOR, drawing=False, timeout=DEADLINE)
    assert (began.output, began.state, began.running) == ("before\n", "interactive", True)
    assert (began.screen, began.cursor) == ("\n\n  drawn\n\n\n\n\n\nstatus", Cursor(6, 8))
    stood = await tab.wait_for(until="status", timeout=DEADLINE)
    assert (stood.screen, stood.cursor, stood.tail) == (
        began.screen,
        began.cursor,
        "status",
    )  # the match is in it, though text has none of it
    assert (await tab.wait_for(until="never", timeout=0)).screen == began.screen
    sent = await tab.send_keys(["x", "Enter"], until="more", wait=DEADLINE)
    assert (sent.outcome, sent.output, sent.screen.splitlines()[2:4]) == ("met", "", ["  drawn", "  more"])
    assert sent.cursor == Cursor(6, 3)
    ended = await tab.send_keys(["Enter"], wait=DEADLINE)
    assert (ended.outcome, ended.screen) == ("ended", "")
    rest = await tab.command_result(began.command_id, wait=DEADLINE, drawing=False)
    assert (rest.output, rest.exit_code, rest.screen) == ("after\n", 0, "")
    started = await tab.start_process(EDITOR, ready="drawn", ready_timeout=DEADLINE)
    assert (started.ready, started.output, started.cursor) == (True, "before\n", began.cursor)
    await tab.stop_process()
    # Of long output too, and all of it for who asks for that.
    many = r"printf '\033[?1049h'; yes drawn | head -n 200000; printf '\033[?1049l'; echo after"
    assert (await tab.execute(many, drawing=False, max_chars=500, timeout=DEADLINE)).output.splitlines()[-1] == "after"
    draws = r"printf 'one\033[?1049hdrawn\033[?1049l two'"
    assert "drawn" in (await tab.execute(draws)).output
    step = {"kind": "execute", "target": tab.key, "command": draws}
    ran = await terminals.run_operations([step, step | {"strip_ansi": False}])
    assert [one.output for one in ran.steps] == ["one two", "one\x1b[?1049hdrawn\x1b[?1049l two"]


async def test_what_was_drawn_for_long_is_no_output_either(tab: Tab) -> None:
    """More than memory holds, or is searched for where the drawing began; and after a program that was killed there."""
    draws = (
        r"echo before; printf '\033[?1049h'; yes drawn | head -n 400000; read x; printf more; read x;"
        r" printf '\033[?1049l'; echo after"
    )
    began = await tab.execute(draws, drawing=False, max_chars=500, timeout=DEADLINE)
    assert began.output.startswith("before\n[... 28")  # that is all that there is
    assert (began.output.count("\n"), "drawn" in began.screen) == (2, True)
    sent = await tab.send_keys(["x", "Enter"], until="more", wait=DEADLINE)
    assert (sent.outcome, sent.output) == ("met", "")
    assert sent.screen.endswith("more")
    assert (await tab.command_result(began.command_id, drawing=False)).output == ""
    assert (await tab.read_logs(lines=20, grep="^drawn|^more", drawing=False)).content == ""
    assert (await tab.read_logs(lines=1, drawing=False)).content == ""
    assert (await tab.stream_logs(from_byte=tab.next_byte - 1000, strip_ansi=True)).chunk == ""
    await tab.send_keys(["Enter"], wait=DEADLINE)
    assert (await tab.command_result(began.command_id, drawing=False)).output.endswith("after\n")
    left = await tab.execute(r"printf '\033[?1049hdrawn'; read x", drawing=False, timeout=DEADLINE)
    told = await tab.send_keys(["Enter"], wait=DEADLINE)
    left = await tab.command_result(left.command_id, drawing=False)  # the program was killed, say
    assert [(one.exit_code, "drawn" in one.screen) for one in (told, left)] == [(0, True)] * 2
    assert (await tab.execute("echo text", drawing=False)).output == "text\n"
    assert "\nword\n" in (await tab.send_keys(["echo word", "Enter"], wait=DEADLINE)).output


async def test_silence_ends_a_call_that_asks_for_it(tab: Tab) -> None:
    began = await tab.execute("echo one; sleep 60", idle=0.2, timeout=DEADLINE)
    assert (began.output, began.running, began.timed_out) == ("one\n", True, False)
    assert "nothing new came" in began.note
    again = await tab.command_result(began.command_id, wait=DEADLINE, idle=0.2)
    assert (again.output, again.running) == ("", True)
    await tab.stop_process()
    ended = await tab.execute("for i in 1 2 3 4; do echo $i; sleep 0.05; done", idle=5, timeout=DEADLINE)
    assert (ended.exit_code, ended.note) == (0, "")
