"""Commands that wait because their shell itself reads: each shell's `read` looks different to the kernel."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from muxwire import Tab, TabUnavailable, Terminals
from muxwire.host import look
from tests.deadline import DEADLINE
from tests.library.opened import SHELLS, known_prompt, seen

# Before the tty was asked, most looks at a flood took it for a wait.
LOOKS = 30


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "busybox"])
async def test_a_person_s_own_read_gets_nothing_of_ours(tab: Tab) -> None:
    await tab.execute("true")
    await tab.runner.settled()
    await tab.runner.keyboard.type(b"read x; echo got:$x\r")
    while tab.state not in ("interactive", "busy"):
        with anyio.move_on_after(0.02):
            await tab.pane.stream.changed()
    with pytest.raises(TabUnavailable):
        await tab.execute("echo no", timeout=1.0)
    since = tab.next_byte
    await tab.runner.keyboard.type(b"theirs\r")
    await seen(tab, b"got:theirs", since)
    assert (await tab.execute("echo ok")).output == "ok\n"


async def test_a_password_that_a_program_of_another_user_asks_for(
    terminals: Terminals, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sudo, su and passwd the kernel does not tell an ordinary user where they sleep; the echo is off.

    Nor does it of his own programs behind newgrp, which have another group.
    """
    await known_prompt(tab)
    monkeypatch.setattr(look, "_wchan", lambda pid, thread=0: "0")
    monkeypatch.setattr("os.getegid", lambda: -1)
    asked = await tab.execute("sh -c 'stty -echo; read x; stty echo'", timeout=DEADLINE)
    assert (asked.state, asked.running, "password" in asked.note) == ("interactive", True, True), asked
    await tab.send_keys(["secret", "Enter"])
    assert (await terminals.command_result(asked.command_id, wait=DEADLINE)).exit_code == 0
    left = await tab.execute("sleep 1000", timeout=0.5, on_timeout="leave")
    assert (left.state, left.note) == ("running", ""), left
    assert (await terminals.command_result(asked.command_id)).state == "prompt"  # what runs now is another one
    await tab.stop_process()


@pytest.mark.parametrize("command", ["yes", "od -v /dev/zero", "stty raw -echo; yes"])
async def test_what_writes_more_than_the_terminal_takes_does_not_wait_for_input(tab: Tab, command: str) -> None:
    """It sleeps in the same function of the kernel as what reads (`wait_woken`)."""
    left = await tab.execute(command, timeout=0.5, on_timeout="leave", max_chars=100)
    assert (left.state, left.running, left.note) == ("running", True, ""), left
    for _ in range(LOOKS):
        assert tab.state == "running"
        await tab.pane.stream.changed()
    stopped = await tab.stop_process()
    assert stopped.success, stopped


# One key, read by the shell.
ONE_KEY = {"bash": "read -n 1 -p 'Go on? ' x", "zsh": "read -k 1 x", "fish": "read -n 1 x", "ksh": "read -n 1 x"}
READS_SECRET = {
    "bash": "read -s x; echo ${#x}",
    "zsh": "read -s x; echo ${#x}",
    "fish": "read -s x; string length -- $x",
    "busybox": "read -s x; echo ${#x}",
    "dash": "stty -echo; read x; stty echo; echo ${#x}",
}
PASSWORD = """python3 -c 'import getpass; print(len(getpass.getpass("Password: ")))'"""
SECRET = "hunter-2"
# In which shell, what asks, what its note says, what is typed, and what the output ends with.
ASKS = [
    *((shell, "read x; echo got:$x", "input", ["two words", "Enter"], "got:two words\n") for shell in SHELLS),
    *((shell, f"{asks}; echo got:$x", "", ["y"], "got:y\n") for shell, asks in ONE_KEY.items()),
    *((shell, asks, "", [SECRET, "Enter"], "8\n") for shell, asks in READS_SECRET.items()),
    *((shell, PASSWORD, "password", [SECRET, "Enter"], "8\n") for shell in SHELLS),
]


@pytest.mark.parametrize(("shell", "command", "said", "keys", "end"), ASKS)
async def test_what_reads_is_asked_for_and_a_secret_is_nowhere_written(
    terminals: Terminals, tab: Tab, folder: Path, command: str, said: str, keys: list[str], end: str
) -> None:
    asked = await tab.execute(command, timeout=DEADLINE)
    assert (asked.state, asked.running, asked.exit_code) == ("interactive", True, None), asked
    assert said in asked.note
    await tab.send_keys(keys)
    done = await terminals.command_result(asked.command_id, wait=DEADLINE)
    assert (done.exit_code, done.state) == (0, "prompt"), done
    assert done.output.endswith(end), done
    assert "muxwire" not in asked.output + done.output
    events = str(await terminals.watch_events(since=0, timeout=0.0, max_events=1000))
    assert command[:4] in events  # they do tell of commands
    assert SECRET not in events + done.output
    await tab.pane.stream.log.flushed()
    for path in folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
