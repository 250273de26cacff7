"""The kernel's account of a pane."""

from __future__ import annotations

import os
import shutil
import subprocess
import termios
from typing import Any

import pytest

from muxwire import Terminals
from muxwire.host import look, processes as foreground
from muxwire.shell.look import Shown, Sleep


def test_the_processes_of_a_session_its_leader_last(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = os.openpty()
    argv = ["setsid", "-c", "sh", "-c", "sleep 30 & echo up; wait"]
    with subprocess.Popen(argv, stdin=slave, stdout=slave) as leader:
        os.close(slave)
        assert os.read(master, 100) == b"up\r\n"
        mine = foreground.session_processes(leader.pid, foreground.started(leader.pid))
        assert mine == [foreground.child_of(leader.pid), leader.pid]
        assert foreground.session_processes(leader.pid, "1") == [], "of a later process that has the number"
        assert set(foreground.group_members(leader.pid)) == set(mine)
        assert foreground.foreground_pgrp(leader.pid) == leader.pid
        monkeypatch.setattr(os, "getsid", lambda _: os.getpid())
        assert foreground.foreground_pgrp(leader.pid) is None, "a later process has the number"
        os.close(master)


@pytest.mark.parametrize("shell", ["bash", "zsh", "dash"])
async def test_commands_run_where_the_kernel_does_not_tell_what_sleeps(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    """As in a sandbox that has a /proc of its own."""
    monkeypatch.setattr(look, "SEES_WAITS", False)
    for _ in range(3):  # the tty of a closed tab is the next one's
        tab = await terminals.create_tab(shell=shutil.which(shell), cwd="/")
        done = await tab.execute("echo a; sh -c 'exit 3'")
        assert (done.output, done.exit_code, done.state) == ("a\n", 3, "prompt")
        cut = await tab.execute("sleep 30", timeout=0.2)
        assert (cut.exit_code, cut.running) == (130, False), cut
        assert (await tab.execute("echo ok")).output == "ok\n"
        await tab.close()


@pytest.mark.skipif(not look.SEES_WAITS, reason="the kernel does not tell where a process sleeps")
@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize("then", ["", "runs-another"])
def test_a_process_that_ends_while_it_is_looked_at_does_not_wait(
    monkeypatch: pytest.MonkeyPatch, near: bool, then: str
) -> None:
    """What runs in a container has ended, and its relay, which reads the terminal, is going: nothing was asked."""
    master, slave = os.openpty()
    tty = os.ttyname(slave)
    seen: list[int] = []
    sleeps = look._Viewer._sleeps

    def program(pid: int) -> str:
        return then if pid in seen else "podman"

    def noted(viewer: look._Viewer, one: foreground.Stat, device: int, controls: bool) -> tuple[tuple[Sleep, ...], Any]:
        found = sleeps(viewer, one, device, controls)
        seen.append(one.pid)
        return found

    monkeypatch.setattr(look, "executable", program)
    monkeypatch.setattr(look._Viewer, "_sleeps", noted)
    with subprocess.Popen(
        ["setsid", "-c", "sh", "-c", "stty raw -echo; echo up; exec cat"], stdin=slave, stdout=slave
    ) as leader:
        os.close(slave)
        assert os.read(master, 100) == b"up\n"
        while not look.sleeps_for_keys(leader.pid, polls=False):
            pass
        found = look.look(leader.pid, tty, near=near)
        os.close(master)
    assert leader.pid in seen
    assert found.judge(0, Shown(line=True)).waiting == ""


def test_what_was_typed_is_unread_until_a_program_takes_it() -> None:
    """In line mode that is a line, which can be read only when it has ended."""
    master, slave = os.openpty()
    tty = os.ttyname(slave)

    def unread() -> bool:
        modes = foreground.tty_modes(tty)
        assert modes is not None
        return modes.unread

    def typed(keys: bytes, echo: bytes) -> bool:
        os.write(master, keys)
        assert os.read(master, 100) == echo  # by now the kernel has passed them on
        return unread()

    assert (unread(), typed(b"one", b"one"), typed(b"\r", b"\r\n")) == (False, False, True)
    assert (os.read(slave, 100), unread()) == (b"one\n", False)
    termios.tcsetattr(slave, termios.TCSANOW, [0, 0, 0, termios.ECHO, *termios.tcgetattr(slave)[4:]])
    assert typed(b"a", b"a")
    os.close(slave)
    os.close(master)
