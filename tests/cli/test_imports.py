"""What a verb imports: a process of its own for each verb has no time for what it does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What no verb that uses tabs needs, and what took longest of it.
NOT_FOR_TABS = {"mcp", "pydantic", "prompt_toolkit", "pyte", "muxwire.operations.lists", "muxwire.instance.adopted"}
# What one call needs, which most verbs do not make.
NOT_FOR_TABS |= {"muxwire.operations.operation", "muxwire.pane.scripts"}
# Only somebody's other machines, and the file that lists them, need these.
NOT_FOR_TABS |= {"tomllib", "muxwire.far.host", "muxwire.far.connection", "muxwire.far.transport"}
# `os.urandom` is enough for ids.
NOT_FOR_TABS |= {"secrets", "hmac"}
SHOW = "; import sys; print(*sorted(sys.modules))"


def loaded(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code + SHOW], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import muxwire", NOT_FOR_TABS | {"anyio", "asyncio", "muxwire.client.client"}),
        ("import muxwire.cli.command_line as c; c.command_line('ls')", NOT_FOR_TABS | {"muxwire.cli.run"}),
        (
            "import muxwire.cli.command_line as c; c.command_line('run')",
            NOT_FOR_TABS | {"muxwire.cli.driving", "datetime"},
        ),
        ("import muxwire.cli.command_line as c; c.command_line('logs')", NOT_FOR_TABS | {"datetime", "html"}),
        ("import muxwire; muxwire.Terminals; muxwire.open_terminals", NOT_FOR_TABS),
    ],
)
def test_what_is_not_needed_is_not_imported(code: str, unwanted: set[str]) -> None:
    assert loaded(code) & unwanted == set()
