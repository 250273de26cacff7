"""Tools in the shapes of Codex and of Claude Code: recorded calls, what they give, and how short they are."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from mcp import Client

from muxwire.mcp.profiles import PROFILES, WriteStdin, _Shells, _shells, write_stdin
from muxwire.mcp.registry import Call, Catalogue, Progress
from tests.mcp.child_client import served_in
from tests.mcp.in_memory import text_of

# Of names, descriptions and input schemas: a few hundred tokens of every conversation.
MAX_SHOWN_BYTES = 2_560


async def said(client: Client, name: str, arguments: Mapping[str, Any], *, fails: bool = False) -> str:
    result = await client.call_tool(name, dict(arguments))
    assert result.structured_content is None
    assert bool(result.is_error) is fails, text_of(result)
    return text_of(result)


@pytest.mark.parametrize(
    ("profile", "taken"),
    [
        (
            "codex",
            {
                "exec_command": {
                    "cmd", "workdir", "yield_time_ms", "max_output_tokens", "tty", "shell", "login",
                    "sandbox_permissions", "justification",
                },
                "write_stdin": {"session_id", "chars", "yield_time_ms", "max_output_tokens"},
            },
        ),
        (
            "claude",
            {
                "Bash": {"command", "timeout", "description", "run_in_background", "dangerouslyDisableSandbox"},
                "BashOutput": {"bash_id", "filter"},
                "KillShell": {"shell_id"},
            },
        ),
    ],
)  # fmt: skip
def test_the_shapes_are_theirs_and_short(profile: str, taken: dict[str, set[str]]) -> None:
    listing = Catalogue(PROFILES[profile]).listing
    assert {one["name"]: set(one["inputSchema"]["properties"]) for one in listing} == taken
    assert not any("outputSchema" in one for one in listing)
    shown = [{key: one[key] for key in ("name", "description", "inputSchema")} for one in listing]
    assert len(json.dumps(shown, separators=(",", ":"))) < MAX_SHOWN_BYTES


async def test_the_shells_tab_is_one_calls_at_a_time() -> None:
    made = mock.AsyncMock(side_effect=lambda: mock.Mock(state="prompt", like=mock.AsyncMock(return_value={})))
    call, shells = mock.Mock(terminals=mock.Mock(create_tab=made)), _Shells()
    async with shells.tab(call) as first, shells.tab(call) as second:
        assert second is not first
    async with shells.tab(call) as later:
        assert later is first


@pytest.mark.parametrize("runs", [True, False])
async def test_no_shell_gets_the_input_of_a_program_that_has_ended(runs: bool) -> None:
    ended = mock.Mock(running=False, exit_code=0, output="bye\n", omission=(0, 0), omitted_bytes=0, screen="", note="")
    tab = mock.Mock(
        runs=mock.AsyncMock(return_value=runs), send_keys=mock.AsyncMock(), close=mock.AsyncMock(),
        command_result=mock.AsyncMock(return_value=ended),
    )  # fmt: skip
    call = Call(mock.Mock(), Progress(None))
    _shells(call).running[1] = tab, "id"
    told = await write_stdin.run(call, WriteStdin(session_id=1, chars="rm x\n"))
    assert (tab.send_keys.await_count, "exited with code 0" in told.text) == (runs, True)


def test_a_number_is_forgotten_with_its_command() -> None:
    shells, tab = _Shells(), mock.Mock()
    tab.book.commands = ("second", "third")
    assert [shells.number(tab, one) for one in ("first", "second", "third")] == [1, 2, 3]
    assert set(shells.running) == {2, 3}


async def test_codex_runs_yields_types_and_polls(folder: Path) -> None:
    async with Client(served_in(folder, "--profile", "codex")) as client:
        text = await said(
            client,
            "exec_command",
            {"cmd": "cd /; export X=kept; printf 'one\\ntwo'; (exit 3)", "yield_time_ms": 30_000},
        )
        head, _, output = text.partition("Output:\n")
        assert output == "one\ntwo"
        assert re.fullmatch(
            r"Chunk ID: [0-9a-f]{6}\nWall time: [0-9.]+ seconds\n"
            r"Process exited with code 3\nOriginal token count: 1\n",
            head,
        )
        kept = await said(client, "exec_command", {"cmd": "pwd", "yield_time_ms": 30_000, "tty": True})
        assert kept.endswith("Output:\n/\n")
        apart = await said(client, "exec_command", {"cmd": "pwd", "workdir": "/usr", "yield_time_ms": 30_000})
        assert apart.endswith("Output:\n/usr\n")
        python = f"PYTHON_BASIC_REPL=1 {sys.executable} -q"
        began = await said(client, "exec_command", {"cmd": python, "yield_time_ms": 30_000})
        number = int(re.findall(r"running with session ID (\d+)", began)[0])
        assert "answer with write_stdin" in began
        told = await said(client, "write_stdin", {"session_id": number, "chars": "6 * 7\n", "yield_time_ms": 30_000})
        assert "42\n>>> " in told
        # Its tab is taken: another command runs at once, in another one, with the directory and the exported variables.
        beside = await said(client, "exec_command", {"cmd": "pwd; echo $X", "yield_time_ms": 30_000})
        assert beside.endswith("Output:\n/\nkept\n")
        given = {"cmd": "echo $0; shopt -q login_shell && pwd", "shell": "bash", "login": True, "justification": "x"}
        login = await said(client, "exec_command", given | {"sandbox_permissions": "y", "yield_time_ms": 30_000})
        assert login.endswith("Output:\nbash\n/\n")
        ended = await said(
            client, "write_stdin", {"session_id": number, "chars": "raise SystemExit(4)\n", "yield_time_ms": 30_000}
        )
        assert "Process exited with code 4" in ended
        late = await said(client, "exec_command", {"cmd": "echo go; sleep 600", "yield_time_ms": 300})
        number = int(re.findall(r"running with session ID (\d+)", late)[0])
        polled = await said(client, "write_stdin", {"session_id": number})
        assert polled.endswith("Output:\n")
        stopped = await said(client, "write_stdin", {"session_id": number, "chars": "\u0003", "yield_time_ms": 30_000})
        assert "Process exited with code 130" in stopped
        assert "has the number" in await said(client, "write_stdin", {"session_id": number}, fails=True)
        # A number is not given twice: late input for the one before would reach another program.
        again = await said(client, "exec_command", {"cmd": "sleep 600", "yield_time_ms": 300})
        assert int(re.findall(r"running with session ID (\d+)", again)[0]) > number
        # What is cut names no tool that this profile does not have.
        cut = await said(client, "exec_command", {"cmd": "seq 10000", "yield_time_ms": 30_000, "max_output_tokens": 20})
        assert re.search(r"\n\[\.\.\. \d+ bytes left out \.\.\.\]\n", cut)


async def test_claude_runs_times_out_and_runs_in_the_background(folder: Path) -> None:
    async with Client(served_in(folder, "--profile", "claude")) as client:
        assert await said(client, "Bash", {"command": "cd /; export X=1; Y=2; echo one", "timeout": 900_000}) == "one"
        shows = {"command": "echo $X $Y $PWD", "description": "shows them", "dangerouslyDisableSandbox": True}
        assert await said(client, "Bash", shows) == "1 2 /"
        # What is to be known of a result beside its output.
        hides = "builtin() { :; }; echo two"
        assert re.fullmatch(r"two\nNote: muxwire restored .*", await said(client, "Bash", {"command": hides}))
        failed = await said(client, "Bash", {"command": f"{hides}; (exit 8)"}, fails=True)
        assert failed.startswith("Exit code 8\ntwo\nNote: muxwire restored ")
        late = await said(client, "Bash", {"command": f"{hides}; sleep 600", "timeout": 700}, fails=True)
        assert re.search(r"^Command timed out after 0\.7s\ntwo\n(?s:.*)^Note: muxwire restored ", late, re.MULTILINE)
        began = await said(
            client, "Bash", {"command": "echo up $X $PWD; echo down; sleep 600", "run_in_background": True}
        )
        assert began == "Command running in background with ID: bash_1"
        shown = ""
        while "up" not in shown:
            shown = await said(client, "BashOutput", {"bash_id": "bash_1", "filter": "^up"})
        assert shown == "<status>running</status>\n\n<stdout>\nup 1 /\n</stdout>"
        assert await said(client, "Bash", shows) == "1 2 /"
        assert await said(client, "KillShell", {"shell_id": "bash_1"}) == "Successfully killed shell: bash_1"
        over = await said(client, "BashOutput", {"bash_id": "bash_1"})
        assert over.startswith("<status>failed</status>\n\n<exit_code>130</exit_code>")
        again = await said(client, "BashOutput", {"bash_id": "bash_1"})  # of a tab that is closed
        assert again.startswith("<status>failed</status>\n\n<exit_code>130</exit_code>")
        assert "is not running" in await said(client, "KillShell", {"shell_id": "bash_1"}, fails=True)
        asks = await said(client, "Bash", {"command": "read -p 'Sure? ' x"})
        assert "waits for" in asks
        assert "or KillShell" in asks
        assert "bash_2" in asks
        still = await said(client, "BashOutput", {"bash_id": "bash_2"})
        assert still.startswith("<status>running</status>")
        assert re.search(r"\nNote: .*waits for", still), still
        assert "no command is called" in await said(client, "BashOutput", {"bash_id": "x"}, fails=True)
        await said(client, "Bash", {"command": "cd /usr"})
        await said(client, "Bash", {"command": "exit 3"}, fails=True)
        new = r"/usr\nNote: @\d+ has ended \(.*\); this is @\d+, a new shell without its variables, in /usr"
        assert re.fullmatch(new, await said(client, "Bash", {"command": "echo $PWD$X"}))
