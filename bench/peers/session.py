"""A running server and the client of the SDK that speaks to it, in a task of their own: its end is nobody else's."""

from __future__ import annotations

import shutil
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from bench.contenders import clean_environment
from bench.corpus import CASES, TRUE, Judged, Score
from bench.peers.drivers import SECONDS
from bench.processes import Belongings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bench.corpus import Answer, Case
    from bench.peers.drivers import Driver, Result
    from bench.peers.servers import Peer

# A server written in Python takes seconds to import its libraries on a machine that does other things too.
START_SECONDS = 90
# What no driver may take longer than, whatever its server does: a case's time and as much for what surrounds it.
LIMIT = 2 * SECONDS


class PeerDiedError(Exception):
    """A server that did not start, or did not answer any more; why."""


class Session:
    """One server while it runs."""

    def __init__(self, peer: Peer, home: Path, folder: Path) -> None:
        """Nothing is started yet. `home` is the server's own, `folder` where it is installed."""
        self.peer = peer
        self.belongings = Belongings()
        self.log = home / "stderr.log"
        command, *args = peer.argv(folder)
        self._parameters = StdioServerParameters(
            command=shutil.which(command) or command,
            args=args,
            cwd=home,
            env=clean_environment(home)
            # tmux has its sockets there, and ours keeps its logs.
            | {"TMUX_TMPDIR": str(home), "MUXWIRE_STATE_DIR": str(home / "state"), "LANG": "C.UTF-8"}
            | peer.environ
            | self.belongings.environ,
        )
        self._client: Client | None = None
        self._driver: Driver | None = None
        self._ready, self._enough, self._over = anyio.Event(), anyio.Event(), anyio.Event()
        self._failure = ""

    async def serve(self) -> None:
        """Run it until it is enough; never raises: what went wrong is kept."""
        try:
            with self.log.open("w") as log:
                async with Client(stdio_client(self._parameters, errlog=log)) as client:
                    self._client = client
                    self._ready.set()
                    await self._enough.wait()
        except Exception as error:  # noqa: BLE001 - a server of others may fail in any way
            self._failure = self._failure or _innermost(error)
        finally:
            self._client = None
            self.belongings.kill()
            self._ready.set()
            self._over.set()

    async def open(self) -> None:
        """Wait until it greets, and have its driver make what it needs."""
        with anyio.move_on_after(START_SECONDS):
            await self._ready.wait()
        if self._client is None:
            raise PeerDiedError(f"did not start: {self._failure or f'no greeting in {START_SECONDS} s'}")
        self._driver = self.peer.driver(self.ask)
        with anyio.fail_after(START_SECONDS):
            await self._driver.open()

    async def close(self) -> None:
        """End it and all that it left behind."""
        self._enough.set()
        if self._client is None:  # it has not greeted, and nobody else will tell it that it is over
            self.belongings.kill()
        with anyio.move_on_after(START_SECONDS):
            await self._over.wait()
        self.belongings.kill()

    async def ask(self, tool: str, **arguments: object) -> Result:
        """Call a tool; its result as JSON."""
        if self._client is None:
            raise PeerDiedError(self._failure or "it is not there any more")
        result = await self._client.call_tool(tool, arguments)
        return result.model_dump(mode="json", by_alias=True, exclude_unset=True)

    async def listed(self) -> int:
        """How many bytes of JSON its list of tools has: what a model reads before its first call."""
        assert self._client is not None
        result = await self._client.list_tools()
        tools = [tool.model_dump_json(by_alias=True, exclude_unset=True).encode() for tool in result.tools]
        return sum(map(len, tools)) + len(tools) + 1

    async def run(self, command: str, seconds: float = SECONDS) -> Answer:
        """One command."""
        assert self._driver is not None
        with anyio.fail_after(seconds + LIMIT):
            return await self._driver.run(command, seconds)

    async def timed(self) -> float:
        """Milliseconds of `true`."""
        begun = time.perf_counter()
        await self.run(TRUE)
        return (time.perf_counter() - begun) * 1000

    async def score(self) -> Score:
        """All cases, each once. After one without an answer the server gets a new terminal: it is counted once."""
        assert self._driver is not None
        judged = []
        for case in CASES:
            one = await self._judged(case)
            judged.append(one)
            if one.failed and self._client is not None:
                with anyio.fail_after(START_SECONDS):
                    await self._driver.open()
        return Score.of(judged)

    async def _judged(self, case: Case) -> Judged:
        try:
            return Judged(case, await self.run(case.command))
        except PeerDiedError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is this server's answer
            return Judged(case, None, _innermost(error) or type(error).__name__)


def _innermost(error: BaseException) -> str:
    """What went wrong, out of a task group's wrapping; one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error).splitlines() or [""])[0] or type(error).__name__


@asynccontextmanager
async def running(sessions: list[Session]) -> AsyncIterator[None]:
    """Have all of these run, and none of them afterwards."""
    async with anyio.create_task_group() as tasks:
        for session in sessions:
            tasks.start_soon(session.serve)
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                for session in sessions:
                    await session.close()
            tasks.cancel_scope.cancel()
