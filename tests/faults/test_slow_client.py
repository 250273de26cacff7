"""An MCP client that asks for much and reads nothing holds up nobody: the panes' output goes on to their logs."""

from __future__ import annotations

import select
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from muxwire.logs.read import read_raw
from tests.forked import start_muxwire
from tests.mcp.raw_client import RawClient

DEADLINE = 50
LINES = 300_000
# 64 KiB each: a hundred times what a pipe holds.
REQUESTS = 200


@asynccontextmanager
async def serving(environ: dict[str, str]) -> AsyncIterator[RawClient]:
    child = start_muxwire(
        ["serve"], environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    )
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield RawClient(child.stdin.fileno(), child.stdout.fileno())
        finally:
            child.kill()


EXPECTED = b"".join(b"%d\r\n" % number for number in range(1, LINES + 1))


async def waiting_printer(client: RawClient, go: Path) -> tuple[dict[str, Any], Path]:
    """A tab that prints EXPECTED once the file `go` is there, and its log."""
    command = ["sh", "-c", f"while ! test -e {go}; do sleep 0.05; done; seq 1 {LINES}; sleep 1000"]
    tab = (await client.call("create_tab", command=command))["structuredContent"]
    return tab, Path(tab["log_path"])


async def test_a_client_that_never_reads_holds_up_no_log(environ: dict[str, str]) -> None:
    go = Path(environ["HOME"]) / "go"
    async with serving(environ) as client:
        await client.initialize()
        _, log = await waiting_printer(client, go)
        other = (await client.call("create_tab", command=["seq", "1", "100000"]))["structuredContent"]["window_id"]
        arguments = {"window_id": other, "max_bytes": 65536, "wait_ms": DEADLINE * 1000}
        for _ in range(REQUESTS):
            await client.start("tools/call", {"name": "stream_logs_from_tab", "arguments": arguments})
        # From here on nobody reads what the server says, and its pipe is full.
        while not select.select([client.from_server], [], [], 0)[0]:
            await anyio.sleep(0.005)
        go.touch()
        end = len(EXPECTED)
        while not log.exists() or log.stat().st_size < end:
            await anyio.sleep(0.01)
        assert read_raw(log, 0, end) == EXPECTED
        # And the server still answers, once its client reads.
        answers = {(await client.receive())["id"] for _ in range(REQUESTS)}
        assert len(answers) == REQUESTS
        assert not (await client.call("list_tabs")).get("isError")
