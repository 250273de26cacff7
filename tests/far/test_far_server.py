"""What ends the tmux server on another machine, and what does not: a lost socket, a shortage of processes."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from tests.deadline import DEADLINE
from tests.far.proxied import Proxied, place_of, proxied
from tests.processes import appeared, gone, server_pid


@pytest.fixture
async def box(folder: Path, environ: dict[str, str]) -> AsyncIterator[Proxied]:
    (folder / "there").mkdir(mode=0o700, exist_ok=True)
    with anyio.fail_after(DEADLINE):
        async with proxied(folder, environ) as opened:
            yield opened


def remove(place: Path, folder: Path) -> None:
    """Remove a socket or a directory, at once: the helper makes it anew as soon as it finds it gone."""
    if place.is_dir():
        shutil.rmtree(place.resolve().rename(folder / "removed"))
    else:
        place.unlink()


@pytest.mark.parametrize("removed", ["s", "", "../.."], ids=["socket", "directory", "directories above"])
async def test_a_far_server_whose_socket_was_removed_lives_on(box: Proxied, folder: Path, removed: str) -> None:
    """As systemd-tmpfiles does, or a build's `rm -rf /tmp/*`; but why a server has ended is not kept for ever."""
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("kept=yes")
    pid, there = await server_pid(tab.client), place_of(tab)
    unread = there.with_name("another.ended")
    unread.touch()
    os.utime(unread, (0, 0))
    remove(there / removed, folder)
    await appeared(there / "s")  # the helper asks for it
    await box.cut(tab, "kill")
    assert (await tab.execute("echo $kept", timeout=DEADLINE)).output == "yes\n"
    assert (await server_pid(tab.client), unread.exists()) == (pid, False)


async def test_the_reason_of_an_end_there_is_told(box: Proxied) -> None:
    tab = await box.opened.create_tab(host="box", shell="bash")
    await tab.execute("true")
    there = place_of(tab)
    os.kill(await server_pid(tab.client), signal.SIGKILL)
    await gone([], there)
    while not tab.pane.session.dead:
        await tab.pane.stream.changed()
    assert "the tmux server there has ended: something has killed it" in tab.end_reason
    assert not there.with_name(there.name + ".ended").exists()  # it was read
