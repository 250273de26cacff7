"""The owner's process: how it starts, what it keeps of whoever started it, how it ends, and who may connect."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import resource
import signal
import socket
import stat
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from unittest.mock import AsyncMock, Mock

import anyio
import pytest

from muxwire.client.watchdog import rows_of
from muxwire.owner import agents
from muxwire.owner.server import Owner, listen
from tests.deadline import until
from tests.owner.conftest import NAME, User
from tests.processes import gone, line_of
from tests.stages.sandbox import BIND, forbid_sockets

if TYPE_CHECKING:
    from muxwire import Terminals

# How it starts.


async def test_the_first_agent_starts_it_and_the_next_one_finds_it(user: User) -> None:
    async with user.agent() as first:
        assert await first.shell("echo one") == "one\n"
        owner = user.owner
        async with user.agent() as second:
            # What there is, it sees before it has made a call.
            listed = (await second.request("resources/list"))["result"]["resources"]
            assert "muxwire://tabs/@1/screen" in {resource["uri"] for resource in listed}
            await first.done("create_tab")
            assert json.loads(await second.line())["method"] == "notifications/resources/list_changed"
            assert await second.shell("echo two") == "two\n"
            assert user.owner == owner
    mode = user.path.stat().st_mode
    assert (stat.S_ISSOCK(mode), stat.S_IMODE(mode), stat.S_IMODE(user.runtime.stat().st_mode)) == (True, 0o600, 0o700)


async def test_twenty_that_come_at_once_start_one(user: User) -> None:
    said = set[str]()

    async def work() -> None:
        async with user.agent() as agent:
            said.add((await agent.shell("echo $PPID $PWD")).split()[1])
            owners.add(user.owner)

    owners = set[int]()
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(work)
    assert (len(owners), said) == (1, {str(user.home)})


async def test_a_dead_socket_and_a_lock_left_behind_are_in_nobodys_way(user: User) -> None:
    user.runtime.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(user.path))
    (user.runtime / f"{NAME}.owner.lock").touch(0o600)
    async with user.agent() as agent:
        assert await agent.shell("echo here") == "here\n"


@pytest.mark.parametrize("name", [f"{NAME}.owner.lock", f"{NAME}.owner.log"])
async def test_a_link_in_the_way_is_not_followed(user: User, name: str) -> None:
    """Then the process serves by itself, as where no owner can be started for another reason."""
    user.runtime.mkdir(mode=0o700)
    target = user.home / "target"
    (user.runtime / name).symlink_to(target)
    async with user.agent() as agent:
        assert (await agent.shell("echo here"), user.owner) == ("here\n", 0)
    assert not target.exists()


async def test_where_no_socket_can_be_made_the_process_serves_by_itself(user: User) -> None:
    """As in a sandbox that forbids it."""
    user.path.mkdir(parents=True)
    user.runtime.chmod(0o700)
    async with user.agent() as agent:
        assert (await agent.shell("echo here"), user.owner) == ("here\n", 0)


@pytest.mark.skipif(platform.machine() not in BIND, reason="its system calls have other numbers")
async def test_a_sandbox_without_sockets_is_explained(user: User) -> None:
    """Nor can tmux start there. An agent that only asks what is offered is served."""
    async with user.agent(preexec_fn=forbid_sockets) as agent:
        assert await agent.request("tools/list")
        answer = await agent.request("tools/call", {"name": "create_tab", "arguments": {}})
        assert "in a sandbox, allow sockets" in answer["result"]["content"][0]["text"]
        assert not user.owner
    doctor = user.start("doctor", "--json", preexec_fn=forbid_sockets)
    findings = json.loads(doctor.communicate()[0])["findings"]
    assert "no process can own a named instance here" in str([one for one in findings if one["check"] == "owner"])


# What it keeps of the process that started it.


async def test_tabs_have_the_umask_the_environment_and_the_directory_of_their_own_agent(user: User) -> None:
    async with user.agent(umask=0o27, environ={"LC_TIME": "C", "SSH_AUTH_SOCK": "/one"}) as first:
        assert await first.shell("umask; echo $LC_TIME $SSH_AUTH_SOCK $PWD") == f"0027\nC /one {user.home}\n"
        elsewhere = user.home / "elsewhere"
        elsewhere.mkdir()
        async with user.agent(cwd=elsewhere, environ={"SSH_AUTH_SOCK": "/two"}) as second:
            assert await second.shell("echo $SSH_AUTH_SOCK $PWD") == f"/two {elsewhere}\n"
            (elsewhere / "below").mkdir()
            made = await second.done("create_tab", cwd="below")
            assert (await second.shell("pwd", window_id=made["window_id"])).strip() == str(elsewhere / "below")
        assert (await first.shell("pwd")).strip() == str(user.home)


async def test_an_agent_is_served_that_has_less_in_its_environment_than_the_owner(user: User) -> None:
    """The SDK's client gives a server six variables."""
    few = {name: user.environ[name] for name in ("HOME", "PATH", "XDG_RUNTIME_DIR", "TMPDIR")}
    async with user.agent() as first, user.agent(env=few) as second:
        assert await first.shell("echo one") == "one\n"
        assert await second.shell("echo two") == "two\n"


async def test_it_holds_nothing_of_its_starter_open(user: User) -> None:
    """A pipe that it kept would keep a CI job from ending."""
    reading, writing = os.pipe()
    user.start("new", "--name", NAME, stdin=subprocess.DEVNULL, stderr=writing, pass_fds=(writing,)).wait(40)
    os.close(writing)
    await anyio.wait_readable(reading)
    assert os.read(reading, 100) == b""
    os.close(reading)
    here = Path(f"/proc/{user.owner}")
    assert (here / "cwd").readlink() == Path("/")
    assert {str((here / "fd" / number).readlink()) for number in "01"} == {"/dev/null"}


async def test_a_low_soft_limit_of_files_is_raised(user: User) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    lower = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (100, hard))
    async with user.agent(preexec_fn=lower) as agent:
        await agent.shell("true")
        limits = Path(f"/proc/{user.owner}/limits").read_text()
    (files,) = (line.split() for line in limits.splitlines() if line.startswith("Max open files"))
    assert files[3] != "100"


# How it ends, and what a client sees of that.


async def test_it_ends_after_its_tmux_and_takes_its_socket_along(user: User) -> None:
    async with user.agent() as agent:
        await agent.shell("true")
        owner = user.owner
        user.tmux("kill-server")
        # A client that stays keeps it, and can start another tmux.
        while await agent.shell("echo again") != "again\n":
            assert user.owner == owner
        user.tmux("kill-server")
    await gone([owner])
    assert not user.path.exists()


async def test_two_signals_end_it_once(user: User) -> None:
    async with user.agent() as agent:
        owner, _ = user.owner, user.connect()
    agent.process.wait(40)  # it may not have seen yet that its client has gone, and would start another owner
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(owner, number)
    await gone([owner])
    assert list(user.runtime.glob(f"{NAME}.owner*")) == []


async def test_what_is_opened_while_it_ends_is_heard(tmp_path: Path) -> None:
    """What asyncio watches it knows by its number: that of the socket that listened may not be free too soon."""
    listener = listen(tmp_path / "owner")
    here = argparse.Namespace(runs=False, on_change=lambda _: None, leave_running=lambda: None)
    owner = Owner(cast("Terminals", here), tmp_path / "owner", listener)
    ours, theirs = socket.socketpair()
    with ours, theirs, anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(owner.serve)
            await anyio.wait_all_tasks_blocked()
            owner._end()
            with ours.dup() as opened:
                theirs.send(b"x")
                await anyio.wait_readable(opened)
        assert listener.fileno() < 0
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().remove_signal_handler(number)


@pytest.mark.parametrize("state", ["empty", "kept", "serving", "working"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_killed_owner_loses_nothing(user: User, state: str, number: signal.Signals) -> None:
    """Whatever it was doing: the tabs and what runs in them go on, and the agent's connection does."""
    async with user.agent() as agent:
        if state != "empty":
            await agent.shell("kept=yes; seq 1000")
        if state == "kept":
            agent.hang_up()
        elif state == "working":
            asked = await agent.start(
                "tools/call", {"name": "execute_command", "arguments": {"command": "seq 5; sleep 1; seq 6 9"}}
            )
            await until(lambda: "sleep" in user.tmux("list-panes", "-a", "-F", "#{pane_current_command}"))
        owner = user.owner
        os.kill(owner, number)
        await gone([owner])
        if state == "working":
            answer = await agent.receive()
            assert answer["id"] == asked
            assert "was restarted" in answer["error"]["message"]
        if state != "kept":
            # The connection is the same one; it says nothing of the new owner.
            assert await agent.shell("echo ${kept-fresh}", window_id="." if state == "empty" else "@1") in (
                "fresh\n" if state == "empty" else "yes\n"
            )
            assert user.owner not in {0, owner}
    async with user.agent() as later:
        if state != "empty":
            assert (await later.shell("echo $kept", window_id="@1")) == "yes\n"
            log = await later.done("read_logs_from_tab", window_id="@1", lines=2000)
            assert f"\n{'1000'}\n" in log["content"]
            if state == "working":
                assert "5\n6\n7\n8\n9\n" in log["content"]


# Who may connect, and what they may say.


async def test_garbage_and_silence_harm_nobody(user: User) -> None:
    async with user.agent() as agent:
        silent = [user.connect() for _ in range(200)]
        for said in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100 + b"\n", user.hello(muxwire=99), b"{}\n"):
            with user.connect() as one:
                one.sendall(said)
                assert one.recv(10) in (b"", b"-")
        assert await agent.shell("echo here") == "here\n"
        assert all(one.fileno() >= 0 for one in silent)
    assert user.owner in rows_of([user.owner])


async def test_an_instance_of_the_same_name_with_other_logs_is_another_one(user: User) -> None:
    async with user.agent():
        with user.connect() as one:
            one.sendall(user.hello(environ=user.environ | {"MUXWIRE_STATE_DIR": "/elsewhere"}))
            assert one.recv(1) == b"-"


@pytest.mark.parametrize(
    ("words", "options", "why"),
    [
        (("--toolsets", "nonsense"), {}, b"nonsense"),
        ((), {"stdin": subprocess.DEVNULL}, b"an MCP client starts this"),
    ],
)
async def test_a_wrong_command_line_is_explained_by_the_client(
    user: User, words: tuple[str, ...], options: dict[str, int], why: bytes
) -> None:
    done = user.start("serve", "--name", NAME, *words, **options)
    out, err = done.communicate(timeout=40)
    assert (done.returncode, out) == (2, b"")
    assert why in err


@pytest.mark.skipif(os.getuid() != 0, reason="to become another user")
async def test_another_user_cannot_connect(user: User) -> None:
    async with user.agent():
        connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        argv = ["python3", "-c", connect, str(user.path)]
        done = subprocess.run(argv, user=65534, group=65534, capture_output=True, check=False)
        assert b"PermissionError" in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="to become another user")
async def test_a_socket_of_another_user_is_not_spoken_to(user: User) -> None:
    """A client tells whoever it speaks to its whole environment."""
    user.runtime.mkdir(mode=0o700)
    listen = (
        "import os, socket, sys\n"
        "there = socket.socket(socket.AF_UNIX); there.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777)\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "there.listen(); print(flush=True)\n"
        "print(there.accept()[0].recv(10))\n"
    )
    with subprocess.Popen(["python3", "-c", listen, str(user.path)], stdout=subprocess.PIPE) as other:
        await line_of(other)
        async with user.agent() as agent:
            assert await agent.shell("echo by itself") == "by itself\n"
        assert other.communicate()[0] == b"b''\n"


async def test_an_agent_whose_connection_fails_has_left_like_any_other(
    alone: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what another agent cancels from then on would go on."""
    # When the calls are about to be cancelled.
    monkeypatch.setattr(agents, "serve_connection", AsyncMock(side_effect=lambda *words: {}[words[-1]()]))
    with pytest.raises(KeyError):
        await agents.read_serve("serve")[0](alone, Mock())
    assert not alone._book.leaving
