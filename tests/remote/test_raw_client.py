"""What a client of `muxwire serve` reads when the connection to a machine is lost during its call: JSON-RPC alone."""

from __future__ import annotations

import os
import subprocess
from typing import IO, TYPE_CHECKING, Any, cast

import anyio
import pytest

from muxwire.cli import main
from muxwire.instance import remote
from tests.forked import start_muxwire
from tests.mcp.raw_client import RawClient
from tests.remote.proxied import QUICK, Proxy, behind_proxy

if TYPE_CHECKING:
    from pathlib import Path

DEADLINE = 60.0
LINES = 20_000


def serve(arguments: list[str]) -> int:
    """`muxwire serve` that notices a lost connection at once; in a fork."""
    vars(remote).update(QUICK)
    return main(arguments)


@pytest.mark.parametrize("kind", ["kill", "close", "stall"])
async def test_a_call_is_answered_whole_after_its_connection_was_lost(
    folder: Path, environ: dict[str, str], kind: str
) -> None:
    place, user = behind_proxy(folder, environ)
    proxy, ran, go = Proxy(place), place / "ran", place / "go"
    user["MUXWIRE_STATE_DIR"] = str(folder / "state")
    child = start_muxwire(["serve"], user, serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    client = RawClient(*(os.dup(cast("IO[bytes]", stream).fileno()) for stream in (child.stdin, child.stdout)))
    for stream in (child.stdin, child.stdout):
        cast("IO[bytes]", stream).close()

    async def done(tool: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call(tool, **arguments)
        assert not result.get("isError"), result
        return dict(result["structuredContent"])

    try:
        await client.initialize()
        tab = (await done("create_tab", host="box", shell="bash"))["window_id"]
        command = f"echo ran >>{ran}; until [ -e {go} ]; do sleep 0.05; done; seq 1 {LINES}; (exit 3)"
        words = {"window_id": tab, "command": command, "timeout_ms": 60_000, "max_chars": 1_000_000}
        call = await client.start("tools/call", {"name": "execute_command", "arguments": words})
        while not ran.exists() or (await done("list_tabs"))["tabs"][0]["state"] != "running":
            await anyio.sleep(0.02)
        proxy.refuse()
        assert proxy.lose(kind)
        links = set[str]()
        while "reconnecting" not in links:  # each of these is answered while that call waits
            [row] = (await done("list_tabs"))["tabs"]
            links.add(row["link"])
            assert row["state"] == "running", row
        go.touch()
        proxy.over()
        answer = await client.receive()
        assert answer["id"] == call
        told = answer["result"]["structuredContent"]
        whole = "".join(f"{line}\n" for line in range(1, LINES + 1))
        assert (told["output"] == whole, told["exit_code"], told.get("note")) == (True, 3, None), told
        [row] = (await done("list_tabs"))["tabs"]
        assert (row["link"], row["state"]) == ("up", "prompt"), row
        assert (await done("execute_command", window_id=tab, command="echo again"))["output"] == "again\n"
        assert ran.read_text() == "ran\n"
    finally:
        client.hang_up()
        client.stop_reading()
        child.wait(DEADLINE)
        for path in (ran, go):
            path.unlink(missing_ok=True)
