"""Several processes open one name at the same moment: one server, whole, and every one of them is attached to it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import anyio
import anyio.to_thread
import pytest

import muxwire
from muxwire.errors import InstanceUnavailable
from muxwire.library.opening import own_terminals
from tests.forked import start_muxwire
from tests.processes import line_of
from tests.users import program

from .conftest import Instance

PROCESSES = 5
# tmux alone fails in every second round of so many.
ROUNDS = 2
SECRET = "s3cret-word"

# In place of tmux: it waits for others of its kind, so that several start a server in the same moment if they may.
TOGETHER = """#!/bin/sh
: > "$0.$$"
for look in 1 2 3 4 5 6 7 8; do
    [ "$(ls "$0".* | wc -l)" -gt 1 ] && break
    sleep 0.01
done
rm -f "$0.$$"
exec TMUX "$@"
"""


async def come_up(name: str, state: str) -> None:
    """Say so, and open the instance when all of them are up."""
    print("up", flush=True)
    sys.stdin.readline()
    try:
        async with muxwire.open_terminals(name, state_dir=state) as terminals:
            tab = await terminals.create_tab(shell="bash")
            result = await tab.execute(f"echo $((6 * 7)); : {SECRET}")
            print(json.dumps([terminals.role, result.output]), flush=True)
            sys.stdin.readline()
    except Exception as error:  # noqa: BLE001 - the test judges it
        print(json.dumps([type(error).__name__, str(error)]), flush=True)


@contextmanager
def starter(instance: Instance) -> Iterator[subprocess.Popen[str]]:
    def run(arguments: list[str]) -> None:
        name, state = arguments
        anyio.run(come_up, name, state)

    arguments, pipe = [instance.name, str(instance.state)], subprocess.PIPE
    with start_muxwire(arguments, instance.environ, run, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it has failed, and said so
        os.write(process.stdin.fileno(), b"\n")


async def start_at_once(instance: Instance) -> list[Any]:
    with ExitStack() as stack:
        processes = [stack.enter_context(starter(instance)) for _ in range(PROCESSES)]
        for process in processes:
            assert await line_of(process) == "up\n"
        for process in processes:
            go_on(process)
        outcomes = [json.loads(await line_of(process)) for process in processes]
        for process in processes:
            go_on(process)
            await anyio.to_thread.run_sync(process.wait)
    return outcomes


async def test_every_one_of_them_has_the_one_server(instance: Instance) -> None:
    path = instance.socket.parent.parent / "bin" / "tmux"
    program(path, TOGETHER.replace("TMUX", shutil.which("tmux") or ""))
    instance.environ |= {"PATH": f"{path.parent}:{instance.environ['PATH']}"}
    for _ in range(ROUNDS):
        assert sorted(await start_at_once(instance)) == [["client", "42\n"]] * PROCESSES
        # The whole of its configuration was read, and nothing that was typed is in its message log.
        assert instance.tmux("show-options", "-s", "-v", "message-limit") == "0"
        assert instance.tmux("show-options", "-g", "-v", "history-limit") == "10000"
        assert instance.tmux("show-options", "-s", "-v", "@muxwire-generation")
        assert SECRET not in instance.tmux("show-messages")
        assert instance.tmux("list-sessions", "-F", "#{session_name}") == "hub"
        instance.tmux("kill-server")


async def test_another_state_directory_is_refused(instance: Instance) -> None:
    """Its locks are elsewhere: there would be two owners, and the second one knows none of the tabs."""
    link = instance.state.with_name("link")
    link.symlink_to(instance.state.parent)
    async with instance.open() as terminals:
        tab = await terminals.create_tab(shell="bash")
        assert (await tab.execute("echo first")).output == "first\n"
        elsewhere = instance.state.with_name("elsewhere")
        with pytest.raises(InstanceUnavailable, match=f"state directory {instance.state}, not {elsewhere}") as found:
            async with own_terminals(instance.name, environ=instance.environ, state_dir=elsewhere):
                pass
        assert f"MUXWIRE_STATE_DIR={instance.state}" in found.value.remedy
        assert (await tab.execute("echo again")).output == "again\n"
    async with own_terminals(instance.name, environ=instance.environ, state_dir=link / "state") as terminals:
        last = await (await terminals.tab(tab.key)).execute("echo last")
        assert last.output == "last\n", last
