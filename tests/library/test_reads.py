"""Commands that wait because their shell itself reads: each shell's `read` looks different to the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import anyio
import pytest

from muxwire import TabUnavailable, Terminals
from muxwire.client.client import Pending
from muxwire.host import look
from tests.library.opened import known_prompt, seen, tab_for

SHELLS = ("bash", "zsh", "fish", "dash", "busybox", "ksh")
DEADLINE = 20.0
a_tab = partial(tab_for, DEADLINE)
# Before the tty was asked, most looks at a flood took it for a wait.
LOOKS = 30
# Never reached: the call must come back because the command waits.
LONG = 60.0
# One key, read by the shell.
ONE_KEY = {"bash": "read -n 1 -p 'Go on? ' x", "zsh": "read -k 1 x", "fish": "read -n 1 x", "ksh": "read -n 1 x"}


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_line_that_the_shell_reads_is_asked_for(terminals: Terminals, shell: str) -> None:
    async with a_tab(terminals, shell) as tab:
        asked = await tab.execute("read x; echo got:$x", timeout=LONG)
        assert (asked.state, asked.running, asked.exit_code) == ("interactive", True, None), asked
        assert "input" in asked.note
        assert "muxwire" not in asked.output
        await tab.send_keys(["two words", "Enter"])
        done = await terminals.command_result(asked.command_id, wait=LONG)
        assert (done.exit_code, done.state) == (0, "prompt"), done
        assert done.output.endswith("got:two words\n"), done
        assert "muxwire" not in done.output


@pytest.mark.parametrize("shell", ONE_KEY)
async def test_a_key_that_the_shell_reads_is_asked_for(terminals: Terminals, shell: str) -> None:
    async with a_tab(terminals, shell) as tab:
        asked = await tab.execute(f"{ONE_KEY[shell]}; echo got:$x", timeout=LONG)
        assert (asked.state, asked.running) == ("interactive", True), asked
        await tab.send_keys(["y"])
        done = await terminals.command_result(asked.command_id, wait=LONG)
        assert done.exit_code == 0
        assert done.output.endswith("got:y\n"), done


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "busybox"])
async def test_a_person_s_own_read_gets_nothing_of_ours(terminals: Terminals, shell: str) -> None:
    async with a_tab(terminals, shell) as tab:
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


async def test_a_shell_is_believed_to_read_only_when_all_that_it_wrote_is_here(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel may show a shell at its prompt before the prompt's mark has come through tmux."""
    async with a_tab(terminals, "bash") as tab:
        client, late = tab.client, [b"written before", b"and this"]
        submit = client.submit

        def slow(*commands: Sequence[str | bytes]) -> list[Pending]:
            if late and commands[0][0] == "display-message":
                tab.pane.stream.feed(late.pop())
            return submit(*commands)

        await known_prompt(tab)  # then tmux is asked nothing before typing
        monkeypatch.setattr(client, "submit", slow)
        asked = await tab.execute("read x", timeout=LONG)
        assert asked.state == "interactive"
        assert asked.output == "and thiswritten before", asked


async def test_a_password_that_a_program_of_another_user_asks_for(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sudo, su and passwd the kernel does not tell an ordinary user where they sleep; the echo is off."""
    async with a_tab(terminals, "bash") as tab:
        await known_prompt(tab)
        monkeypatch.setattr(look, "_wchan", lambda pid, thread=0: "0")
        monkeypatch.setattr(look, "_is_anothers", lambda pid: True)
        asked = await tab.execute("sh -c 'stty -echo; read x; stty echo'", timeout=LONG)
        assert (asked.state, asked.running) == ("interactive", True), asked
        assert "password" in asked.note
        await tab.send_keys(["secret", "Enter"])
        assert (await terminals.command_result(asked.command_id, wait=LONG)).exit_code == 0
        left = await tab.execute("sleep 1000", timeout=0.5, on_timeout="leave")
        assert (left.state, left.note) == ("running", ""), left
        await tab.stop_process()


@pytest.mark.parametrize("command", ["yes", "od -v /dev/zero", "stty raw -echo; yes"])
async def test_what_writes_more_than_the_terminal_takes_does_not_wait_for_input(
    terminals: Terminals, command: str
) -> None:
    """It sleeps in the same function of the kernel as what reads (`wait_woken`)."""
    async with a_tab(terminals, "bash") as tab:
        left = await tab.execute(command, timeout=0.5, on_timeout="leave", max_chars=100)
        assert (left.state, left.running, left.note) == ("running", True, ""), left
        for _ in range(LOOKS):
            assert tab.state == "running"
            await tab.pane.stream.changed()
        stopped = await tab.stop_process()
        assert stopped.success, stopped
