"""Lines that are entered one by one, each when the program asks again; the mouse, where a program asked for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from muxwire.errors import InvalidArgument
from muxwire.tabs.tab import Tab
from tests.deadline import DEADLINE

# As ssh-keygen does, it throws away what was typed before each question.
ASKS = """
import sys, termios, time
for what in ("name", "version", "licence"):
    time.sleep(0.05)
    termios.tcflush(0, termios.TCIFLUSH)
    print(f"\\nabout the {what}\\n{what}: ", end="", flush=True)
    print(f"<{sys.stdin.readline().strip()}>")
sys.exit(5)
"""


async def test_each_answer_waits_for_its_question(tab: Tab, folder: Path) -> None:
    (folder / "asks.py").write_text(ASKS)
    command = f"{sys.executable} -I -S {folder}/asks.py"
    told = await tab.send_keys([command, "Enter"], answers=["foo", "", "MIT", "more"], wait=DEADLINE)
    assert told.outcome == "ended"
    assert told.asked == (
        "\nabout the name\nname: ", "<foo>\n\nabout the version\nversion: ", "<>\n\nabout the licence\nlicence: ",
    )  # fmt: skip
    assert (told.exit_code, "1 of 4 answers were not typed" in told.note, "<MIT>" in told.output) == (5, True, True)
    # Of a command that has asked already; one answer too few, and the program waits on.
    began = await tab.execute(command, timeout=DEADLINE)
    told = await tab.send_keys(answers=["a", "b"], wait=DEADLINE)
    asked = ("", "<a>\n\nabout the version\nversion: ")  # the result before has the first question
    assert (told.outcome, told.state, told.asked, told.note) == ("met", "interactive", asked, "")
    assert told.output.splitlines()[-1] == "licence: "
    await tab.send_keys(["c", "Enter"], wait=DEADLINE)
    assert (await tab.command_result(began.command_id, wait=DEADLINE)).exit_code == 5
    told = await tab.send_keys(answers=["never typed"], wait=0.5)
    assert (told.asked, told.output, told.exit_code) == ((), "", None)
    assert "the time was up" in (await tab.send_keys(["sleep 1000", "Enter"], answers=["x"], wait=0.1)).note
    with pytest.raises(InvalidArgument):
        await tab.send_keys(answers=["x"], until="x", wait=1)
    for paste, names_keys in ((False, True), (True, False)):
        with pytest.raises(InvalidArgument) as refused:
            await tab.send_keys("", paste=paste)
        assert ("Enter" in refused.value.remedy) is names_keys


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_a_line_without_a_command_has_no_exit_code(tab: Tab) -> None:
    told = await tab.send_keys(["sh -c 'echo out; exit 9'", "Enter"], wait=DEADLINE)
    assert (told.exit_code, told.output.splitlines()[-1], told.output[-1]) == (9, "out", "\n")  # without the prompt
    for _ in range(2):
        told = await tab.send_keys("Enter", wait=DEADLINE)
        assert (told.outcome, told.state, told.exit_code) == ("ended", "prompt", None)
    assert (await tab.send_keys(["sh -c 'exit 3'", "Enter", "Enter"], wait=DEADLINE)).exit_code == 3


# As Ink does without bracketed paste: what one read gives is one thing, and Enter submits only if it comes alone. It
# reads nothing for a while, and draws its box anew at each key.
READS_CHUNKS = """
import os, termios, time, tty
modes, text = termios.tcgetattr(0), ""
tty.setraw(0)
while True:
    os.write(1, f"\\r\\x1b[J| > {text} |".encode())
    time.sleep(0.2)
    read = os.read(0, 4096).decode()
    if read == "\\r":
        os.write(1, f"\\r\\x1b[Jgot <{text}>\\r\\n".encode())
        if text == "exit":
            break
        text = ""
    else:
        text += read
termios.tcsetattr(0, termios.TCSANOW, modes)
"""


async def test_a_text_and_enter_are_one_submission_once_the_program_shows_the_text(tab: Tab, folder: Path) -> None:
    (folder / "chunks.py").write_text(READS_CHUNKS)
    await tab.start_process(f"{sys.executable} -I -S {folder}/chunks.py", ready="| > ", ready_timeout=DEADLINE)
    told = await tab.send_keys(["fix the bug", "Enter"], until="got", wait=DEADLINE)
    assert (told.outcome, told.taken, "got <fix the bug>" in told.output) == ("met", True, True), told
    # What ends it is its own word, and no part of a text that Enter was added to.
    told = await tab.send_keys(["exit", "Enter"], wait=DEADLINE)
    assert (told.outcome, told.exit_code, told.taken) == ("ended", 0, True)
    # A terminal in line mode keeps both.
    told = await tab.send_keys(["read line; echo [$line]", "Enter"], wait=DEADLINE)
    assert told.taken is None
    told = await tab.send_keys(["two words", "Enter"], wait=DEADLINE)
    assert (told.taken, told.outcome, "[two words]" in told.output) == (None, "ended", True), told


async def test_a_click_reaches_a_program_that_asked_for_the_mouse(tab: Tab) -> None:
    began = await tab.execute(r"printf '\033[?1000h\033[?1006h'; read -rsn 9 x; printf %q '' \"$x\"", timeout=DEADLINE)
    assert (await tab.send_keys("Click@4,6", wait=DEADLINE)).outcome == "ended"
    assert "<0\\;5\\;7M" in (await tab.command_result(began.command_id)).output.replace("<0;5;7M", "<0\\;5\\;7M")
