"""Commands in programs that relay a terminal: what can be seen inside is judged, of what cannot nothing is claimed."""

from __future__ import annotations

import os
import shutil
import signal
from functools import partial
from pathlib import Path

import pytest

from muxwire import Tab, TabUnavailable, Terminals
from muxwire.pane import terminal
from muxwire.shell import examine, ready as listening
from tests.library.opened import known_prompt, tab_for

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
