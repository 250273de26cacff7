"""Shells on the other side of a program: really behind ssh, behind `script`, in a root of their own."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from muxwire import Tab, TabUnavailable, Terminals
from muxwire.pane import terminal
from muxwire.shell import examine
from tests.deadline import DEADLINE
from tests.library.opened import seen

SHELLS = {
    "bash": "exec env -i TERM=screen bash --norc",
    "zsh": "exec env -i TERM=screen zsh -f",
    "fish": "exec fish --no-config",
    "dash": "exec dash",
    "busybox": "exec busybox sh",
    "ksh": "exec ksh",
}


# A relay of no known name, as that of `poetry shell`: a shell is seen to wait in the terminal that it holds.
SPAWN = f"{sys.executable} -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'"


async def test_what_holds_a_shell_and_waits_for_its_own_keys_gets_no_command(tab: Tab) -> None:
    """A Python at its prompt, with a shell that it has spawned, would take a probe for its input."""
    starts = 'import os, pty; pty.fork()[0] or os.execvp("bash", ["bash", "--norc"])'
    begun = await tab.execute(f"{sys.executable} -q -i -c '{starts}'", timeout=DEADLINE)
    assert begun.state == "interactive", begun
    with pytest.raises(TabUnavailable, match="waits for input"):
        await tab.execute("echo no", timeout=DEADLINE)
    assert "printf" not in (await tab.read_logs(lines=20)).content


@pytest.mark.parametrize("inner", ["bash --norc", "dash", f"script -q -e -c '{SHELLS['bash']}' /dev/null"])
async def test_a_shell_that_a_command_over_a_relay_begins_takes_commands(
    terminals: Terminals, tab: Tab, inner: str
) -> None:
    """Where it is seen to wait at its prompt; and not while it, or a script that it runs, reads for a command."""
    await tab.execute(f"script -q -e -c '{SHELLS['bash']}' /dev/null", timeout=DEADLINE)
    outer = await tab.execute("echo $$")
    begun = await tab.execute(inner, timeout=DEADLINE)
    assert (begun.running, begun.state) == (True, "interactive"), begun
    for number in range(2):
        done = await tab.execute(f"echo {number}; echo $$; (exit 3)", timeout=DEADLINE)
        assert (done.exit_code, done.output == f"{number}\n{outer.output}") == (3, False), done
    for asks in ("read x; echo $x" if inner == "dash" else "read -e x; echo $x", "bash -c 'read -e x; echo $x'"):
        asked = await tab.execute(f"printf name:; {asks}", timeout=DEADLINE)
        assert asked.state == "interactive", asked
        with pytest.raises(TabUnavailable, match="waits for input"):
            await tab.execute("echo no", timeout=DEADLINE)
        assert "bob\nbob\n" in (await tab.send_keys(["bob", "Enter"], wait=DEADLINE)).output
    assert (await tab.execute("exit 4", timeout=DEADLINE)).exit_code == 4
    assert (await terminals.command_result(begun.command_id, wait=DEADLINE)).exit_code == 4
    assert (await tab.execute("echo $$", timeout=DEADLINE)).output == outer.output


async def test_variables_and_a_directory_reach_a_shell_behind_ssh(tab: Tab, ssh: str) -> None:
    await tab.execute(f"{ssh} '{SHELLS['bash']}'", timeout=DEADLINE)
    apart = await tab.execute('echo "$A"; pwd; exit 3', env={"A": "it's"}, cwd="/usr")
    assert (apart.output, apart.exit_code) == ("it's\n/usr\n", 3), apart
    assert "/usr" not in (await tab.execute('echo "<$A>"; pwd')).output
    await tab.execute("PS1='in# ' dash", timeout=1, on_timeout="leave")
    cut = await tab.execute("cd /usr; sleep 30", timeout=0.5)  # whose C-c has ended nothing of what began the shell
    assert (cut.exit_code, (await tab.execute("pwd", timeout=DEADLINE)).output) == (130, "/usr\n"), cut


@pytest.mark.parametrize("entered", ["execute", "keys"])
@pytest.mark.parametrize("nested", [f"script -q -c '{SHELLS['bash']}' /dev/null", SHELLS["bash"].removeprefix("exec ")])
async def test_what_keys_start_in_a_nested_shell_is_stopped_and_the_shell_stays(
    tab: Tab, nested: str, entered: str
) -> None:
    """At once, before the shell has echoed its line, and later; a shell at its prompt gets nothing."""
    if entered == "execute":
        await tab.execute(nested, timeout=3, on_timeout="leave")
    else:
        since = tab.next_byte
        await tab.send_keys([nested, "Enter"])
        await seen(tab, b"bash-", since + len(nested))
    pid = (await tab.execute("echo $$")).output
    for waits in (True, False):
        since = tab.next_byte
        await tab.send_keys([f"echo BE''GUN; sleep 8639{waits:d}", "Enter"])
        if waits:
            await seen(tab, b"BEGUN", since)
        stopped = await tab.stop_process(grace=1.0)
        assert stopped.success, stopped
        assert stopped.signal_sent in ("SIGINT", "SIGTERM")  # a C-c between fork and exec may be lost
        after = await tab.execute("echo $$")
        assert after.output == pid, (stopped, after)
    await tab.start_process("sleep 86399")
    assert (await tab.stop_process()).success
    assert (await tab.execute("echo $$")).output == pid


async def test_a_tab_of_a_relay_takes_commands_as_soon_as_its_shell_is_there(
    terminals: Terminals, tmp_path: Path
) -> None:
    """As `docker exec -it C bash`: the engine takes a second to start it, and the call that came first waits."""
    engine = shutil.copy(shutil.which("script") or "", tmp_path / "docker")
    opened = await terminals.create_tab(
        command=[str(engine), "-q", "-e", "-c", f"sleep 1; {SHELLS['bash']}", "/dev/null"]
    )
    first = await opened.execute("cd /usr; echo 'a  b'; (exit 3)", timeout=DEADLINE)
    assert (first.output, first.exit_code) == ("a  b\n", 3), first
    assert (await opened.execute("pwd")).output == "/usr\n"
    cut = await opened.execute("sleep 30", timeout=0.5)
    assert (cut.timed_out, cut.exit_code) == (True, 130), cut
    deaf = await opened.execute("sh -c 'trap \"\" INT; exec sleep 30'", timeout=0.5)
    stopped = await opened.stop_process(grace=0.1)
    assert (stopped.success, "no other signal" in deaf.note, deaf.note) == (False, True, stopped.note), (deaf, stopped)
    assert "Quit" in (await opened.send_keys(["C-\\"], wait=DEADLINE)).output
    await opened.send_keys(["sh -c 'trap \"\" INT; exec sleep 30'", "Enter"])
    assert (await opened.stop_process(grace=0.1)).note == stopped.note
    await opened.send_keys(["C-\\"], wait=DEADLINE)
    last = await opened.execute("exit 4")
    assert (last.exit_code, last.state) == (4, "dead"), last


async def test_a_question_that_cannot_be_seen_into_ends_the_call_and_claims_nothing(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a program runs that is called ssh is taken for something on another machine."""
    shutil.copy(shutil.which("dash") or "/bin/sh", tmp_path / "ssh")
    for module in (terminal, examine):
        monkeypatch.setattr(module, "SILENT_SECONDS", 0.6)
    asks = f"{tmp_path}/ssh -c \"stty raw -echo; printf '{{}}'; sleep 3; echo; exit 7\""
    left = await tab.execute(asks.format("Continue? [Y/n] "), timeout=DEADLINE)
    assert (left.running, left.state, left.timed_out, left.signal_sent) == (True, "running", False, ""), left
    assert "'Continue? [Y/n]'; whether it waits cannot be seen here" in left.note
    done = await tab.command_result(left.command_id, wait=DEADLINE)
    assert (done.exit_code, done.note) == (7, ""), done
    secret = await tab.execute(asks.format("Password: "), timeout=DEADLINE)
    assert (secret.state, "password" in secret.note) == ("interactive", True), secret
