"""The acceptance cases of exact execution through the library on a real tmux: hostile commands, states and keys.

MUXWIRE_TEST_BASH is another bash to run bash's rows in, for example a 3.2.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from muxwire import ExecutionResult, Tab, Terminals
from muxwire.vt.text import undo_onlcr
from tests.deadline import DEADLINE
from tests.library.opened import SHELLS, seen
from tests.library.shells.rows import MISSES, ROWS, as_bytes

# These need a tmux around the shell.
OF_TMUX: list[dict[str, Any]] = [
    {
        "name": "copy-mode-active",
        "shells": SHELLS,
        "setup": [{"tmux": ["copy-mode", "-t", "%s"]}],
        "input": {"text": "echo hi"},
        "output": {"text": "hi\n"},
        "exit_code": 0,
    },
    {
        "name": "resize-mid-command",
        "shells": SHELLS,
        "input": {"text": "sleep 0.5; echo done"},
        "keys": [
            [0.2, ["resize-window", "-t", "%s", "-x", "100", "-y", "30"]],
            [0.1, ["resize-window", "-t", "%s", "-x", "80"]],
        ],
        "output": {"text": "done\n"},
        "exit_code": 0,
    },
]
# busybox asks for the cursor at each prompt. tmux answers that into the tty, which echoes the answer now and then, and
# so it does where a log that holds the query is printed: the row is about marks.
QUERY = b"\x1b[6n"
# Every shell loses one C-c in 60 to 200 on a busy machine, also without us: it hit the loop between two forks. A person
# presses it again, after so many seconds.
SIGNALS = tuple(base64.b64encode(key).decode() for key in (b"\x03", b"\x1a", b"\x1c"))
AGAIN = 3.0
# Seconds that a case gets which is known to hang.
MISS_DEADLINE = 3.0


@pytest.fixture(scope="module")
def shared() -> dict[str, Tab]:
    """One tab a shell, for the cases that leave it as it was."""
    return {}


async def prepare(tab: Tab, row: dict[str, Any]) -> None:
    for step in row.get("setup", ()):
        if "execute" in step:
            await tab.execute(step["execute"])
        elif "tmux" in step:
            await tab.client.command(*(tab.pane_id if word == "%s" else word for word in step["tmux"]))
        else:
            await tab.execute("true")
            since = tab.next_byte
            await tab.runner.keyboard.type(step["human_types"].encode())
            await seen(tab, step["human_types"].encode(), since)


async def run(terminals: Terminals, tab: Tab, command: bytes, keys: list[Any]) -> tuple[ExecutionResult, bytes, str]:
    """Run to the end, pressing keys whenever the program waits for them, or at the case's own time."""
    timeout = keys[0][0] if keys else DEADLINE
    if keys:  # The prompt before it may come late: that is no part of the case's time.
        await tab.pane.stream.until(lambda: tab.pane.takes_next, DEADLINE / 4)
    result = await tab.execute(command, timeout=timeout, on_timeout="leave")
    while result.running and tab.pane.session.current is not None and not tab.pane.session.current.started:
        # On a busy machine; a key would be the line editor's, and C-c would throw the typed line away.
        result = await terminals.command_result(result.command_id, wait=timeout)
    begin, text = result.from_byte, result.output
    for number, (_, typed, *shown) in enumerate(keys, 1):
        for shows in shown:  # the program is slow to start: its prompt says that it listens
            await seen(tab, shows.encode(), begin)
        if isinstance(typed, str):
            await tab.runner.keyboard.type(base64.b64decode(typed))
        else:
            await tab.client.command(*(tab.window_id if word == "%s" else word for word in typed))
        wait = keys[number][0] if number < len(keys) else AGAIN
        result = await terminals.command_result(result.command_id, wait=wait)
        text += result.output
    while result.running:
        if keys and keys[-1][1] in SIGNALS:  # lost, where it came before the program was there
            await tab.runner.keyboard.type(base64.b64decode(keys[-1][1]))
        result = await terminals.command_result(result.command_id, wait=AGAIN)
        text += result.output
    raw, lost = await tab.pane.stream.read(begin, result.next_byte)
    assert not lost
    return result, undo_onlcr(raw), text


def check(row: dict[str, Any], result: ExecutionResult, raw: bytes, special: bytes | None) -> None:
    wanted = row["output"]
    if special is not None:
        assert raw == special  # its CR LF came as CR CR LF
    elif "regex" in wanted:
        shown = re.sub(r"(\^[C\\Z])\1+", r"\1", raw.decode("latin-1"))
        assert re.fullmatch(wanted["regex"], shown, re.DOTALL), (raw, result)
    elif "any" not in wanted:
        assert raw == as_bytes(wanted), (raw, result)
    exited = row.get("status", "completed") == "shell_exited"
    assert (result.state == "dead") == exited, result
    code = row.get("exit_code")
    if code is not None:
        assert result.exit_code in (code if isinstance(code, list) else [code]), (raw, result)


def cases() -> Iterator[Any]:
    for name in SHELLS:
        for row in (*ROWS, *OF_TMUX):
            if name in row["shells"]:
                case = (name, row["name"])
                reason = MISSES.get(case)
                marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
                yield pytest.param(name, row, id=f"{name}-{row['name']}", marks=marks)


async def run_row(
    terminals: Terminals, shared: dict[str, Tab], folder: Path, name: str, row: dict[str, Any], **opening: Any
) -> None:
    """Run one row in a tab that `opening` makes, or in the last one of that shell if no row has changed it."""
    clean = not any(key in row for key in ("setup", "env", "status"))
    tab = shared.pop(name, None) if clean else None
    if tab is None:
        env = dict(pair.split("=") for pair in row.get("env", "").split())
        tab = await terminals.create_tab(env=env, cwd=str(folder), **opening)
    try:
        with anyio.fail_after(MISS_DEADLINE if (name, row["name"]) in MISSES else DEADLINE):
            await prepare(tab, row)
            special = None
            if "special" in row["input"]:
                await tab.execute("echo once")
                special = tab.pane.stream.ring.read(0, tab.next_byte).replace(QUERY, b"")
                assert b"\x1b]7770;" in special
                (folder / "raw").write_bytes(special)
                command = b"cat " + str(folder / "raw").encode()
            else:
                command = as_bytes(row["input"])
            result, raw, text = await run(terminals, tab, command, row.get("keys", []))
            check(row, result, raw, special)
            assert text == raw.decode("utf-8", "replace")
            if result.state != "dead":
                for step in row.get("cleanup", ()):
                    await tab.execute(step)
                again = await tab.execute("echo ok")
                if "set-" not in row["name"]:  # they leave a shell that traces itself
                    assert (again.output, again.exit_code) == ("ok\n", 0), again
    except BaseException:
        await tab.close(force=True)
        raise
    if clean and b"set " not in command and not tab.pane.session.dead:
        shared[name] = tab
    elif not tab.pane.session.dead:
        await tab.close(force=True)


@pytest.mark.parametrize(("name", "row"), list(cases()))
async def test_case(terminals: Terminals, shared: dict[str, Tab], folder: Path, name: str, row: dict[str, Any]) -> None:
    executable = os.environ.get("MUXWIRE_TEST_BASH") if name == "bash" else None
    executable = executable or shutil.which(name)
    if executable is None:
        pytest.skip(f"{name} is not installed")
    await run_row(terminals, shared, folder, name, row, shell=executable)
