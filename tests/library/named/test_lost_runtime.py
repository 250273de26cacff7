"""The runtime directory is removed, as at the end of a user's last login: the programs run on, and are found again."""

from __future__ import annotations

import shutil

import pytest

from .conftest import Instance


def log_out(instance: Instance) -> None:
    """Remove all that is in the runtime directory (pam_systemd(8): once the last session has ended)."""
    run = instance.socket.parent.parent
    shutil.rmtree(run)
    run.mkdir(mode=0o700)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash"])
async def test_the_next_process_finds_the_server_and_its_tabs(instance: Instance, shell: str) -> None:
    async with instance.open() as terminals:
        tab = await terminals.create_tab(shell=shell, name="kept", strip_ansi=True)
        await tab.execute("cd /usr")
        server = await terminals.create_tab(shell=shell)
        await server.start_process("sh -c 'while :; do echo tick; sleep 0.1; done'", ready="tick")
    log_out(instance)
    async with instance.open() as terminals:
        found = await terminals.tab("kept")
        assert (found.pane_id, found.strip_ansi, (await found.execute("pwd")).output) == (tab.pane_id, True, "/usr\n")
        end = server.next_byte
        again = await terminals.tab(server.key)
        assert (await terminals.wait_for([again.key], until="tick\n", from_byte=end, timeout=10)).outcome == "met"
        assert (await again.stop_process()).success
        assert (await again.execute("echo stopped")).output == "stopped\n"
        assert (await (await terminals.create_tab(shell=shell)).execute("echo new")).output == "new\n"


async def test_a_process_that_runs_on_works(instance: Instance) -> None:
    async with instance.open() as terminals:
        tab = await terminals.create_tab(shell="bash")
        await tab.execute("x=kept")
        log_out(instance)
        done = await tab.execute("echo $x; (exit 3)")
        assert (done.output, done.exit_code) == ("kept\n", 3)
        new = await terminals.create_tab(shell="bash")
        assert (await new.execute("echo new", env={"A": "b"})).output == "new\n"
        assert new.pane.session.integrated
