"""How the library is used, for the type checker: mypy reads it with all else, and no test runs it."""

from __future__ import annotations

from typing import assert_type

import muxwire
from muxwire import ExecutionResult, LogChunk, LogTail, Snapshot, Tab, TabList, Terminals, WaitOutcome


async def every_result_has_its_type() -> None:
    """What a program writes, and what it gets."""
    async with muxwire.open_terminals("work", state_dir="/var/tmp/state") as terminals:
        assert_type(terminals, Terminals)
        tab = await terminals.create_tab(name="build", cwd="/", env={"A": "1"}, size=(120, 40), command=("bash", "-i"))
        assert_type(tab, Tab)
        assert_type(await tab.execute("true", timeout=5.0, env={"B": "2"}, max_chars=1000), ExecutionResult)
        assert_type(await tab.execute_script("python", "print(1)", args=["x"]), ExecutionResult)
        assert_type(await terminals.command_result("0" * 16, wait=1.0), ExecutionResult)
        assert_type((await tab.execute("true")).exit_code, int | None)
        assert_type(await terminals.list_tabs(), TabList)
        assert_type(await terminals.read_logs("build", lines=10, grep="error"), LogTail)
        assert_type(await terminals.stream_logs("build", from_byte=0, wait=1.0), LogChunk)
        assert_type(await tab.snapshot(scrollback=10, cells=True), Snapshot)
        assert_type(await terminals.wait_for(["build"], until="done", timeout=1.0), WaitOutcome)
        await tab.close(force=True)
