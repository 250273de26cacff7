"""Commands in programs that relay a terminal: what can be seen inside is judged, of what cannot nothing is claimed."""

from __future__ import annotations

import os
import shutil
import signal
from functools import partial
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire import TabUnavailable
from muxwire.pane import terminal
from muxwire.shell import examine, ready as listening
from tests.library.opened import known_prompt, seen, tab_for
from tests.processes import stopped
from tests.users import needs

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire import Tab, Terminals

DEADLINE = 60.0
a_tab = partial(tab_for, DEADLINE)
# In place of three seconds; longer than the pauses of what works in these tests.
SILENT = 0.6
QUESTION = "stty raw -echo; printf 'Continue? [Y/n] '; sleep {}; echo"


@pytest.fixture
def carrier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program that is called ssh: whatever it runs is taken for something on another machine."""
    shutil.copy(shutil.which("dash") or "/bin/sh", tmp_path / "ssh")
    for module in (terminal, examine):
        monkeypatch.setattr(module, "SILENT_SECONDS", SILENT)
    return f"{tmp_path}/ssh -c "


async def test_a_question_that_cannot_be_seen_into_ends_the_call_and_claims_nothing(
    terminals: Terminals, carrier: str
) -> None:
    async with a_tab(terminals) as tab:
        left = await tab.execute(f'{carrier}"{QUESTION.format(3)}; exit 7"', timeout=DEADLINE)
        assert (left.running, left.state, left.timed_out, left.signal_sent) == (True, "running", False, ""), left
        assert "'Continue? [Y/n]'; whether it waits cannot be seen here" in left.note
        done = await terminals.command_result(left.command_id, wait=DEADLINE)
        assert (done.exit_code, done.note) == (7, ""), done


@pytest.mark.parametrize("text", ["checking for gcc... ", "Get:1 packages 40% [Working]", "done\\\\n"])
async def test_other_texts_that_cannot_be_seen_into_end_no_call(terminals: Terminals, carrier: str, text: str) -> None:
    async with a_tab(terminals) as tab:
        done = await tab.execute(f"{carrier}\"stty raw -echo; printf '{text}'; sleep 2; exit 7\"", timeout=DEADLINE)
        assert (done.exit_code, done.note) == (7, ""), done


async def test_a_secret_that_is_asked_for_inside_is_seen(terminals: Terminals, carrier: str) -> None:
    async with a_tab(terminals) as tab:
        asked = await tab.execute(f"{carrier}\"stty raw -echo; printf 'Password: '; sleep 30\"", timeout=DEADLINE)
        assert (asked.state, asked.running) == ("interactive", True), asked
        assert "password" in asked.note
        await tab.stop_process()


# As ssh does: it has the terminal raw, and polls it.
ASKS = """
import os, select, sys, tty
tty.setraw(0)
for part in ("one", "two"):
    os.write(1, f"Take {part}? [y] ".encode())
    while select.select([0], [], [])[0] and not os.read(0, 100).endswith(b"\\r"):
        pass
    os.write(1, b"\\r\\n")
os.system("stty sane")
sys.exit(4)
"""


@pytest.mark.usefixtures("carrier")
async def test_answers_at_such_questions_are_typed_and_said_to_be_unseen(terminals: Terminals, tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(ASKS)
    shutil.copy("/usr/bin/python3", tmp_path / "ssh")
    async with a_tab(terminals) as tab:
        await known_prompt(tab)
        command = f"{tmp_path}/ssh -I -S {tmp_path}/asks.py"
        told = await tab.send_keys([command, "Enter"], answers=["y", "n", "more"], wait=DEADLINE)
        assert (told.outcome, told.exit_code, told.asked) == ("ended", 4, ("Take one? [y] ", "\nTake two? [y] ")), told
        assert "1 of 3 answers were not typed" in told.note, told
        assert "2 of 3 answers were typed at an unfinished line" in told.note, told


async def test_keys_are_not_answered_while_a_program_polls_and_works(terminals: Terminals) -> None:
    needs("node")
    async with a_tab(terminals, NODE_REPL_HISTORY="") as tab:
        asked = await tab.execute("node", timeout=DEADLINE)
        assert asked.state == "interactive", asked
        line = "await new Promise((done) => setTimeout(() => done('it is ' + 'over'), 2500))"
        sent = await tab.send_keys([line, "Enter"], wait=DEADLINE)
        assert sent.outcome == "met", sent
        assert "it is over" in sent.output, sent
        await tab.send_keys(["C-d"])


@pytest.mark.parametrize("silent", [0.4, 2.0])
async def test_a_tmux_that_is_silent_proves_nothing(terminals: Terminals, silent: float) -> None:
    """The shell is back at its prompt, and tmux has not read its marks."""
    async with a_tab(terminals) as tab:
        await known_prompt(tab)
        (answer,) = await (await terminals.server()).client.command("display-message", "-p", "#{pid}")
        async with anyio.create_task_group() as tasks:

            async def stop() -> None:
                await seen(tab, b"half")
                with stopped(int(answer)):
                    await anyio.sleep(silent)

            tasks.start_soon(stop)
            done = await tab.execute("printf half; sleep 0.3; echo way; (exit 3)", timeout=DEADLINE)
        assert (done.output, done.exit_code, done.state) == ("halfway\n", 3, "prompt"), done


async def test_nothing_is_typed_while_a_program_of_another_session_reads(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "STRANGER_GRACE", 0.2)
    async with a_tab(terminals) as tab:
        await known_prompt(tab)
        # As pinentry does: asked for by a program that was stopped, and still there.
        start = "setsid sh -c 'echo $$; exec cat' <$(tty) & wait $!"
        left = await tab.execute(f"({start})", timeout=DEADLINE, on_timeout="leave")
        assert left.state == "interactive", left
        pid = int(left.output.split()[0])
        await tab.send_keys(["C-c"])
        await tab.runner.settled()
        before = tab.next_byte
        with pytest.raises(TabUnavailable, match=rf"cat \(process {pid}\), of another session") as refused:
            await tab.execute("echo no", timeout=5)
        assert "send_keys" in refused.value.remedy
        assert tab.pane.stream.ring.find(b"echo no", before) < 0
        os.kill(pid, signal.SIGKILL)
        await ready(tab)


async def ready(tab: Tab) -> None:
    """Run a command as soon as the terminal is free."""
    while True:
        try:
            assert (await tab.execute("echo yes")).output == "yes\n"
        except TabUnavailable:
            continue
        return
