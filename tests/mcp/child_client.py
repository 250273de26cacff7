"""Clients of a server in a process of its own, a raw one and the SDK's, and how such a server is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import anyio
import anyio.to_thread
import pytest
from mcp import Client, StdioServerParameters

from tests.deadline import DEADLINE
from tests.mcp.raw_client import RawClient
from tests.users import environ_of

# What `serve` is started with in each test that has the directory of conftest.py; `alone` is without a name.
WAY: tuple[str, ...] = ()
alone = pytest.mark.parametrize("folder", ["alone"], indirect=True)

# A host waits about 2 s before it kills; a loaded machine gets more.
END_SECONDS = 15

AnyClient = TypeVar("AnyClient", bound="ChildClient")


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


def environ_in(folder: Path) -> dict[str, str]:
    """Of a user who has set nothing up, and whose state is in that directory too."""
    return environ_of(folder / "home", runtime=folder) | {"MUXWIRE_STATE_DIR": str(folder / "state")}


def served_in(folder: Path, *flags: str) -> StdioServerParameters:
    """`muxwire serve` for the SDK's client."""
    argv = ["-m", "muxwire", "serve", *WAY, *flags]
    return StdioServerParameters(command=sys.executable, args=argv, env=environ_in(folder))


@asynccontextmanager
async def closing(client: AnyClient) -> AsyncIterator[AnyClient]:
    """The client, until it is closed."""
    try:
        with anyio.fail_after(DEADLINE):
            yield client
    finally:
        client.close()


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
