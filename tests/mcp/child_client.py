"""Clients of a server in a process of its own, a raw one and the SDK's, and how such a server is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import anyio
import anyio.to_thread
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from tests.forked import start_muxwire
from tests.mcp.raw_client import RawClient
from tests.users import environ_of

# What `serve` is started with in each test that has the directory of conftest.py; `alone` is without a name.
WAY: tuple[str, ...] = ()
alone = pytest.mark.parametrize("folder", ["alone"], indirect=True)

# A host waits about 2 s before it kills; a loaded machine gets more.
END_SECONDS = 15


class ChildClient(RawClient):
    def __init__(self, start: Callable[..., subprocess.Popen[Any]], stderr: Path) -> None:
        """`start` is called with the descriptors of the server, as options of `subprocess.Popen`."""
        with stderr.open("wb") as said:
            self.child = start(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, bufsize=0)
        streams = cast("IO[bytes]", self.child.stdin), cast("IO[bytes]", self.child.stdout)
        super().__init__(os.dup(streams[0].fileno()), os.dup(streams[1].fileno()))
        for stream in streams:
            stream.close()

    async def ended(self) -> int:
        with anyio.fail_after(END_SECONDS):
            return await anyio.to_thread.run_sync(self.child.wait, abandon_on_cancel=True)

    def close(self) -> None:
        """Hang up, and see to it that the child ends."""
        self.hang_up()
        self.stop_reading()
        try:
            self.child.wait(END_SECONDS)
        finally:
            self.child.kill()
            self.child.wait()


def served_in(folder: Path, *flags: str) -> StdioServerParameters:
    """`muxwire serve` for the SDK's client, by a user who has set nothing up."""
    environ = environ_of(folder / "home", runtime=folder) | {"MUXWIRE_STATE_DIR": str(folder / "state")}
    return StdioServerParameters(command=sys.executable, args=["-m", "muxwire", "serve", *flags], env=environ)


@asynccontextmanager
async def forked_in(folder: Path, *flags: str) -> AsyncIterator[Any]:
    """As `served_in`, of a fork of this process, which has imported what each server would import anew."""
    environ = environ_of(folder / "home", runtime=folder) | {"MUXWIRE_STATE_DIR": str(folder / "state")}
    served = ChildClient(partial(start_muxwire, ["serve", *WAY, *flags], environ), folder / "stderr")
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with to_client:
            with suppress(EOFError):
                while True:
                    message = jsonrpc_message_adapter.validate_json(await served.line(), by_name=False)
                    await to_client.send(SessionMessage(message))

    async def write() -> None:
        async with from_client:
            async for sent in from_client:
                await served.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    try:
        async with from_server, to_server, anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(write)
            yield from_server, to_server
            tasks.cancel_scope.cancel()
    finally:
        served.close()


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a call that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


def ends_with(number: signal.Signals) -> Callable[[ChildClient], None]:
    return lambda client: client.child.send_signal(number)


ENDINGS: dict[str, Callable[[ChildClient], None]] = {
    "eof": RawClient.hang_up,
    "closed_stdout": RawClient.stop_reading,
    "SIGTERM": ends_with(signal.SIGTERM),
    "SIGINT": ends_with(signal.SIGINT),
    "SIGHUP": ends_with(signal.SIGHUP),
    "SIGKILL": ends_with(signal.SIGKILL),
}
