"""A control client that was thrown out, detached or killed is attached again; what was lost is a gap with bounds."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

import muxwire
from muxwire.instance import lost_end
from muxwire.instance.reconnect import Reconnect
from muxwire.logs.read import read_raw
from muxwire.logs.segments import gaps_path
from muxwire.pane.state import end_of
from tests.deadline import until
from tests.library.opened import closed, seen

# Numbers that a pane of the flood writes before it looks whether it is enough.
PIECE = 10_000


async def lose(terminals: muxwire.Terminals, how: str, *tabs: muxwire.Tab, times: int = 1) -> None:
    """End the connection from outside and wait until it is there again, with so many gaps in the logs of tabs."""
    server = await terminals.server()
    before = server.process.pid
    if how == "kill":
        os.kill(before, signal.SIGKILL)
    else:
        (name,) = await server.client.command("list-clients", "-F", "#{client_name}")
        server.client.submit(("detach-client", "-t", name.decode()))
    await until(lambda: server.process.pid != before and all(len(gaps(tab)) >= times for tab in tabs))
    while True:
        try:
            await server.client.command("display-message", "-p", "")
        except muxwire.ConnectionClosed:
            await anyio.sleep(0.002)
        else:
            return


async def lose_while(
    terminals: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], Awaitable[None]]
) -> None:
    """Lose the connection; all that happens does so before there is another one, seen from outside."""
    process = (await terminals.server()).process
    restart = process.restart

    async def restart_late(argv: tuple[str, ...]) -> None:
        await happens()
        await restart(argv)

    monkeypatch.setattr(type(process), "restart", lambda _self, argv: restart_late(argv))
    await lose(terminals, "kill")


def gaps(tab: muxwire.Tab) -> list[dict[str, Any]]:
    path = gaps_path(tab.log_path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def ended(terminals: muxwire.Terminals, command_id: str) -> muxwire.ExecutionResult:
    """The result of a command that has ended; one that waits for input comes back before."""
    _, execution = terminals._book.command(command_id)
    await end_of(execution).wait()
    return await terminals.command_result(command_id)


def numbers(raw: bytes) -> list[int]:
    return [int(line) for line in raw.split(b"\r\n") if line.isdigit()]


# What a pane wrote so many seconds after the last stall of the connection was not held up by that.
@pytest.mark.parametrize(("how", "drained"), [("kill", 10.0), ("detach", 0.0)])
async def test_tabs_and_what_runs_in_them_go_on(
    alone: muxwire.Terminals, how: str, drained: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muxwire.instance.reconnect.DRAINED_SECONDS", drained)
    tab = await alone.create_tab(shell="bash", name="work")
    await tab.execute("cd /tmp; x=5")
    running = await tab.execute("echo begun; read -r line; echo got $line", async_=True)
    await seen(tab, b"begun\r\n")
    begun = time.time()
    await lose(alone, how, tab)
    await tab.send_keys(["hello", "Enter"])
    result = await ended(alone, running.command_id)
    assert result.exit_code == 0
    assert result.output.endswith("got hello\n")
    assert (await tab.execute("echo $x $PWD")).output == "5 /tmp\n"
    assert ((await alone.server()).generation, (await alone.list_tabs()).tabs[0].name) == (1, "work")
    assert await tab.pane.stream.log.flushed()
    (gap,) = gaps(tab)
    assert (gap["size"], gap["exact"]) == (1, False)
    assert gap["since"] <= gap["until"]
    assert begun - 1 < gap["until"] < time.time() + 1
    assert gap["reason"]
    assert "begun" in gap["screen"]
    raw = read_raw(tab.log_path, 0, gap["offset"]), read_raw(tab.log_path, gap["offset"], tab.next_byte)
    assert raw[0].endswith(b"begun\r\n")
    assert raw[1].startswith(b"hello\r\n")
    assert (await alone.stream_logs(tab.window_id, from_byte=gap["offset"])).dropped == 1


async def test_a_flood_has_one_gap_and_each_line_at_most_once(alone: muxwire.Terminals, tmp_path: Path) -> None:
    enough, more = tmp_path / "enough", f"seq $((i + 1)) $((i += {PIECE}))"
    flood = f"read x; i=0; until test -e {enough}; do {more}; done; {more}"
    tabs = [await alone.create_tab(command=["sh", "-c", flood]) for _ in range(4)]
    for tab in tabs:
        await tab.send_keys(["Enter"])
    for times in (1, 2):
        heard = tabs[0].next_byte
        while tabs[0].next_byte < heard + 200_000:
            await tabs[0].pane.stream.changed()
        await lose(alone, "kill", *tabs, times=times)
    enough.touch()
    for tab in tabs:
        await closed(tab)
        assert await tab.pane.stream.log.flushed()
        found = numbers(read_raw(tab.log_path, 0, tab.next_byte))
        torn = 2 * len(gaps(tab))  # the lines that a gap cuts look like other numbers
        jumps = [now for before, now in pairwise(found) if now != before + 1]
        assert len(jumps) <= torn
        assert (found[-1] % PIECE, len(gaps(tab))) == (0, 2)


async def test_the_end_of_a_tab_that_fell_into_the_gap_is_noticed(
    alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = await alone.create_tab(command=["sh", "-c", "read x; echo last; exit 3"])
    shut = await alone.create_tab(shell="bash")
    assert (await program.send_keys(["x"])).sent == 1

    async def end_both() -> None:
        tmux = ["tmux", "-S", str(alone.folders.socket_path)]
        await anyio.run_process([*tmux, "send-keys", "-t", program.pane_id, "Enter"])
        await anyio.run_process([*tmux, "kill-window", "-t", shut.window_id])
        while b"sleep" not in (await anyio.Path(f"/proc/{program.pane.leader_pid}/comm").read_bytes()):
            await anyio.sleep(0.01)

    await lose_while(alone, monkeypatch, end_both)
    for tab in (program, shut):
        await closed(tab)
    assert "its status is not known" in program.end_reason
    assert "window was closed" in shut.end_reason


@pytest.mark.parametrize(
    ("shell", "read"),
    [
        ("bash", "read -e -p 'edited? ' x"),
        ("zsh", "vared -p 'edited? ' -c x"),
        ("fish", "read -P '' x"),
        ("dash", "printf 'asked? '; read x"),
    ],
)
async def test_a_shell_that_edits_a_line_for_its_command_is_at_no_prompt(
    alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: str, read: str
) -> None:
    tab = await alone.create_tab(shell=shell)
    assert (await tab.execute("echo one")).output == "one\n"
    go_on, examinations = tmp_path / "go-on", 0
    wait = f"sh -c 'until test -e {go_on}; do sleep 0.01; done'"
    running = await tab.execute(f"{wait}; {read}; echo got $x", async_=True)
    is_at_prompt = lost_end._is_at_prompt

    async def begin_to_ask() -> None:
        go_on.touch()
        await until(lambda: tab.pane.terminal.waits_for_input() in ("editor", "line") and tab.pane.terminal.reads())

    async def examined(tab: muxwire.Tab) -> bool:
        nonlocal examinations
        examinations += 1
        return await is_at_prompt(tab)

    monkeypatch.setattr(lost_end, "_is_at_prompt", examined)
    await lose_while(alone, monkeypatch, begin_to_ask)
    await until(lambda: examinations >= 3 or tab.pane.session.running is None)
    assert tab.pane.session.running is not None
    await tab.send_keys(["an answer", "Enter"])
    result = await ended(alone, running.command_id)
    assert (result.exit_code, result.state) == (0, "prompt"), result
    assert result.output.endswith("got an answer\n")


@pytest.mark.parametrize(
    ("row", "column", "alike", "shows"),
    [
        pytest.param("box:/tmp$", 10, False, True, id="the prompt"),
        pytest.param("box:/tmp$                 12:01", 10, False, True, id="with another one on the right"),
        pytest.param("endbox:/tmp$", 13, False, True, id="after output that was not ended"),
        pytest.param("box:/usr$", 10, True, True, id="in another directory"),
        pytest.param("box:/usr$", 10, False, False, id="the same, where something may read"),
        pytest.param("box:/tmp$ typed", 15, True, False, id="with a line that is typed"),
        pytest.param("edited?", 8, True, False, id="a question"),
        pytest.param("box:/tmp$", 9, True, False, id="no blank"),
        pytest.param("", 0, True, False, id="nothing"),
        pytest.param("漢字 box:/tmp$", 15, False, True, id="after wide characters"),
    ],
)
def test_a_prompt_is_known_by_the_row_up_to_the_cursor(row: str, column: int, alike: bool, shows: bool) -> None:
    assert lost_end.holds_prompt(row, column, ["", "box:/tmp$ "], alike=alike) == shows


# A prompt that is still being drawn when the connection is back: its marks were lost all the same.
_SLOW_PROMPT = "[ -e {0}/ready ] || touch {0}/drawing; until [ -e {0}/ready ]; do sleep 0.01; done"


@pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
@pytest.mark.parametrize("shell", ["bash", "dash"])
async def test_a_command_that_ended_in_the_gap_is_noticed(
    alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: str, late: bool
) -> None:
    go_on, ready, drawing = (tmp_path / name for name in ("go-on", "ready", "drawing"))
    ready.touch()
    tab = await alone.create_tab(shell=shell)
    assert (await tab.execute(f"PS1='$({_SLOW_PROMPT.format(tmp_path)})a$ '")).exit_code == 0
    assert (await tab.execute("echo one")).output == "one\n"
    running = await tab.execute(f"while ! test -e {go_on}; do sleep 0.01; done", async_=True)
    is_at_prompt = lost_end._is_at_prompt

    async def end() -> None:
        if late:
            ready.unlink()
        go_on.touch()
        await until(lambda: drawing.exists() if late else tab.pane.terminal.waits_for_input() in {"editor", "line"})

    async def examined(tab: muxwire.Tab) -> bool:
        found = await is_at_prompt(tab)
        ready.touch()
        return found

    monkeypatch.setattr(lost_end, "_is_at_prompt", examined)
    await lose_while(alone, monkeypatch, end)
    result = await ended(alone, running.command_id)
    assert (result.exit_code, result.running, result.state) == (None, False, "prompt")
    assert "and with it the mark of its end" in result.note
    assert (await tab.execute("echo fine")).output == "fine\n"


@pytest.mark.parametrize(("failed", "closed"), [(True, False), (False, True)], ids=["it is lost again", "closed"])
def test_what_can_not_be_heard_again_is_left_as_it_is(failed: bool, closed: bool) -> None:
    tab = SimpleNamespace(pane=SimpleNamespace(session=SimpleNamespace(closed=closed)))  # it has no stream
    Reconnect._go_on(cast("Any", None), cast("Any", tab), cast("Any", SimpleNamespace(failed=failed)))


async def test_calls_in_the_meantime_fail_with_the_reason(
    alone: muxwire.Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await alone.create_tab(shell="bash")
    server = await alone.server()
    refused = anyio.Event()

    async def call() -> None:
        with pytest.raises(muxwire.ConnectionClosed):
            await server.client.command("list-windows")
        refused.set()

    await lose_while(alone, monkeypatch, call)
    assert refused.is_set()
    assert (await tab.execute("echo fine")).output == "fine\n"
